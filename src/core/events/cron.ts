/**
 * Work at a later time: a command that takes the same way as any other (policy, approval, card, audit), or a text for a
 * session. Jobs are records in the store, their times are the queue's, so both survive a restart; ticks missed meanwhile
 * become one. A command belongs to the machine it was written for, so a job is only ever run by the gateway that took it.
 */
import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import type { Actor, Route } from "../route.ts";
import type { Store } from "../store/store.ts";
import { phrase, type Wording } from "../words/phrase.ts";
import { firstTickMs, intervalMs, momentMs } from "./cadence.ts";
import type { Job, Queue } from "./queue.ts";

/** Jobs of one gateway; a forgotten loop that adds jobs must not fill the state. */
const MAX_CRON_JOBS = 500;
/** What has to happen more often is no schedule but a loop, and belongs in the command. */
const MIN_CRON_INTERVAL_MS = 10_000;
const MAX_CRON_TEXT = 4_000;
const ATTEMPTS = 5;

export type CronWhen =
  | { readonly kind: "at"; readonly atMs: number }
  | { readonly kind: "every"; readonly everyMs: number }
  | { readonly kind: "cron"; readonly cron: string; readonly timezone?: string };

export type CronTask =
  | { readonly kind: "command"; readonly command: string; readonly workdir?: string; readonly timeoutSec?: number }
  /** Told to the session: at once with a wake, or at its next heartbeat. */
  | { readonly kind: "event"; readonly text: string; readonly wake: "now" | "next-heartbeat" };

export interface CronJob {
  readonly id: string;
  readonly gatewayId: string;
  readonly name?: string;
  readonly when: CronWhen;
  readonly task: CronTask;
  readonly agentId: string;
  readonly sessionKey: string;
  /** Where its cards and answers go. */
  readonly route: Route;
  readonly createdBy: Actor;
  readonly fromChannel: boolean;
  readonly createdAtMs: number;
  readonly last?: { readonly atMs: number; readonly result: Wording };
}

export interface ListedCronJob extends CronJob {
  /** Absent: it runs no more, or the time is just being set. */
  readonly nextAtMs?: number;
}

/** As a person gives it; exactly one of `at`, `every` and `cron`, and exactly one of `command` and `event`. */
export interface CronRequest {
  readonly at?: string;
  readonly every?: string;
  readonly cron?: string;
  readonly timezone?: string;
  readonly command?: string;
  readonly event?: string;
  readonly wake?: "now" | "next-heartbeat";
  readonly workdir?: string;
  readonly timeoutSec?: number;
  readonly name?: string;
}

export type CronOrigin = Pick<CronJob, "agentId" | "sessionKey" | "route" | "createdBy" | "fromChannel">;

export interface Cron {
  /** Starts the handler and sets the times of jobs whose setting was cut off. */
  start(): Promise<void>;
  /** `id` makes a repeated call harmless. Throws `invalid-argument` or `rate-limited`. */
  add(request: CronRequest, origin: CronOrigin, id: string): Promise<ListedCronJob>;
  list(): Promise<readonly ListedCronJob[]>;
  /** A unique start of the id is enough. Throws `not-found`. */
  remove(idOrPrefix: string): Promise<CronJob>;
  /** Once, now, beside its times. `tick` makes a repeated call harmless. Throws `not-found`. */
  run(idOrPrefix: string, tick: string): Promise<CronJob>;
}

export interface CronOptions {
  readonly store: Store;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly gatewayId: string;
  /** Starts the command, or asks somebody. `requestId` is the same for a repeated try of the same tick. */
  readonly begin: (job: CronJob, task: Extract<CronTask, { kind: "command" }>, requestId: string) => Promise<CronBegun>;
  readonly tell: (job: CronJob, task: Extract<CronTask, { kind: "event" }>, contextKey: string) => Promise<void>;
  /** It could not be run: whoever waits for it is told. */
  readonly refused: (job: CronJob, tick: string, why: Wording) => Promise<void>;
}

export type CronBegun = "started" | "asked";

const NS = "cron";

interface Tick {
  readonly id: string;
  /** By hand; the job's own times go on. */
  readonly manual?: string;
}

export function createCron(options: CronOptions): Cron {
  const { store, queue, clock, gatewayId } = options;
  const jobName = `cron-${gatewayId}`;
  const key = (id: string) => `${gatewayId}|${id}`;

  async function jobs(): Promise<CronJob[]> {
    const found = await store.list<CronJob>(NS, { prefix: `${gatewayId}|`, limit: MAX_CRON_JOBS * 2 });
    return found.map((listed) => listed.value).sort((a, b) => a.createdAtMs - b.createdAtMs);
  }

  async function find(idOrPrefix: string): Promise<CronJob> {
    const wanted = idOrPrefix.trim().toLowerCase();
    const matches =
      wanted === "" ? [] : (await jobs()).filter((job) => job.id.startsWith(wanted) || job.name === wanted);
    const [only] = matches;
    if (only && matches.length === 1) return only;
    throw new ExecError(
      "not-found",
      only
        ? phrase("error.cron.ambiguous", { matches: matches.length, job: wanted, ids: matches.map((job) => job.id) })
        : phrase("error.cron.unknown", { job: idOrPrefix.slice(0, 64) }),
    );
  }

  async function arm(job: CronJob): Promise<void> {
    const spec = { name: jobName, data: { id: job.id } satisfies Tick, attempts: ATTEMPTS } as const;
    switch (job.when.kind) {
      case "at":
        await queue.add<Tick>({ ...spec, id: atId(job), delayMs: Math.max(0, job.when.atMs - clock.now()) });
        return;
      case "every":
        return queue.schedule<Tick>(scheduleId(job), { everyMs: job.when.everyMs }, spec);
      case "cron": {
        const { cron, timezone } = job.when;
        return queue.schedule<Tick>(scheduleId(job), timezone ? { cron, timezone } : { cron }, spec);
      }
    }
  }

  async function disarm(job: CronJob): Promise<void> {
    if (job.when.kind === "at") await queue.cancel(atId(job));
    else await queue.unschedule(scheduleId(job));
  }

  async function fire(tick: Job<Tick>): Promise<void> {
    const found = await store.get<CronJob>(NS, key(tick.data.id));
    if (!found) return;
    const job = found.value;
    const label = tick.data.manual ?? tick.id;
    const result = await perform(job, label, tick.attempt >= ATTEMPTS);
    if (job.when.kind === "at" && tick.data.manual === undefined) await store.delete(NS, key(job.id));
    else await note(job.id, result);
  }

  async function perform(job: CronJob, tick: string, isLastTry: boolean): Promise<Wording> {
    try {
      if (job.task.kind === "event") {
        await options.tell(job, job.task, `cron:${job.id}:${tick}`);
        return phrase("cron.result.told");
      }
      const begun = await options.begin(job, job.task, `cron:${job.id}:${tick}`);
      return phrase(begun === "asked" ? "cron.result.asked" : "cron.result.started");
    } catch (error) {
      if (!(error instanceof ExecError)) throw error;
      if (PASSING.has(error.code) && !isLastTry) throw error;
      await options.refused(job, tick, error.wording);
      return phrase("cron.result.notRun", { why: error.wording });
    }
  }

  async function note(id: string, result: Wording): Promise<void> {
    for (;;) {
      const found = await store.get<CronJob>(NS, key(id));
      if (!found) return;
      const next: CronJob = { ...found.value, last: { atMs: clock.now(), result } };
      if ((await store.compareAndSet(NS, key(id), found.version, next)) !== undefined) return;
    }
  }

  async function withTimes(list: readonly CronJob[]): Promise<ListedCronJob[]> {
    const times = new Map((await queue.schedules()).map((schedule) => [schedule.id, schedule.nextAtMs]));
    return list.map((job) => {
      const nextAtMs = job.when.kind === "at" ? job.when.atMs : times.get(scheduleId(job));
      return nextAtMs === undefined ? job : { ...job, nextAtMs };
    });
  }

  return {
    async start() {
      await queue.process<Tick>(jobName, fire, { concurrency: 4 });
      for (const job of await jobs()) await arm(job);
    },

    async add(request, origin, id) {
      const job: CronJob = {
        id,
        gatewayId,
        when: whenOf(request, clock.now()),
        task: taskOf(request),
        ...origin,
        createdAtMs: clock.now(),
        ...(request.name ? { name: request.name } : {}),
      };
      const existing = await jobs();
      if (existing.length >= MAX_CRON_JOBS) {
        throw new ExecError("rate-limited", phrase("error.cron.many", { most: MAX_CRON_JOBS }));
      }
      if (request.name !== undefined && existing.some((one) => one.name === request.name && one.id !== id)) {
        throw new ExecError("invalid-argument", phrase("error.cron.name", { name: request.name }));
      }
      await store.setIfAbsent(NS, key(id), job);
      await arm(job);
      return (await withTimes([job]))[0] ?? job;
    },

    list: async () => withTimes(await jobs()),

    async remove(idOrPrefix) {
      const job = await find(idOrPrefix);
      await disarm(job);
      await store.delete(NS, key(job.id));
      return job;
    },

    async run(idOrPrefix, tick) {
      const job = await find(idOrPrefix);
      await queue.add<Tick>({
        name: jobName,
        id: `cron-run:${job.id}:${tick}`,
        data: { id: job.id, manual: tick },
        attempts: ATTEMPTS,
      });
      return job;
    },
  };
}

/** Reasons that pass by themselves: the tick is tried again. */
const PASSING: ReadonlySet<string> = new Set(["rate-limited", "draining", "state-unavailable", "host-unavailable"]);

const scheduleId = (job: CronJob) => `cron/${job.gatewayId}/${job.id}`;
const atId = (job: CronJob) => `cron-at:${job.id}`;

function whenOf(request: CronRequest, now: number): CronWhen {
  const { at, every, cron, timezone } = request;
  const given = [at, every, cron].filter((one) => one !== undefined);
  if (given.length !== 1) {
    throw new ExecError("invalid-argument", phrase("error.cron.when"));
  }
  if (at !== undefined) return { kind: "at", atMs: momentMs(at, now, timezone) };
  if (every !== undefined) {
    const everyMs = intervalMs(every);
    if (everyMs >= MIN_CRON_INTERVAL_MS) return { kind: "every", everyMs };
    throw new ExecError(
      "invalid-argument",
      phrase("error.cron.tooOften", { least: MIN_CRON_INTERVAL_MS / 1_000, every }),
    );
  }
  const when = { kind: "cron", cron: cron ?? "", ...(timezone ? { timezone } : {}) } as const;
  firstTickMs(when, now);
  return when;
}

function taskOf(request: CronRequest): CronTask {
  const { command, event, workdir, timeoutSec, wake = "now" } = request;
  if ((command === undefined) === (event === undefined)) {
    throw new ExecError("invalid-argument", phrase("error.cron.what"));
  }
  const text = (command ?? event ?? "").trim();
  if (text === "" || text.length > MAX_CRON_TEXT) {
    throw new ExecError("invalid-argument", phrase("error.cron.length", { most: MAX_CRON_TEXT }));
  }
  if (event !== undefined) return { kind: "event", text, wake };
  return {
    kind: "command",
    command: text,
    ...(workdir ? { workdir } : {}),
    ...(timeoutSec !== undefined ? { timeoutSec } : {}),
  };
}
