/** Buttons in every language that a card can be in. */
import { LANGUAGES } from "../../src/core/words/languages.ts";
import { messagesFor } from "../../src/core/words/messages.ts";

const WORDS = LANGUAGES.map((language) => messagesFor(language).approval);

export const LABELS = {
  once: WORDS.map((words) => words.allowOnce),
  always: WORDS.map((words) => words.allowAlways),
  deny: WORDS.map((words) => words.deny),
  takeBack: WORDS.map((words) => words.takeBack),
  askAgain: WORDS.map((words) => words.askAgain),
} as const;

/** What a waiting card can do besides: behind a menu, or buttons of their own. */
export const BESIDES = {
  reason: WORDS.map((words) => words.denyWithReason),
  command: WORDS.map((words) => words.fullCommand),
  snooze: WORDS.map((words) => words.snooze),
} as const;

export const MORE = WORDS.map((words) => words.more);

/** The one of these labels that is among `shown`. */
export function labelAmong(labels: readonly string[], shown: readonly string[]): string {
  const label = shown.find((one) => labels.includes(one));
  if (label === undefined) throw new Error(`There is no ${labels.join(" or ")}, only: ${shown.join(", ")}`);
  return label;
}
