/** Takes the state lock when told `go`, lets it go when told `release`; says what came of it, one line each. */
import { createInterface } from "node:readline";
import { systemClock } from "../../src/core/clock.ts";
import { acquireStateLock, type StateLock } from "../../src/gateway/state-lock.ts";

const [stateDir = ""] = process.argv.slice(2);
let lock: StateLock | undefined;
const say = (text: string) => process.stdout.write(`${text}\n`);

say("ready");
for await (const line of createInterface({ input: process.stdin })) {
  if (line === "go") {
    try {
      lock = await acquireStateLock({ stateDir, clock: systemClock, version: "1" });
      lock.listening({ url: "http://127.0.0.1:1234", port: 1234 });
      say("held");
    } catch (error) {
      say((error as { code?: string }).code ?? String(error));
    }
  }
  if (line === "release") {
    lock?.release();
    lock = undefined;
    say("released");
  }
}
