/** The messages of one chat as the gateway tells them, in order and each in its newest form. Pure. */
import type { Card } from "../core/cards.ts";
import type { ChatEntry } from "../protocol/frames.ts";

export interface Message {
  readonly messageId: string;
  /** Place in the conversation. */
  readonly order: number;
  /** The change that gave this form. */
  readonly seq: number;
  /** When the message was first said, as far as this page has seen it. */
  readonly atMs: number;
  readonly card: Card;
}

export interface Conversation {
  /** By `order`. */
  readonly messages: readonly Message[];
  /** Every change up to here is in. */
  readonly seq: number;
  readonly hasOlder: boolean;
}

export const EMPTY: Conversation = { messages: [], seq: 0, hasOlder: false };

/** Index of the first message whose order is not below `order`. */
function place(messages: readonly Message[], order: number): number {
  let [low, high] = [0, messages.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((messages[middle]?.order ?? 0) < order) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Takes in entries in any order; older forms of a message never replace newer ones. */
export function withEntries(conversation: Conversation, entries: readonly ChatEntry[]): Conversation {
  if (entries.length === 0) return conversation;
  const messages = [...conversation.messages];
  let seq = conversation.seq;
  for (const entry of entries) {
    seq = Math.max(seq, entry.seq);
    const at = place(messages, entry.order);
    const known = messages[at];
    if (known === undefined || known.order !== entry.order) {
      const { messageId, order, card, atMs } = entry;
      messages.splice(at, 0, { messageId, order, seq: entry.seq, atMs, card });
    } else if (entry.seq > known.seq) {
      messages[at] = { ...known, seq: entry.seq, card: entry.card };
    } else if (entry.seq < known.seq) {
      messages[at] = { ...known, atMs: Math.min(known.atMs, entry.atMs) };
    }
  }
  return { ...conversation, messages, seq };
}

/** The live tail of a running card. Comes after the fact and unordered: never touches a card that has ended. */
export function withLive(conversation: Conversation, messageId: string, card: Card): Conversation {
  const at = conversation.messages.findLastIndex((message) => message.messageId === messageId);
  const known = conversation.messages[at];
  if (known === undefined || card.kind !== "run" || card.state !== "running") return conversation;
  if (known.card.kind !== "run" || known.card.state !== "running") return conversation;
  const messages = [...conversation.messages];
  messages[at] = { ...known, card };
  return { ...conversation, messages };
}

/** A card that asks somebody something and has no answer yet. */
export function isWaiting(card: Card): boolean {
  if (card.kind === "approval") return card.state === "pending";
  return card.kind === "text" && (card.actions ?? []).length > 0;
}

/** Messages that wait for an answer, oldest first. */
export function waiting(conversation: Conversation): readonly Message[] {
  return conversation.messages.filter(({ card }) => isWaiting(card));
}

/** What was typed here before, oldest first, each text once in a row. */
export function saidTexts(conversation: Conversation): readonly string[] {
  const texts: string[] = [];
  for (const { card } of conversation.messages) {
    if (card.kind === "said" && card.text !== texts.at(-1)) texts.push(card.text);
  }
  return texts;
}
