import { randomUUID } from "node:crypto";
import { systemClock } from "../../src/core/clock.ts";
import type { Queue } from "../../src/core/events/queue.ts";

/**
 * Works the jobs of one name until it is killed. `queue-child.ts embedded <file> <name>` or
 * `queue-child.ts bullmq <url> <name>`. Prints `ready`, then `start <data> <attempt>` and `end <data>` for each job; one whose
 * data begins with `hang` never ends, one that begins with `block` keeps the event loop busy for 3 s.
 */
const [driver = "", place = "", name = ""] = process.argv.slice(2);
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

async function open(): Promise<Queue> {
  const options = { clock: systemClock, newId: randomUUID, onTrouble: () => {} };
  if (driver === "embedded") {
    const { openEmbeddedQueue } = await import("../../src/core/events/embedded-queue.ts");
    return openEmbeddedQueue({ ...options, file: place });
  }
  const { openBullmqQueue } = await import("../../src/core/events/bullmq-queue.ts");
  return openBullmqQueue({ ...options, url: place, prefix: "test:", lockMs: 500 });
}

const queue = await open();
await queue.process<string>(
  name,
  async ({ data, attempt }) => {
    say(`start ${data} ${attempt}`);
    if (data.startsWith("hang")) await new Promise(() => {});
    if (data.startsWith("block")) {
      const until = performance.now() + 3000;
      while (performance.now() < until);
    }
    say(`end ${data}`);
  },
  { concurrency: 3 },
);
say("ready");

// An idle queue holds no process, and this one is to live until it is killed.
setInterval(() => queue.health().catch(() => process.exit(1)), 1000);
