/**
 * How much Discord takes: its buckets are announced with every answer and kept by the library, which refuses a call
 * before Discord has to. These are the buckets as they have been for years, so that nothing even comes to that, and the
 * limit of the bot as a whole: discord.com/developers/docs/topics/rate-limits#global-rate-limit. Pure.
 */
import type { Lane } from "../pacing/send-budget.ts";

export interface DiscordRates {
  /** Messages within five seconds in one channel; as many edits. */
  readonly channelPerFiveSeconds: number;
  /** Calls a second in all. */
  readonly totalPerSecond: number;
}

export const DEFAULT_RATES: DiscordRates = { channelPerFiveSeconds: 5, totalPerSecond: 50 };

/** Live changes leave this much of a channel's edits, and of the total, for what must be shown. */
const KEPT_EDITS = 2;
const KEPT_SHARE = 1 / 4;

export function lanesOf(rates: DiscordRates, place: string, doing: "send" | "edit"): Lane[] {
  const { channelPerFiveSeconds, totalPerSecond } = rates;
  return [
    {
      key: `${doing}|${place}`,
      rates: [
        {
          count: channelPerFiveSeconds,
          perMs: 5_000,
          keep: Math.max(0, Math.min(KEPT_EDITS, channelPerFiveSeconds - 1)),
        },
      ],
    },
    {
      key: "all",
      rates: [{ count: totalPerSecond, perMs: 1_000, keep: Math.max(1, Math.floor(totalPerSecond * KEPT_SHARE)) }],
    },
  ];
}
