/** "Did you mean …?": the known word nearest to a mistyped one. Used for config keys, parameters and commands alike. */
import { closest, distance } from "fastest-levenshtein";

/** At most a third of the letters may differ, or two be swapped; a wilder guess confuses more than it helps. */
export function nearestOf(word: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined;
  const wanted = word.toLowerCase();
  const lower = new Map(known.map((name) => [name.toLowerCase(), name]));
  const swapped = [...lower.keys()].find((name) => letters(name) === letters(wanted));
  if (swapped !== undefined) return lower.get(swapped);
  const best = closest(wanted, [...lower.keys()]);
  const reach = Math.max(1, Math.floor(Math.max(wanted.length, best.length) / 3));
  return distance(wanted, best) <= reach ? lower.get(best) : undefined;
}

const letters = (word: string) => [...word].sort().join("");
