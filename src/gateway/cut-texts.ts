/**
 * The rest of a text that the sender's app has cut into several messages. It belongs to what was said before: it is
 * addressed to whom the beginning was, and no line of it that happens to stand at its start is a command to run.
 * Kept in the store, so that a gateway that takes over between two pieces knows it too.
 */
import type { BatchLimitsOf } from "../agents/batches.ts";
import type { Inbound } from "../channels/channel.ts";
import { routeKey } from "../core/route.ts";
import type { Store } from "../core/store/store.ts";

const CUT_NS = "cut-text";
const CUT_TTL_MS = 10 * 60_000;

/** What the beginning was: `words` for the agent, or a `command` that was refused because it was cut. */
export type Beginning = "words" | "command";

interface Cut {
  readonly beginning: Beginning;
  readonly atMs: number;
}

/** What a person must be able to say at any moment, in the middle of their own text too. */
const CONTROL: ReadonlySet<string> = new Set(["stop", "approve"]);

export function isControl(command: string | undefined): boolean {
  return command !== undefined && CONTROL.has(command);
}

/** As words that go where the beginning went, unless it is a control command. */
export function asRest(event: Inbound): Inbound {
  if (event.kind === "press" || (event.kind === "command" && isControl(event.name))) return event;
  if (event.kind === "message") return { ...event, addressed: true };
  const { name, args, answersAll: _, ...heard } = event;
  return { ...heard, kind: "message", addressed: true, text: args === "" ? `/${name}` : `/${name} ${args}` };
}

export class CutTexts {
  readonly #store: Store;
  readonly #limitsOf: BatchLimitsOf;

  constructor(store: Store, limitsOf: BatchLimitsOf) {
    this.#store = store;
    this.#limitsOf = limitsOf;
  }

  /** What this is the rest of; `undefined`: it stands for itself. */
  async restOf(event: Inbound): Promise<Beginning | undefined> {
    const limits = this.#limitsOf(event.route);
    if (!limits || event.kind === "press") return undefined;
    const found = await this.#store.get<Cut>(CUT_NS, keyOf(event));
    if (!found || event.receivedAtMs - found.value.atMs >= limits.cutQuietMs) return undefined;
    return found.value.beginning;
  }

  /** More of it may come. */
  async begun(event: Inbound, beginning: Beginning): Promise<void> {
    if (!event.mayBeCut || !this.#limitsOf(event.route)) return;
    const cut: Cut = { beginning, atMs: event.receivedAtMs };
    await this.#store.put(CUT_NS, keyOf(event), cut, { ttlMs: CUT_TTL_MS });
  }
}

function keyOf({ route, actor }: Inbound): string {
  return `${routeKey(route)}|${actor.id}`;
}
