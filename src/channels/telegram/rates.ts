/**
 * How much Telegram takes. One message a second per chat with short bursts, twenty a minute per group, thirty a second in
 * all: core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this. Edits have no published limit; a group's
 * count against its twenty, since there they are refused too (openclaw 141528). Pure.
 */
import type { Lane } from "../pacing/send-budget.ts";

export interface TelegramRates {
  /** Messages a second to one chat. */
  readonly chatPerSecond: number;
  /** So many of them may come at once. */
  readonly chatBurst: number;
  /** Messages and edits a minute in one group. */
  readonly groupPerMinute: number;
  /** Messages and edits a second in all. */
  readonly totalPerSecond: number;
}

export const DEFAULT_RATES: TelegramRates = { chatPerSecond: 1, chatBurst: 5, groupPerMinute: 20, totalPerSecond: 30 };

/** So many places of a chat's burst, and this share of the rest, live changes leave for what must be shown. */
const KEPT_IN_CHAT = 2;
const KEPT_SHARE = 1 / 4;
const kept = (count: number): number => Math.max(1, Math.floor(count * KEPT_SHARE));

export function lanesOf(rates: TelegramRates, chatId: string, doing: "send" | "edit"): Lane[] {
  const { chatPerSecond, chatBurst, groupPerMinute, totalPerSecond } = rates;
  const isGroup = chatId.startsWith("-");
  return [
    {
      key: `${doing}|${chatId}`,
      rates: [
        { count: chatBurst, perMs: (chatBurst * 1_000) / chatPerSecond, keep: Math.min(KEPT_IN_CHAT, chatBurst - 1) },
      ],
    },
    ...(isGroup
      ? [{ key: `group|${chatId}`, rates: [{ count: groupPerMinute, perMs: 60_000, keep: kept(groupPerMinute) }] }]
      : []),
    { key: "all", rates: [{ count: totalPerSecond, perMs: 1_000, keep: kept(totalPerSecond) }] },
  ];
}
