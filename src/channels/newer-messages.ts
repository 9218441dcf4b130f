/**
 * How many messages stand below one, from what passes by: nothing is asked and nothing is stored. A place is one
 * conversation: a chat, or a thread or topic by itself.
 *
 * It knows only what it saw. After a restart, or when events may have been missed, a count is right from the first
 * message on that was noted since; of older messages it knows a lower bound, which may be enough.
 */
import { Recent } from "./recent.ts";

/** Conversations that are remembered; the one longest without a message is forgotten first. */
const MAX_PLACES = 5_000;
/** Newest messages that are remembered of each: nobody asks for more. */
const NEWEST_KEPT = 8;

interface Place {
  /** The first message noted: everything after it was seen. */
  readonly from: string;
  /** Oldest first. */
  newest: string[];
}

export class NewerMessages {
  readonly #places = new Recent<Place>(MAX_PLACES);

  /** A message that people see in this place, whoever wrote it. Told twice, it counts once. */
  note(place: string, messageId: string): void {
    const known = this.#places.get(place);
    if (!known) {
      this.#places.set(place, { from: messageId, newest: [messageId] });
      return;
    }
    if (!known.newest.includes(messageId)) {
      known.newest = [...known.newest, messageId].sort(byAge).slice(-NEWEST_KEPT);
    }
    this.#places.set(place, known);
  }

  /** How many stand below it, at most `atMost`; `undefined` when fewer were seen and some may have been missed. */
  below(place: string, messageId: string, atMost: number): number | undefined {
    const known = this.#places.get(place);
    if (!known) return undefined;
    const seen = Math.min(atMost, known.newest.filter((one) => byAge(one, messageId) > 0).length);
    return seen >= Math.min(atMost, NEWEST_KEPT) || byAge(messageId, known.from) >= 0 ? seen : undefined;
  }

  /** Messages may have been missed. */
  forget(): void {
    this.#places.clear();
  }
}

/** Ids of all platforms grow: numbers, or digits with a point at a fixed place. */
function byAge(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}
