/**
 * What was given up, for those who can do something about it: seen, tried again, or dropped. Most of it are messages that
 * a chat did not take; what came in or was to be thought about and failed at every try is here too.
 *
 * A retry is the same job with the same keys, so what had arrived after all does not come twice where the platform can
 * tell. Of a card only its newest state is tried again.
 */
import { createHash } from "node:crypto";
import { ExecError } from "../errors.ts";
import { phrase } from "../words/phrase.ts";
import { DELIVERY_JOB, deliveryOf } from "./delivery-job.ts";
import type { LostJob } from "./lost-job.ts";
import type { DeadLetter, Queue } from "./queue.ts";

/** Shown at once; `total` says how many there are. */
const LETTERS_SHOWN = 50;
/** Looked through for an id, and taken by `all`: as many as the queue keeps. */
const LETTERS_KEPT = 10_000;
const MIN_PREFIX = 4;
const ABOUT_CHARS = 120;

export interface DeadLetterDesk {
  /** Newest first, at most {@link LETTERS_SHOWN}. */
  list(): Promise<{ readonly letters: readonly LostJob[]; readonly total: number }>;
  /** By id, an unambiguous start of one (at least four digits), or `all`. Rejects with `not-found`. */
  retry(which: string): Promise<readonly LostJob[]>;
  drop(which: string): Promise<readonly LostJob[]>;
}

export interface DeadLetterDeskOptions {
  readonly queue: Pick<Queue, "deadLetters" | "retryDead" | "removeDead" | "counts">;
  /** An approval's card is made anew from its record; false: there is nothing left to show. */
  readonly showAgain: (entity: string, route: NonNullable<ReturnType<typeof deliveryOf>>["route"]) => Promise<boolean>;
  readonly onChange: (did: "retried" | "dropped", letters: readonly LostJob[]) => void;
}

export function createDeadLetterDesk(options: DeadLetterDeskOptions): DeadLetterDesk {
  const { queue, showAgain, onChange } = options;

  async function find(which: string): Promise<readonly DeadLetter[]> {
    const wanted = which.trim().toLowerCase();
    const letters = await queue.deadLetters({ limit: LETTERS_KEPT });
    if (wanted === "all") return letters;
    const found = wanted.length < MIN_PREFIX ? [] : letters.filter((letter) => handleOf(letter).startsWith(wanted));
    if (found.length > 1)
      throw new ExecError("invalid-argument", phrase("deliveries.ambiguous", { id: wanted.slice(0, 32) }));
    if (found.length === 0) throw new ExecError("not-found", phrase("deliveries.unknown", { id: wanted.slice(0, 32) }));
    return found;
  }

  async function retryOne(letter: DeadLetter): Promise<void> {
    const delivery = letter.name === DELIVERY_JOB ? deliveryOf(letter.data) : undefined;
    if (delivery?.entity?.startsWith("approval:")) {
      // First shown, then forgotten: a crash in between shows the same card once more, as an edit.
      await showAgain(delivery.entity, delivery.route);
      await queue.removeDead(letter.id);
      return;
    }
    await queue.retryDead(letter.id);
  }

  return {
    async list() {
      const [letters, counts] = await Promise.all([queue.deadLetters({ limit: LETTERS_SHOWN }), queue.counts()]);
      return { letters: letters.map(lostJob), total: counts.dead };
    },

    async retry(which) {
      const found = await find(which);
      const all = which.trim().toLowerCase() === "all" ? found : await queue.deadLetters({ limit: LETTERS_KEPT });
      const wanted = new Set(found.map(cardOf));
      // Oldest first, as they were to come.
      const ofThem = all.filter((letter) => wanted.has(cardOf(letter))).toReversed();
      for (const letter of ofThem) {
        if (ofThem.some((other) => isNewerState(other, letter))) await queue.removeDead(letter.id);
        else await retryOne(letter);
      }
      const done = found.map(lostJob);
      onChange("retried", done);
      return done;
    },

    async drop(which) {
      const found = await find(which);
      for (const letter of found) await queue.removeDead(letter.id);
      const done = found.map(lostJob);
      onChange("dropped", done);
      return done;
    },
  };
}

/** States of one card in one chat belong together; everything else stands for itself. */
function cardOf(letter: DeadLetter): string {
  const delivery = letter.name === DELIVERY_JOB ? deliveryOf(letter.data) : undefined;
  return delivery?.entity === undefined ? `job ${letter.id}` : `card ${delivery.key}`;
}

function isNewerState(other: DeadLetter, letter: DeadLetter): boolean {
  if (other === letter || cardOf(other) !== cardOf(letter)) return false;
  return (deliveryOf(other.data)?.version ?? 0) > (deliveryOf(letter.data)?.version ?? 0);
}

function handleOf({ id }: DeadLetter): string {
  return createHash("sha256").update(id).digest("hex").slice(0, 8);
}

function lostJob(letter: DeadLetter): LostJob {
  const delivery = letter.name === DELIVERY_JOB ? deliveryOf(letter.data) : undefined;
  const { route } = delivery ?? {};
  return {
    id: handleOf(letter),
    job: letter.name,
    ...(route ? { where: [route.channel, route.chatId, route.threadId].filter(Boolean).join(" ") } : {}),
    ...(delivery?.about ? { about: delivery.about.replace(/\s+/g, " ").trim().slice(0, ABOUT_CHARS) } : {}),
    why: letter.error,
    attempts: letter.attempts,
    lostAtMs: letter.diedAtMs,
  };
}
