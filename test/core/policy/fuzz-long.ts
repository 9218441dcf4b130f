/** `npm run fuzz [strings] [seed]`: the differential fuzz of shell-fuzz.test.ts for as long as one likes. */
import { ShellFuzz } from "./shell-fuzz.ts";

const BATCH = 50_000;
const total = Number(process.argv[2] ?? 1_000_000);
const firstSeed = Number(process.argv[3] ?? Date.now() % 1_000_000_007);

const fuzz = new ShellFuzz();
const started = performance.now();
let strings = 0;
let allowed = 0;
let run = 0;
let escapes = 0;
try {
  for (let seed = firstSeed; strings < total; seed += 1) {
    const report = fuzz.fuzz(seed, Math.min(BATCH, total - strings));
    strings += report.strings;
    allowed += report.allowed;
    run += report.run;
    escapes += report.escapes.length;
    for (const found of report.escapes) console.error(`escape (seed ${seed}): ${found}`);
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    console.log(`${strings} strings, ${allowed} allowed, ${run} distinct run twice, ${escapes} escapes, ${seconds} s`);
  }
} finally {
  fuzz.remove();
}
console.log(`first seed ${firstSeed}`);
if (escapes > 0) process.exitCode = 1;
