/** Walking through what was typed before, with the arrow keys. Pure. */

export interface Recall {
  /** How many steps back; 0 is the text being written. */
  readonly back: number;
  /** What was being written when the walk began. */
  readonly draft: string;
}

export const NOT_RECALLING: Recall = { back: 0, draft: "" };

/** `said` is oldest first. Gives undefined when there is nothing further in that direction. */
export function recall(
  state: Recall,
  said: readonly string[],
  text: string,
  step: 1 | -1,
): { readonly state: Recall; readonly text: string } | undefined {
  const back = state.back + step;
  if (back < 0 || back > said.length) return undefined;
  const draft = state.back === 0 ? text : state.draft;
  if (back === 0) return { state: NOT_RECALLING, text: draft };
  return { state: { back, draft }, text: said[said.length - back] ?? "" };
}

/** The arrow keys walk only from the edge of the text, so that they still move inside several lines. */
export function mayRecall(text: string, selectionStart: number, selectionEnd: number, step: 1 | -1): boolean {
  if (selectionStart !== selectionEnd) return false;
  return step === 1 ? !text.slice(0, selectionStart).includes("\n") : !text.slice(selectionEnd).includes("\n");
}
