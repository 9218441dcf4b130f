/**
 * The product behind each chat platform's emulator, in one process with it:
 *
 * - from a press on Allow once to the command's first instruction, and from its last one to the message at the platform;
 * - a burst: many people write at once, each several messages. Nothing may be lost, each conversation keeps its order.
 *
 * `npx tsx bench/channels.ts [platform …]` prints a table; OPENCLAW_BENCH_PRESSES (default 60) and OPENCLAW_BENCH_BURST
 * (messages, default 1000) scale it. Exits with 1 when a message was lost, doubled or out of order, or a rule was broken.
 * The burst runs with the rates the product has by default against emulators that refuse whatever is above them.
 */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { OpenPlace, Place, PlaceOptions } from "../test/conversation/place.ts";
import { PLATFORMS } from "../test/conversation/places/places.ts";
import { startTestGateway, type TestGateway } from "../test/support/gateway.ts";
import { eventually } from "../test/support/state.ts";

const PRESSES = Number(process.env.OPENCLAW_BENCH_PRESSES ?? 60);
const BURST = Number(process.env.OPENCLAW_BENCH_BURST ?? 1_000);
/** The first presses meet cold code. */
const WARM_UP = 5;
const PEOPLE = 50;
const WAIT_MS = 30_000;
/** Beyond every platform's window: the presses measure the product, the burst measures the limits. */
const QUIET_MS = 120_000;
/** Only these are looked at, so that looking costs the same at the end. */
const NEWEST = 4;
/** How often the burst is looked at: drawing a thousand messages takes its time too. */
const LOOK_MS = 500;
const BURST_WAIT_MS = 600_000;

interface Latencies {
  readonly pressToStart: readonly number[];
  readonly exitToMessage: readonly number[];
  /** Control: the same command started by itself, from the call to its first instruction. */
  readonly bareStart: readonly number[];
}

interface Burst {
  readonly seconds: number;
  readonly refusals: number;
  readonly faults: readonly string[];
}

const epochOf = async (file: string) => Number(await readFile(file, "utf8")) * 1_000;

async function startBare(file: string): Promise<number> {
  const from = epochMs();
  await promisify(execFile)("bash", ["-c", `printf %s "$EPOCHREALTIME" > ${file}`]);
  return (await epochOf(file)) - from;
}

const epochMs = () => performance.timeOrigin + performance.now();

async function presses(place: Place, gateway: TestGateway): Promise<Latencies> {
  const pressToStart: number[] = [];
  const exitToMessage: number[] = [];
  const bareStart: number[] = [];
  const chat = place.direct(place.owner);
  for (let n = 0; n < WARM_UP + PRESSES; n++) {
    // Its buckets are always on; the others' limits only in the burst. Slack's signed requests bear no wrong clock.
    if (place.name === "discord") place.passTime(QUIET_MS);
    const mark = `press-${n}-end`;
    const text = `exec printf %s "$EPOCHREALTIME" > ${mark}; : ${mark}`;
    await place.say(place.owner, chat, place.name === "slack" ? text : `/${text}`);
    const shown = (fits: (text: string, buttons: readonly string[]) => boolean) =>
      eventually(
        () =>
          place.posted(place.owner, chat, NEWEST).find((one) => one.text.includes(mark) && fits(one.text, one.buttons)),
        WAIT_MS,
      );
    const card = await shown((_text, buttons) => buttons.includes("Allow once"));
    const pressed = epochMs();
    const answered = place.press(place.owner, card, "Allow once");
    await shown((words) => /exit code 0/.test(words));
    const seen = epochMs();
    await answered;
    const ran = await epochOf(join(gateway.stateDir, "workspace", mark));
    const bare = await startBare(join(gateway.stateDir, "workspace", `bare-${n}`));
    if (n < WARM_UP) continue;
    pressToStart.push(ran - pressed);
    exitToMessage.push(seen - ran);
    bareStart.push(bare);
  }
  return { pressToStart, exitToMessage, bareStart };
}

async function burst(place: Place): Promise<Burst> {
  const each = Math.ceil(BURST / PEOPLE);
  const before = place.refusals();
  const began = performance.now();
  for (let n = 0; n < each; n++) {
    await Promise.all(
      place.crowd.map((user, index) => {
        // Refused with what is wrong: an answer that names the message it answers.
        const text = `exec timeout=p${index}n${n}x ls`;
        return place.say(user, place.direct(user), place.name === "slack" ? text : `/${text}`);
      }),
    );
  }
  const answersOf = (user: string) =>
    place
      .posted(user, place.direct(user))
      .flatMap((one) => [...one.text.matchAll(/timeout=(p\d+n\d+)x/g)].map((m) => m[1]));
  const deadline = performance.now() + BURST_WAIT_MS;
  while (performance.now() < deadline && !place.crowd.every((user) => answersOf(user).length >= each)) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  const faults = place.crowd.flatMap((user, index) => {
    const expected = Array.from({ length: each }, (_, n) => `p${index}n${n}`);
    const answers = answersOf(user);
    return answers.join() === expected.join() ? [] : [`${user}: ${answers.join()}`];
  });
  return { seconds: (performance.now() - began) / 1_000, refusals: place.refusals() - before, faults };
}

function percentile(values: readonly number[], share: number): string {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN).toFixed(1);
}

async function onStage<T>(
  open: OpenPlace,
  options: PlaceOptions,
  work: (place: Place, gateway: TestGateway) => Promise<T>,
): Promise<T> {
  const place = await open(options);
  const gateway = await startTestGateway({
    env: place.env,
    config: { tools: { exec: { mode: "ask" } }, ...place.config },
  });
  try {
    await place.attach(gateway);
    const person = await gateway.person("status");
    await eventually(
      async () => (await person.call("channels.status", {})).channels.every((one) => one.state === "connected"),
      WAIT_MS,
    );
    const result = await work(place, gateway);
    for (const violation of place.violations()) {
      console.error(violation);
      process.exitCode = 1;
    }
    return result;
  } finally {
    await gateway.stop();
    await place.stop();
  }
}

const wanted = process.argv.slice(2);
for (const [name, open] of PLATFORMS) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  // A person does not press every few milliseconds: here the product is measured, not its rates.
  const { pressToStart, exitToMessage, bareStart } = await onStage(open, { rates: "lifted" }, presses);
  console.log(
    `${name}: press to start p50 ${percentile(pressToStart, 0.5)} ms, p95 ${percentile(pressToStart, 0.95)} ms; ` +
      `exit to message p50 ${percentile(exitToMessage, 0.5)} ms, p95 ${percentile(exitToMessage, 0.95)} ms; ` +
      `the same command by itself p50 ${percentile(bareStart, 0.5)} ms, p95 ${percentile(bareStart, 0.95)} ms (${PRESSES} presses)`,
  );
  const { seconds, refusals, faults } = await onStage(open, { crowd: PEOPLE, rates: "published" }, (place) => {
    place.enforceRates();
    return burst(place);
  });
  console.log(
    `${name}: ${PEOPLE * Math.ceil(BURST / PEOPLE)} messages of ${PEOPLE} people answered in ${seconds.toFixed(1)} s, ` +
      `${refusals} times told to slow down, ${faults.length} conversations with a fault`,
  );
  for (const fault of faults) {
    console.error(fault);
    process.exitCode = 1;
  }
}
