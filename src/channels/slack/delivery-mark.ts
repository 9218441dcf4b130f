/**
 * The mark every message carries in its metadata, so that after a lost answer it can be found instead of sent again.
 * The key is hashed: metadata is readable by other apps of the workspace.
 */
import { createHash } from "node:crypto";

export const EVENT_TYPE = "openclaw_delivery";

export interface DeliveryMark {
  readonly key: string;
  readonly part: number;
  readonly parts: number;
  /** False while a card waits for the file that shows its whole command. */
  readonly ready: boolean;
}

export function deliveryKey(outboundKey: string): string {
  return createHash("sha256").update(outboundKey, "utf8").digest("base64url").slice(0, 22);
}

export function writeMark(mark: DeliveryMark): {
  event_type: string;
  event_payload: Record<string, string | number | boolean>;
} {
  return { event_type: EVENT_TYPE, event_payload: { ...mark } };
}

export function readMark(metadata: unknown): DeliveryMark | undefined {
  if (typeof metadata !== "object" || metadata === null) return undefined;
  const { event_type, event_payload } = metadata as { event_type?: unknown; event_payload?: unknown };
  if (event_type !== EVENT_TYPE || typeof event_payload !== "object" || event_payload === null) return undefined;
  const { key, part, parts, ready } = event_payload as Record<string, unknown>;
  if (typeof key !== "string" || typeof part !== "number" || typeof parts !== "number") return undefined;
  return { key, part, parts, ready: ready !== false };
}
