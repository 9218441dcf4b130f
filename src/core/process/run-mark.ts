/** The mark by which a child, and all that it starts, can be told from others: a variable of its environment. */

/** Carried by every child; the value is made by `runMark`. */
export const RUN_MARK = "OPENCLAW_RUN_ID";

/**
 * Run ids come from what asked, so two gateways of one machine that have nothing to do with each other can have the same:
 * the same person wrote to both bots. Neither may take the other's command for its own.
 */
export function runMark({ gatewayId, runId }: { readonly gatewayId: string; readonly runId: string }): string {
  return `${gatewayId}:${runId}`;
}

/** The mark in the text of `/proc/<pid>/environ`. A zombie has an empty environment. */
export function markIn(environment: string): string | undefined {
  const key = `\0${RUN_MARK}=`;
  const entries = `\0${environment}`;
  const at = entries.indexOf(key);
  if (at < 0) return undefined;
  const end = entries.indexOf("\0", at + key.length);
  return entries.slice(at + key.length, end < 0 ? undefined : end);
}
