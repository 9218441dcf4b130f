/**
 * The mark every message carries in its metadata, so that after a lost answer it can be found instead of sent again.
 * The key is hashed: metadata is readable by other apps of the workspace.
 */
import { createHash } from "node:crypto";
import type { MessageRef, Outbound } from "../channel.ts";
import * as limits from "./limits.ts";
import type { SlackReads } from "./reads.ts";

const EVENT_TYPE = "openclaw_delivery";

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

function readMark(metadata: unknown): DeliveryMark | undefined {
  if (typeof metadata !== "object" || metadata === null) return undefined;
  const { event_type, event_payload } = metadata as { event_type?: unknown; event_payload?: unknown };
  if (event_type !== EVENT_TYPE || typeof event_payload !== "object" || event_payload === null) return undefined;
  const { key, part, parts, ready } = event_payload as Record<string, unknown>;
  if (typeof key !== "string" || typeof part !== "number" || typeof parts !== "number") return undefined;
  return { key, part, parts, ready: ready !== false };
}

export interface Found {
  /** By part; a part that is not there is a hole. */
  readonly refs: (MessageRef | undefined)[];
  readonly parts: number;
  readonly ready: boolean;
}

/** Reads back what of `message` is in its conversation, newest pages first, no further than the window. */
export async function findSent(reads: SlackReads, message: Outbound, nowMs: number): Promise<Found> {
  const wanted = deliveryKey(message.key);
  const { chatId, threadId } = message.route;
  const oldest = ((nowMs - limits.RECONCILE_WINDOW_MS) / 1000).toFixed(6);
  const refs: (MessageRef | undefined)[] = [];
  let parts = 1;
  let ready = true;
  let cursor: string | undefined;
  for (let page = 0; page < limits.RECONCILE_PAGES; page++) {
    const query = {
      channel: chatId,
      oldest,
      limit: limits.RECONCILE_PAGE_SIZE,
      include_all_metadata: true,
      ...(cursor === undefined ? {} : { cursor }),
    };
    const result =
      threadId === undefined ? await reads.history(query) : await reads.replies({ ...query, ts: threadId });
    for (const candidate of result.messages ?? []) {
      const mark = readMark((candidate as { metadata?: unknown }).metadata);
      if (mark?.key !== wanted || candidate.ts === undefined) continue;
      refs[mark.part] = refOf(message, candidate.ts);
      parts = mark.parts;
      ready &&= mark.ready;
    }
    cursor = result.response_metadata?.next_cursor;
    if (cursor === undefined || cursor === "") break;
  }
  return { refs, parts, ready };
}

/**
 * Whether this file is below `ref`. A file can carry no mark, but what is sent to one conversation is sent in order: one of
 * this name that came after the message came with it.
 */
export async function isAttached(
  reads: SlackReads,
  ref: MessageRef,
  name: string,
  botUserId: string,
): Promise<boolean> {
  let cursor: string | undefined;
  for (let page = 0; page < limits.RECONCILE_PAGES; page++) {
    const result = await reads.replies({
      channel: ref.chatId,
      ts: ref.threadId ?? ref.messageId,
      oldest: ref.messageId,
      limit: limits.RECONCILE_PAGE_SIZE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const isThere = (result.messages ?? []).some(
      ({ ts, user, files }) =>
        ts !== undefined &&
        ts > ref.messageId &&
        user === botUserId &&
        (files as { readonly name?: string }[] | undefined)?.some((file) => file.name === name) === true,
    );
    if (isThere) return true;
    cursor = result.response_metadata?.next_cursor;
    if (cursor === undefined || cursor === "") return false;
  }
  return false;
}

export function refOf(message: Outbound, messageId: string): MessageRef {
  const { accountId, chatId, threadId } = message.route;
  return { channel: "slack", accountId, chatId, messageId, ...(threadId === undefined ? {} : { threadId }) };
}
