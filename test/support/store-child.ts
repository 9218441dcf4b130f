import { systemClock } from "../../src/core/clock.ts";
import { openSqliteStore } from "../../src/core/store/sqlite-store.ts";

/** Writes record after record until it is killed, and tells of each only when it is stored. */
const [file = ""] = process.argv.slice(2);
const store = openSqliteStore({ file, clock: systemClock });
for (let n = 1; ; n++) {
  await store.put("written", String(n).padStart(9, "0"), { n });
  await store.append("log", n);
  process.stdout.write(`${n}\n`);
}
