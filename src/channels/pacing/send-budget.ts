/**
 * Says when a call may go out so that the platform never has to refuse it. Pure but for the clock it is handed.
 *
 * It holds no messages: whoever is told to wait goes back to the deliveries queue, which is durable and keeps the order
 * of each conversation, and asks again. Only the place in line is remembered here. In-memory rate limiters (bottleneck,
 * p-queue, grammY's throttler) hold the messages themselves, and with them a worker; fixed windows
 * (rate-limiter-flexible) let twice the rate through where two windows meet.
 *
 * Guarantee: in any span of `perMs` the platform receives at most `count` calls of a lane. A call counts from its start
 * until `perMs` after its end, so the way to the platform may take as long as it likes.
 */
import type { Clock } from "../../core/clock.ts";

export interface Rate {
  /** At most so many calls … */
  readonly count: number;
  /** … in any span of so many milliseconds. */
  readonly perMs: number;
  /** Of these, live changes leave so many for messages. Default 0. */
  readonly keep?: number;
}

/** What shares a limit: one chat, one group, everything of an account. */
export interface Lane {
  readonly key: string;
  readonly rates: readonly Rate[];
}

/** Who goes first when a place becomes free: what waits for a person or tells an end, other answers, progress. */
export type Urgency = "decision" | "answer" | "progress";

export type Permit =
  /** The call counts from now; `done` when it has ended, however it ended. */
  { readonly kind: "go"; readonly done: () => void } | { readonly kind: "wait"; readonly afterMs: number };

interface Stamp {
  readonly live: boolean;
  /** Absent while the call is under way. */
  endedAt?: number;
}

interface Waiter {
  readonly urgency: Urgency;
  readonly turn: number;
  dueAt: number;
}

interface LaneState {
  stamps: Stamp[];
  readonly waiting: Map<string, Waiter>;
  lastLiveAt: number;
  pausedUntil: number;
  slowUntil: number;
}

const RANK: Readonly<Record<Urgency, number>> = { decision: 0, answer: 1, progress: 2 };
/** Who does not come back when their time has come holds up nobody for longer than this. */
const LATE_MS = 1_000;
/** And has no place at all after this. */
const GONE_MS = 60_000;
/** Live changes spread over windows of at least this; within shorter ones they only leave `keep` places. */
const LONG_WINDOW_MS = 10_000;
/** After a refusal live changes come half as often for this long (channels.md 6.2). */
const SLOW_MS = 60_000;
/** Places in line that are remembered per lane; who comes later waits without one. */
const MAX_WAITING = 10_000;
/** Idle lanes are forgotten in sweeps of at least this many. */
const SWEEP_FROM = 256;

export class SendBudget {
  readonly #clock: Clock;
  readonly #lanes = new Map<string, LaneState>();
  #turns = 0;
  #sweepAt = SWEEP_FROM;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many lanes are remembered. */
  get lanes(): number {
    return this.#lanes.size;
  }

  /**
   * Milliseconds until the call `id` may go out; 0 when it may now, which takes nothing yet. The first of a quiet lane
   * always may. A caller told to wait comes back with the same id and keeps its place: in the order of urgency, then of
   * asking.
   */
  waitFor(id: string, lanes: readonly Lane[], urgency: Urgency): number {
    const now = this.#clock.monotonic();
    const states = lanes.map((lane) => this.#state(lane, now));
    let wait = 0;
    let depth = 0;
    while (depth < lanes.length && wait === 0) {
      const [lane, state] = [lanes[depth], states[depth]];
      if (lane && state) wait = waitOf(lane, state, placesAhead(state, id, urgency, now), now);
      depth += 1;
    }
    if (wait === 0) return 0;
    // A place in the lanes before it too: nobody of the same chat overtakes while the account as a whole is busy.
    const turn = this.#turns++;
    for (const state of states.slice(0, depth)) {
      const known = state.waiting.get(id);
      if (known) known.dueAt = now + wait;
      else if (state.waiting.size < MAX_WAITING) state.waiting.set(id, { urgency, turn, dueAt: now + wait });
    }
    return Math.ceil(wait);
  }

  /** As {@link waitFor}, and takes the place when there is one. */
  ask(id: string, lanes: readonly Lane[], urgency: Urgency): Permit {
    const afterMs = this.waitFor(id, lanes, urgency);
    if (afterMs > 0) return { kind: "wait", afterMs };
    const now = this.#clock.monotonic();
    const states = lanes.map((lane) => this.#state(lane, now));
    for (const state of states) state.waiting.delete(id);
    return { kind: "go", done: this.#take(states, false) };
  }

  /** Takes a place when there is one now. Who gets none keeps no place in line: they may never come back. */
  tryNow(lanes: readonly Lane[]): Permit {
    const now = this.#clock.monotonic();
    const states = lanes.map((lane) => this.#state(lane, now));
    const waits = lanes.map((lane, index) => {
      const state = states[index];
      return state ? waitOf(lane, state, placesAhead(state, "", "progress", now), now) : 0;
    });
    const afterMs = Math.ceil(Math.max(0, ...waits));
    return afterMs > 0 ? { kind: "wait", afterMs } : { kind: "go", done: this.#take(states, false) };
  }

  /**
   * A live change: goes out at once or not at all, since the next one says more. It never waits, yields to everybody who
   * does, leaves `keep` places free, and spreads over a long window instead of using it up at its beginning.
   */
  tryLive(lanes: readonly Lane[]): (() => void) | undefined {
    const now = this.#clock.monotonic();
    const states = lanes.map((lane) => this.#state(lane, now));
    const fits = lanes.every((lane, index) => {
      const state = states[index];
      return state !== undefined && liveFits(lane, state, now);
    });
    if (!fits) return undefined;
    for (const state of states) state.lastLiveAt = now;
    return this.#take(states, true);
  }

  /** Counts a call that can not wait (a question to somebody who just pressed a button). */
  charge(lanes: readonly Lane[]): () => void {
    const now = this.#clock.monotonic();
    return this.#take(
      lanes.map((lane) => this.#state(lane, now)),
      false,
    );
  }

  /** The platform refused a call of this lane (HTTP 429): nothing of it goes out before the time it named. */
  refused(lane: Lane, afterMs: number): void {
    const now = this.#clock.monotonic();
    const state = this.#state(lane, now);
    state.pausedUntil = Math.max(state.pausedUntil, now + afterMs);
    state.slowUntil = Math.max(state.slowUntil, now + afterMs + SLOW_MS);
  }

  #take(states: readonly LaneState[], live: boolean): () => void {
    const stamp: Stamp = { live };
    for (const state of states) state.stamps.push(stamp);
    return () => {
      stamp.endedAt ??= this.#clock.monotonic();
    };
  }

  #state(lane: Lane, now: number): LaneState {
    const longest = Math.max(...lane.rates.map((rate) => rate.perMs));
    let state = this.#lanes.get(lane.key);
    if (!state) {
      this.#sweep(now);
      state = {
        stamps: [],
        waiting: new Map(),
        lastLiveAt: Number.NEGATIVE_INFINITY,
        pausedUntil: Number.NEGATIVE_INFINITY,
        slowUntil: Number.NEGATIVE_INFINITY,
      };
      this.#lanes.set(lane.key, state);
    }
    state.stamps = state.stamps.filter((one) => (one.endedAt ?? now) > now - longest);
    for (const [id, waiter] of state.waiting) if (waiter.dueAt + GONE_MS < now) state.waiting.delete(id);
    return state;
  }

  /** Chats come and go; a lane in which nothing happened for long says nothing any more. */
  #sweep(now: number): void {
    if (this.#lanes.size < this.#sweepAt) return;
    for (const [key, state] of this.#lanes) {
      const busy =
        state.stamps.some((one) => (one.endedAt ?? now) > now - GONE_MS) ||
        [...state.waiting.values()].some((one) => one.dueAt + GONE_MS > now) ||
        Math.max(state.pausedUntil, state.slowUntil, state.lastLiveAt + GONE_MS) > now;
      if (!busy) this.#lanes.delete(key);
    }
    this.#sweepAt = Math.max(SWEEP_FROM, 2 * this.#lanes.size);
  }
}

/** Those who wait with more urgency or for longer, and are not late themselves. */
function placesAhead(state: LaneState, id: string, urgency: Urgency, now: number): number {
  if (state.waiting.size === 0) return 0;
  const own = state.waiting.get(id);
  let ahead = 0;
  for (const [other, waiter] of state.waiting) {
    if (other === id || waiter.dueAt + LATE_MS < now) continue;
    const before = RANK[waiter.urgency] - RANK[urgency];
    if (before < 0 || (before === 0 && waiter.turn < (own?.turn ?? Number.POSITIVE_INFINITY))) ahead += 1;
  }
  return ahead;
}

/** Milliseconds until there is a place after those ahead have taken theirs; 0 when there is one now. */
function waitOf(lane: Lane, state: LaneState, ahead: number, now: number): number {
  const pause = state.pausedUntil - now;
  return Math.max(0, pause, ...lane.rates.map((rate) => placeAt(rate, state, ahead, now) - now));
}

function placeAt(rate: Rate, state: LaneState, ahead: number, now: number): number {
  const taken = state.stamps
    .map((one) => one.endedAt ?? now)
    .filter((at) => at > now - rate.perMs)
    .sort((a, b) => a - b);
  let at = now;
  for (let place = 0; place <= ahead; place++) {
    const blocking = taken[taken.length - rate.count];
    at = blocking === undefined ? now : Math.max(now, blocking + rate.perMs);
    taken.push(at);
  }
  return at;
}

function liveFits(lane: Lane, state: LaneState, now: number): boolean {
  if (state.pausedUntil > now) return false;
  for (const waiter of state.waiting.values()) if (waiter.dueAt + LATE_MS >= now) return false;
  const pace = state.slowUntil > now ? 2 : 1;
  return lane.rates.every(({ count, perMs, keep = 0 }) => {
    const recent = state.stamps.filter((one) => (one.endedAt ?? now) > now - perMs);
    if (recent.length >= count - keep) return false;
    if (perMs < LONG_WINDOW_MS && pace === 1) return true;
    // What messages leave of the window, evenly.
    const share = count - keep - recent.filter((one) => !one.live).length;
    return now - state.lastLiveAt >= (pace * perMs) / share;
  });
}
