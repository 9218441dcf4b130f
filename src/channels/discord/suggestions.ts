/** Suggestions for an option while it is being typed: in time, or none. */
import type { Suggest, SuggestQuery } from "../adapter-deps.ts";
import { MAX_CHOICE, MAX_CHOICES, SUGGEST_DEADLINE_MS } from "./limits.ts";

export async function choicesFor(
  query: SuggestQuery,
  suggest: Suggest | undefined,
): Promise<{ readonly name: string; readonly value: string }[]> {
  if (!suggest) return [];
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(() => resolve([]), SUGGEST_DEADLINE_MS);
  });
  try {
    const found = await Promise.race([suggest(query), late]);
    return found
      .filter((one) => one.length >= 1 && one.length <= MAX_CHOICE)
      .slice(0, MAX_CHOICES)
      .map((one) => ({ name: one, value: one }));
  } finally {
    clearTimeout(timer);
  }
}
