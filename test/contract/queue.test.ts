import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/core/clock.ts";
import { openEmbeddedQueue } from "../../src/core/events/embedded-queue.ts";
import { queueContract } from "./queue.contract.ts";

const onTrouble = (): void => {};

queueContract("embedded", async () => {
  const directory = await mkdtemp(join(tmpdir(), "openclaw-queue-"));
  return {
    open: async () =>
      openEmbeddedQueue({ file: join(directory, "state.db"), clock: systemClock, newId: randomUUID, onTrouble }),
    stop: () => rm(directory, { recursive: true, force: true }),
  };
});
