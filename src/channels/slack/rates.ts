/**
 * How much Slack takes: a message a second per channel with short bursts and some hundreds a minute per workspace, other
 * methods by their tier: docs.slack.dev/apis/web-api/rate-limits. Pure.
 */
import type { Lane } from "../pacing/send-budget.ts";

export interface SlackRates {
  /** Messages a second in one channel. */
  readonly channelPerSecond: number;
  /** So many of them may come at once. */
  readonly channelBurst: number;
  /** `chat.update` a minute in the whole workspace (tier 3). */
  readonly editsPerMinute: number;
  /** Messages a minute in the whole workspace. */
  readonly totalPerMinute: number;
}

export const DEFAULT_RATES: SlackRates = {
  channelPerSecond: 1,
  channelBurst: 5,
  editsPerMinute: 50,
  totalPerMinute: 300,
};

/** docs.slack.dev/apis/web-api/rate-limits: calls a minute of one method of that tier in one workspace, at least. */
const TIER_4_PER_MINUTE = 100;
/** Of the edits live changes leave this share for cards that change for good. */
const KEPT_SHARE = 1 / 3;

export function messageLanes(rates: SlackRates, channelId: string): Lane[] {
  const { channelBurst, channelPerSecond, totalPerMinute } = rates;
  return [
    { key: `post|${channelId}`, rates: [{ count: channelBurst, perMs: (channelBurst * 1_000) / channelPerSecond }] },
    { key: "post", rates: [{ count: totalPerMinute, perMs: 60_000 }] },
  ];
}

export function editLanes({ editsPerMinute }: SlackRates): Lane[] {
  const keep = Math.max(1, Math.floor(editsPerMinute * KEPT_SHARE));
  return [{ key: "edit", rates: [{ count: editsPerMinute, perMs: 60_000, keep }] }];
}

/** `chat.postEphemeral`, and answers to a press or command, which are counted as if they were. */
export const PRIVATE_LANES: readonly Lane[] = [
  { key: "private", rates: [{ count: TIER_4_PER_MINUTE, perMs: 60_000 }] },
];

/** `files.getUploadURLExternal` and `files.completeUploadExternal`, one of each per file. */
export const FILE_LANES: readonly Lane[] = [{ key: "file", rates: [{ count: TIER_4_PER_MINUTE, perMs: 60_000 }] }];
