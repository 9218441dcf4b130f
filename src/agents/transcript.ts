/**
 * What a session and its model said to each other, one record a turn. A record is written before a tool is dispatched
 * and after it answered, so whoever finds it after a kill knows what had been begun. Old turns go whole, the oldest
 * first: a call never loses its result.
 */
import type { ModelMessage } from "ai";
import type { WakeReason } from "../core/events/wakes.ts";
import type { Actor, Route } from "../core/route.ts";
import type { Store, Versioned } from "../core/store/store.ts";
import type { Wording } from "../core/words/phrase.ts";

export type TurnState =
  /** The model thinks or a tool works. */
  | "running"
  /** It is over, and its answer is on its way. */
  | "answering"
  | "done"
  | "stopped"
  | "failed"
  /** The gateway was stopped in the middle, after a tool had been dispatched. */
  | "cut";

export interface TurnRecord {
  readonly seq: number;
  readonly id: string;
  /** Grows with each `/new`; turns of an earlier epoch are forgotten. */
  readonly epoch: number;
  readonly agentId: string;
  readonly state: TurnState;
  readonly trigger: "message" | WakeReason;
  readonly startedAtMs: number;
  /** How often it was begun; more than once only when nothing had been dispatched. */
  readonly starts: number;
  /** Where its answer goes. */
  readonly routes: readonly Route[];
  /** Who asked; absent: nobody did, something happened. */
  readonly actor?: Actor;
  readonly messages: readonly ModelMessage[];
  /** What it took from the inbox, and the events it was told of: they are settled once this record is there. */
  readonly took: { readonly items: readonly string[]; readonly events: readonly string[] };
  /** How many of them were there before the model said anything. */
  readonly opening: number;
  /** What was handed to a tool, as people read it: `exec npm test`. */
  readonly dispatched: readonly string[];
  /** Words of code that are told instead when the model has none. */
  readonly tasks: readonly { readonly key: string; readonly text: string; readonly route?: Route }[];
  /** What is posted when the state is `answering`. */
  readonly answer?: Wording;
}

interface SessionRecord {
  readonly epoch: number;
  readonly lastSeq: number;
  /** When a person last spoke; heartbeats and wakes do not count (channels.md 9.2). */
  readonly humanAtMs: number;
}

const TURN_NS = "agent-turn";
const SESSION_NS = "agent-session";
const RUNNING_NS = "agent-running";
/** A conversation nobody has spoken in for so long is forgotten. */
const TRANSCRIPT_TTL_MS = 90 * 24 * 3_600_000;
const FIRST: SessionRecord = { epoch: 1, lastSeq: 0, humanAtMs: 0 };

export interface HistoryBounds {
  readonly turns: number;
  readonly chars: number;
}

export class Transcripts {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The turn that is going on, or was when its gateway ended. */
  async running(sessionKey: string): Promise<Versioned<TurnRecord> | undefined> {
    const pointer = await this.#store.get<{ seq: number }>(RUNNING_NS, sessionKey);
    if (!pointer) return undefined;
    const found = await this.#store.get<TurnRecord>(TURN_NS, turnKey(sessionKey, pointer.value.seq));
    if (!found) await this.#store.delete(RUNNING_NS, sessionKey, pointer.version);
    return found;
  }

  /** Sessions with a turn going on, on whichever gateway. */
  async runningSessions(): Promise<readonly string[]> {
    return (await this.#store.list(RUNNING_NS)).map((one) => one.key);
  }

  /** Resolves to the record's version, for {@link save}. */
  async begin(sessionKey: string, make: (seq: number, epoch: number) => TurnRecord): Promise<Versioned<TurnRecord>> {
    const session = await this.#session(sessionKey);
    const record = make(session.lastSeq + 1, session.epoch);
    // The pointer last: a record that nothing points to is only a number that is used again.
    const version = await this.#store.put(TURN_NS, turnKey(sessionKey, record.seq), record, {
      ttlMs: TRANSCRIPT_TTL_MS,
    });
    await this.#change(sessionKey, (now) => ({
      ...now,
      lastSeq: Math.max(now.lastSeq, record.seq),
      humanAtMs: record.trigger === "message" ? record.startedAtMs : now.humanAtMs,
    }));
    await this.#store.put(RUNNING_NS, sessionKey, { seq: record.seq });
    return { value: record, version };
  }

  /** The new version. Rejects with `TurnTaken` when another gateway has taken the turn over. */
  async save(sessionKey: string, version: number, record: TurnRecord): Promise<number> {
    const next = await this.#store.compareAndSet(TURN_NS, turnKey(sessionKey, record.seq), version, record, {
      ttlMs: TRANSCRIPT_TTL_MS,
    });
    if (next === undefined) throw new TurnTaken(sessionKey);
    return next;
  }

  /** It is over. One that left nothing worth remembering is not kept. */
  async end(sessionKey: string, seq: number, keep: boolean): Promise<void> {
    if (!keep) await this.#store.delete(TURN_NS, turnKey(sessionKey, seq));
    await this.#store.delete(RUNNING_NS, sessionKey);
  }

  /**
   * The newest turns within the bounds, oldest first. What is beyond them is deleted, and so is a record that was never
   * begun for good: no other than `goingOn` is going on when this is asked.
   */
  async history(sessionKey: string, bounds: HistoryBounds, goingOn?: number): Promise<readonly TurnRecord[]> {
    const { epoch } = await this.#session(sessionKey);
    const all = (await this.#store.list<TurnRecord>(TURN_NS, { prefix: `${sessionKey}|` })).map((one) => one.value);
    const past = all.filter((turn) => isOver(turn) && turn.epoch === epoch);
    const kept = newestWithin(past, bounds);
    const keptSeqs = new Set(kept.map((turn) => turn.seq));
    for (const turn of all) {
      if (!keptSeqs.has(turn.seq) && turn.seq !== goingOn)
        await this.#store.delete(TURN_NS, turnKey(sessionKey, turn.seq));
    }
    return kept;
  }

  /** When a person last spoke in this session; 0: never. */
  async humanAtMs(sessionKey: string): Promise<number> {
    return (await this.#session(sessionKey)).humanAtMs;
  }

  /** True when there was something to forget. */
  async forget(sessionKey: string): Promise<boolean> {
    await this.#change(sessionKey, (now) => ({ ...now, epoch: now.epoch + 1 }));
    const turns = await this.#store.list<TurnRecord>(TURN_NS, { prefix: `${sessionKey}|` });
    const past = turns.filter(({ value }) => isOver(value));
    for (const { key } of past) await this.#store.delete(TURN_NS, key);
    return past.length > 0;
  }

  async #session(sessionKey: string): Promise<SessionRecord> {
    return (await this.#store.get<SessionRecord>(SESSION_NS, sessionKey))?.value ?? FIRST;
  }

  async #change(sessionKey: string, to: (now: SessionRecord) => SessionRecord): Promise<void> {
    for (;;) {
      const found = await this.#store.get<SessionRecord>(SESSION_NS, sessionKey);
      const next = to(found?.value ?? FIRST);
      const written = found
        ? (await this.#store.compareAndSet(SESSION_NS, sessionKey, found.version, next)) !== undefined
        : await this.#store.setIfAbsent(SESSION_NS, sessionKey, next);
      if (written) return;
    }
  }
}

/** Another gateway works on this turn now; whatever is still done here must not be written. */
export class TurnTaken extends Error {
  override readonly name = "TurnTaken";
  constructor(sessionKey: string) {
    super(`the turn of ${sessionKey} has been taken over`);
  }
}

/** Whole turns, the newest that fit. A single one that is larger than everything allowed is left out too. */
export function newestWithin(turns: readonly TurnRecord[], { turns: most, chars }: HistoryBounds): TurnRecord[] {
  const kept: TurnRecord[] = [];
  let left = chars;
  for (const turn of turns.toReversed()) {
    left -= JSON.stringify(turn.messages).length;
    if (kept.length === most || left < 0) break;
    kept.unshift(turn);
  }
  return kept;
}

function isOver({ state }: TurnRecord): boolean {
  return state !== "running" && state !== "answering";
}

/** In the order of their numbers, byte by byte. */
function turnKey(sessionKey: string, seq: number): string {
  return `${sessionKey}|${String(seq).padStart(12, "0")}`;
}
