import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { systemClock } from "../../src/core/clock.ts";
import { openState } from "../../src/core/store/open-state.ts";

/** Opens the embedded state, uses it, and prints which of the Redis libraries that has loaded. */
const [stateDir = ""] = process.argv.slice(2);
const state = await openState({ stateDir, clock: systemClock, newId: randomUUID });
await state.store.put("ns", "k", 1);
await state.queue.add({ name: "work", data: 1 });
await state.close();
const loaded = Object.keys(createRequire(import.meta.url).cache);
const found = ["bullmq", "ioredis", "libsql"].filter((name) => loaded.some((path) => path.includes(`/${name}/`)));
process.stdout.write(`loaded ${found.join(",")}\n`);
