/**
 * The same on a chat platform: a person asks and presses in the platform's own way, the built product talks to the
 * platform's emulator by the genuine client library, and is killed with SIGKILL at a random moment. Afterwards what the
 * platform shows is held against what ran.
 *
 * What the platforms promise differs, and so does the person. Slack and Telegram bring again what was not acknowledged,
 * so everything is said once. Discord tells the person that the bot did not answer, who then asks again: with a new
 * command, since the first may have been heard.
 */
import type { OpenPlace, Place, ShownMessage } from "../conversation/place.ts";
import { isRequest } from "../conversation/stage.ts";
import { type ProductLives, productLives } from "../support/product-lives.ts";
import { type CampaignResult, COUNTER, counts } from "./campaign.ts";
import { pause, seeded } from "./seeded.ts";

const CONVERSATION_MS = 2_500;
const SECOND_KILL_SHARE = 0.2;
const SECOND_KILL_WITHIN_MS = 800;
const DENIED_SHARE = 0.1;
const SLEEPS = ["0", "0", "0.3", "1"];
/** How long a round may take to come to its end once nobody kills any more: a lost delivery is tried again after 25 s. */
const SETTLE_MS = 90_000;
const LOOK_MS = 40;
const ASK_MS = 150;
const START_TRIES = 3;
/** A person presses again when nothing has happened for this long. */
const PRESS_AGAIN_MS = 2_500;
/** More messages than one round makes. */
const NEWEST = 60;
/** What a kill may cost: the platform says so, or nobody answered a press in time. */
const BY_THE_KILL = /not acknowledged|never acknowledged|was not answered within|unknown or late envelope/;

export interface ChatCampaignOptions {
  readonly name: Place["name"];
  readonly open: OpenPlace;
  readonly seed: number;
  readonly rounds: number;
  readonly env?: Record<string, string>;
  /**
   * So many gateways share the Redis of `env`. The one that is connected with the platform is the one that is killed, and
   * it comes back only when another has taken over.
   */
  readonly gateways?: number;
  readonly onRound?: (round: number, problems: readonly string[]) => void;
}

export interface ChatCampaignResult extends CampaignResult {
  /** Messages that came twice; only where the platform offers no way to know. */
  readonly duplicates: number;
  /** Milliseconds from each kill until another gateway was connected; none with one gateway. */
  readonly takeoversMs: readonly number[];
}

interface Asked {
  readonly id: string;
  readonly text: string;
  readonly chat: string;
  readonly decision: "Allow once" | "Deny";
  /** Whether the platform took it; one that was not taken may have been heard all the same. */
  taken: boolean | undefined;
  pressedAtMs: number;
}

export async function chatCampaign(options: ChatCampaignOptions): Promise<ChatCampaignResult> {
  const { name, seed } = options;
  const random = seeded(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const place = await options.open({ redeliverMs: [0, 1_000, 3_000, 10_000] });
  const products: ProductLives[] = [];
  for (let n = 0; n < (options.gateways ?? 1); n++) {
    products.push(
      await productLives({
        config: { tools: { exec: { mode: "ask" } }, limits: { maxConcurrentRuns: 2 }, ...place.config },
        env: { ...place.env, ...options.env },
      }),
    );
    if (n === 0) await connected(products[0] as ProductLives, place.name);
  }
  let holder = 0;
  const chats = [place.direct(place.owner), place.room];
  const problems: string[] = [];
  const outcomes: Record<string, number> = {};
  const takeoversMs: number[] = [];
  let [kills, commands, duplicates, failedStarts] = [0, 0, 0, 0];

  async function killHolder(): Promise<void> {
    const killed = products[holder] as ProductLives;
    await killed.kill();
    kills++;
    if (products.length > 1) {
      const begun = performance.now();
      holder = (holder + 1) % products.length;
      await connected(products[holder] as ProductLives, place.name);
      takeoversMs.push(Math.round(performance.now() - begun));
    }
    failedStarts += await startedAgain(killed);
  }

  /** How often each command ran, on whichever gateway. */
  async function countedAnywhere(): Promise<Map<string, number>> {
    const sum = new Map<string, number>();
    for (const product of products) {
      for (const [id, ran] of await counts(product)) sum.set(id, (sum.get(id) ?? 0) + ran);
    }
    return sum;
  }

  function plan(round: number): Asked[] {
    return Array.from({ length: 1 + Math.floor(random() * 3) }, (_, index) => {
      const id = `c${seed}x${round}x${index}`;
      const sleep = pick(SLEEPS);
      return asked(id, sleep, pick(chats), random() < DENIED_SHARE ? "Deny" : "Allow once");
    });
  }

  async function round(number: number): Promise<void> {
    const all = plan(number);
    const moments = [random() * CONVERSATION_MS];
    if (random() < SECOND_KILL_SHARE) moments.push(random() * SECOND_KILL_WITHIN_MS);
    const person = talk(place, all);
    const failedBefore = failedStarts;
    for (const moment of moments) {
      await pause(moment);
      await killHolder();
    }
    const isDone = await person.done();
    const counted = await countedAnywhere();
    const found = verify(place, all, counted, outcomes, moments.length, failedStarts - failedBefore);
    commands += all.length;
    duplicates += found.duplicates;
    if (!isDone) {
      const said = products.map((product) => product.output.slice(-2_000)).join("\n--\n");
      found.problems.push(`did not come to its end; the gateway says:\n${said}`);
    }
    problems.push(...found.problems.map((problem) => `round ${number}: ${problem}`));
    options.onRound?.(number, found.problems);
  }

  try {
    for (let number = 1; number <= options.rounds; number++) await round(number);
    for (const [id, ran] of await countedAnywhere())
      if (ran > 1) problems.push(`at the end ${id} has run ${ran} times`);
    problems.push(...place.violations().filter((violation) => !BY_THE_KILL.test(violation)));
  } finally {
    for (const product of products) await product.dispose();
    await place.stop();
  }
  return {
    rounds: options.rounds,
    kills,
    commands,
    outcomes,
    duplicates,
    takeoversMs,
    problems: problems.map((one) => `${name} ${one}`),
  };
}

/** As a service manager would: a Redis that is slow for a moment ends a start, not the service. Starts that failed. */
async function startedAgain(product: ProductLives): Promise<number> {
  for (let failed = 0; ; failed++) {
    try {
      await product.start();
      return failed;
    } catch (error) {
      if (failed + 1 === START_TRIES) throw error;
    }
  }
}

/** Resolves once this gateway is the one that is connected with the platform. */
async function connected(product: ProductLives, channel: string): Promise<void> {
  const person = await product.person("status");
  const begun = performance.now();
  for (;;) {
    const { channels } = await person.call("channels.status", {});
    if (channels.some((one) => one.channel === channel && one.state === "connected")) break;
    if (performance.now() - begun > SETTLE_MS) throw new Error(`No gateway was connected with ${channel} in time.`);
    await pause(ASK_MS);
  }
  await person.leave();
}

function asked(id: string, sleep: string, chat: string, decision: Asked["decision"]): Asked {
  const text = `echo ${id} >> ${COUNTER}; sleep ${sleep}; echo done ${id}`;
  return { id, text, chat, decision, taken: undefined, pressedAtMs: Number.NEGATIVE_INFINITY };
}

/** Asks for everything in `all`, and adds to it what had to be asked again. */
function talk(place: Place, all: Asked[]): { done(): Promise<boolean> } {
  const ask = async (one: Asked): Promise<void> => {
    if (place.name !== "discord") {
      const words = place.name === "telegram" ? `/exec ${one.text}` : `exec ${one.text}`;
      await place.say(
        place.owner,
        one.chat,
        one.chat === place.room && place.name === "slack" ? `@bot ${words}` : words,
      );
      one.taken = true;
      return;
    }
    one.taken = await place.command(place.owner, one.chat, `/exec ${one.text}`);
    if (one.taken) return;
    const again = { ...one, id: `${one.id}r`, text: one.text.replaceAll(one.id, `${one.id}r`), taken: undefined };
    all.push(again);
    await ask(again);
  };
  const asking = Promise.all(all.map(ask));

  const look = (): boolean => {
    let isOver = true;
    for (const one of [...all]) {
      const shown = shownOf(place, one, NEWEST);
      const pending = shown.requests.find((card) => isRequest(card));
      const now = performance.now();
      if (pending && now - one.pressedAtMs > PRESS_AGAIN_MS && !shown.requests.some((card) => !isRequest(card))) {
        one.pressedAtMs = now;
        // A press that nobody answers is pressed again; it is no error of the person.
        place.press(place.owner, pending, one.decision).catch(() => {});
      }
      const isUnheard = one.taken === false && shown.requests.length === 0;
      if (!isUnheard && !isEnded(one, shown)) isOver = false;
    }
    return isOver;
  };
  const looking = (async () => {
    // Whatever is still to be asked is asked first; the person watches and presses meanwhile.
    let everythingIsAsked = false;
    void asking.then(() => {
      everythingIsAsked = true;
    });
    const begun = performance.now();
    while (performance.now() - begun < SETTLE_MS) {
      if (look() && everythingIsAsked) return true;
      await pause(LOOK_MS);
    }
    return false;
  })();
  return { done: () => looking };
}

interface Shown {
  readonly requests: readonly ShownMessage[];
  readonly runs: readonly ShownMessage[];
}

function shownOf(place: Place, { text, chat }: Asked, newest?: number): Shown {
  const about = place.posted(place.owner, chat, newest).filter((message) => message.text.includes(text));
  return {
    requests: about.filter((message) => message.text.includes("Asked by")),
    runs: about.filter((message) => message.text.includes("Session")),
  };
}

const OUTCOMES = ["Finished", "Failed", "Timed out", "Stopped", "Outcome unknown", "Did not start"] as const;

function outcomeOf(message: ShownMessage): (typeof OUTCOMES)[number] | undefined {
  return OUTCOMES.find((words) => new RegExp(`^(#+ )?${words}`, "m").test(message.text));
}

const UNDER_WAY = /^_?(running|waits in line|The gateway restarted; this still waits)/m;

/** The request says how it ended, and so does the run. */
function isEnded(one: Asked, { requests, runs }: Shown): boolean {
  const settled = requests.filter((card) => !isRequest(card));
  if (one.decision === "Deny") return settled.some((card) => /Denied/.test(card.text));
  return runs.some((card) => outcomeOf(card) !== undefined) && settled.some((card) => !UNDER_WAY.test(card.text));
}

function verify(
  place: Place,
  all: readonly Asked[],
  counted: ReadonlyMap<string, number>,
  outcomes: Record<string, number>,
  kills: number,
  failedStarts: number,
): { problems: string[]; duplicates: number } {
  const problems: string[] = [];
  let duplicates = 0;
  for (const one of all) {
    const shown = shownOf(place, one);
    const { requests, runs } = shown;
    const ran = counted.get(one.id) ?? 0;
    const complain = (what: string) => problems.push(`${one.id} ${what}`);
    duplicates += Math.max(0, requests.length - 1) + Math.max(0, runs.length - 1);
    if (ran > 1) complain(`ran ${ran} times`);
    if (one.taken !== true && requests.length === 0) {
      // Not heard, as the platform said.
      if (ran > 0 || runs.length > 0) complain("was never asked about and ran");
      continue;
    }
    if (requests.length === 0) complain("has no request card");
    if (!isEnded(one, shown)) {
      complain(`never came to an end:\n${[...requests, ...runs].map((card) => card.text).join("\n--\n")}`);
      continue;
    }
    if (one.decision === "Deny") {
      outcomes.denied = (outcomes.denied ?? 0) + 1;
      if (ran > 0 || runs.length > 0) complain("was denied and ran");
      continue;
    }
    const outcome = runs.map(outcomeOf).find((words) => words !== undefined) ?? "Failed";
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    const tells = runs.some((card) => card.text.includes(`\ndone ${one.id}`));
    if (outcome === "Finished" && !(ran === 1 && tells)) complain(`is said to have finished, and ran ${ran} times`);
    if (outcome === "Did not start" && ran > 0) complain("is said not to have started, and ran");
    // A start that fails stops what it had begun, as any orderly end does.
    const isStopped = failedStarts > 0 && runs.some((card) => card.text.includes("SIGTERM"));
    if (!isStopped && ["Failed", "Timed out", "Stopped"].includes(outcome))
      complain(`ended as: ${runs.map((card) => card.text).join("\n")}`);
  }
  // One message is on its way at a time, and that one may come again after a kill.
  const allowed = place.name === "telegram" ? kills : 0;
  if (duplicates > allowed) problems.push(`${duplicates} messages came twice with ${kills} kills`);
  return { problems, duplicates };
}
