/**
 * Rounds of a scripted conversation with the built product, which is killed with SIGKILL at a random moment of each.
 * Every command counts itself in a file, so what the cards say can be held against what really ran. Seeded: the same
 * seed makes the same conversations and the same moments.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Card, PressAction, RunOutcome } from "../../src/core/cards.ts";
import type { Person } from "../support/gateway.ts";
import { type ProductLives, productLives } from "../support/product-lives.ts";
import { pause, seeded } from "./seeded.ts";

/** A conversation takes about this long, so the moment of a kill is drawn from it. */
const CONVERSATION_MS = 1_500;
/** Some kills hit the recovery from the kill before. */
const SECOND_KILL_SHARE = 0.2;
const SECOND_KILL_WITHIN_MS = 400;
const DENIED_SHARE = 0.1;
const SLEEPS = ["0", "0", "0.05", "0.3", "1"];
export const COUNTER = "counter";
/** How long a round may take to come to its end once nobody kills any more. */
const SETTLE_MS = 30_000;
const LOOK_MS = 20;
const RETRY_MS = 250;

export interface CampaignOptions {
  readonly seed: number;
  readonly rounds: number;
  readonly env?: Record<string, string>;
  readonly onRound?: (round: number, problems: readonly string[]) => void;
}

export interface CampaignResult {
  readonly rounds: number;
  readonly kills: number;
  readonly commands: number;
  /** Commands by how their card ended; `denied` ones were not to run. */
  readonly outcomes: Readonly<Partial<Record<RunOutcome | "denied", number>>>;
  /** What should never be, one sentence each: a command that ran twice, a card that never came or came twice. */
  readonly problems: readonly string[];
}

interface Planned {
  readonly id: string;
  readonly text: string;
  readonly decision: "allow-once" | "deny";
  readonly sayId: string;
  readonly pressId: string;
}

export async function campaign(options: CampaignOptions): Promise<CampaignResult> {
  const random = seeded(options.seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const product = await productLives({
    config: { tools: { exec: { mode: "ask" } }, limits: { maxConcurrentRuns: 2 } },
    ...(options.env ? { env: options.env } : {}),
  });
  const problems: string[] = [];
  const outcomes: Partial<Record<RunOutcome | "denied", number>> = {};
  let kills = 0;
  let commands = 0;

  function plan(round: number): Planned[] {
    return Array.from({ length: 1 + Math.floor(random() * 4) }, (_, index) => {
      const id = `c${options.seed}-${round}-${index}`;
      return {
        id,
        text: `echo ${id} >> ${COUNTER}; sleep ${pick(SLEEPS)}; echo done ${id}`,
        decision: random() < DENIED_SHARE ? "deny" : "allow-once",
        sayId: `say-${id}`,
        pressId: `press-${id}`,
      };
    });
  }

  async function round(number: number): Promise<void> {
    const todo = plan(number);
    const chat = `round-${number}`;
    commands += todo.length;
    const moments = [random() * CONVERSATION_MS];
    if (random() < SECOND_KILL_SHARE) moments.push(random() * SECOND_KILL_WITHIN_MS);
    for (const moment of moments) {
      const talking = converse(await product.person(chat), todo);
      await pause(moment);
      await product.kill();
      kills++;
      talking.stop();
      await product.start();
    }
    const person = await product.person(chat);
    const talking = converse(person, todo);
    const left = await talking.done;
    talking.stop();
    await pause(LOOK_MS);
    const counted = await counts(product);
    const found = verify(todo, person.screen(), counted, outcomes, left);
    problems.push(...found.map((problem) => `round ${number}: ${problem}`));
    options.onRound?.(number, found);
    await person.leave();
  }

  try {
    for (let number = 1; number <= options.rounds; number++) await round(number);
  } finally {
    await product.dispose();
  }
  return { rounds: options.rounds, kills, commands, outcomes, problems };
}

/** Says and presses like a web chat, which sends again under the same id what was not acknowledged. */
function converse(
  person: Person,
  todo: readonly Planned[],
): { readonly done: Promise<readonly Planned[]>; stop(): void } {
  let stopped = false;
  /** An answer that says no is asked for again; a call cut off by the kill never settles, and nobody waits for it. */
  const insist = async (call: () => Promise<void>): Promise<void> => {
    while (!stopped) {
      const done = await call().then(
        () => true,
        () => false,
      );
      if (done) return;
      await pause(RETRY_MS);
    }
  };
  const one = async (planned: Planned): Promise<boolean> => {
    void insist(() => person.say(`/exec ${planned.text}`, planned.sayId));
    let pressed = false;
    const deadline = performance.now() + SETTLE_MS;
    while (!stopped && performance.now() < deadline) {
      const cards = cardsOf(planned, person.screen());
      const { approval } = cards;
      if (isOver(planned, cards)) return true;
      if (approval?.state === "pending" && !pressed) {
        pressed = true;
        const action: PressAction = { kind: "approval", approvalId: approval.approvalId, decision: planned.decision };
        void insist(() => person.press(action, planned.pressId));
      }
      await pause(LOOK_MS);
    }
    return false;
  };
  const done = Promise.all(todo.map(async (planned) => ((await one(planned)) ? [] : [planned]))).then((left) =>
    left.flat(),
  );
  return {
    done,
    stop() {
      stopped = true;
    },
  };
}

function cardsOf(planned: Planned, screen: readonly Card[]) {
  const approvals = screen.filter((card) => card.kind === "approval" && card.command === planned.text);
  const runs = screen.filter((card) => card.kind === "run" && card.command === planned.text);
  const said = screen.filter((card) => card.kind === "said" && card.text === `/exec ${planned.text}`);
  const [approval] = approvals;
  const [run] = runs;
  return {
    approvals,
    runs,
    said,
    approval: approval?.kind === "approval" ? approval : undefined,
    run: run?.kind === "run" ? run : undefined,
  };
}

/** The person sees how it ended, and so does whoever looks at the request. */
function isOver(planned: Planned, { approval, run }: ReturnType<typeof cardsOf>): boolean {
  if (planned.decision === "deny") return approval?.state === "denied";
  return run?.state === "finished" && approval?.state === "allowed" && !isUnderWay(approval.statusLine);
}

function isUnderWay(statusLine: string | undefined): boolean {
  return statusLine === undefined || /^(running|waits in line|The gateway restarted)/.test(statusLine);
}

function verify(
  todo: readonly Planned[],
  screen: readonly Card[],
  counted: ReadonlyMap<string, number>,
  outcomes: Partial<Record<RunOutcome | "denied", number>>,
  left: readonly Planned[],
): string[] {
  const problems: string[] = [];
  for (const planned of todo) {
    const cards = cardsOf(planned, screen);
    const { approvals, runs, said, approval, run } = cards;
    const ran = counted.get(planned.id) ?? 0;
    const complain = (what: string) => problems.push(`${planned.id} ${what}`);
    if (ran > 1) complain(`ran ${ran} times`);
    if (said.length !== 1) complain(`was echoed ${said.length} times`);
    if (approvals.length !== 1) complain(`has ${approvals.length} request cards`);
    if (left.includes(planned)) {
      complain(`never came to an end: request ${approval?.state} (${approval?.statusLine}), run ${run?.state}`);
      continue;
    }
    const outcome = planned.decision === "deny" ? "denied" : (run?.outcome ?? "lost");
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    if (outcome === "denied") {
      if (ran > 0 || runs.length > 0) complain("was denied and ran");
      continue;
    }
    if (runs.length !== 1) complain(`has ${runs.length} run cards`);
    if (outcome === "completed" && (ran !== 1 || !run?.tail.includes(`done ${planned.id}`))) {
      complain(`is said to have completed, but ran ${ran} times with the output ${JSON.stringify(run?.tail)}`);
    }
    if (outcome === "not-started" && ran > 0) complain("is said not to have started, and ran");
    if (outcome === "failed" || outcome === "timed-out" || outcome === "killed") {
      complain(
        `ended as ${outcome}: ${JSON.stringify({ code: run?.exitCode, signal: run?.exitSignal, tail: run?.tail, notes: run?.notes })}`,
      );
    }
  }
  return problems;
}

/** How often each command ran. */
export async function counts(product: ProductLives): Promise<Map<string, number>> {
  const text = await readFile(join(product.workspace, COUNTER), "utf8").catch(() => "");
  const found = new Map<string, number>();
  for (const id of text.split("\n").slice(0, -1)) found.set(id, (found.get(id) ?? 0) + 1);
  return found;
}
