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
const PER_MINUTE = { tier2: 20, tier3: 50, tier4: 100 } as const;
type Tier = keyof typeof PER_MINUTE;

/** What is asked of Slack, with the tier that its reference page names. */
export const READ_METHODS = {
  "conversations.history": "tier3",
  "conversations.replies": "tier3",
  "conversations.open": "tier3",
  "users.info": "tier4",
  "usergroups.users.list": "tier2",
} as const satisfies Readonly<Record<string, Tier>>;
export type ReadMethod = keyof typeof READ_METHODS;

/** Several gateways that call with one token share its limits out among them. */
function shareOf(count: number, gateways: number): number {
  return Math.max(1, Math.floor(count / Math.max(1, gateways)));
}

export function readLane(method: ReadMethod, tier: Tier, gateways: number): Lane {
  return { key: `read|${method}`, rates: [{ count: shareOf(PER_MINUTE[tier], gateways), perMs: 60_000 }] };
}

/** The part of an account's rates that one of so many gateways may use. */
export function sharedOut(rates: SlackRates, gateways: number): SlackRates {
  if (gateways <= 1) return rates;
  return {
    channelPerSecond: rates.channelPerSecond / gateways,
    channelBurst: shareOf(rates.channelBurst, gateways),
    editsPerMinute: shareOf(rates.editsPerMinute, gateways),
    totalPerMinute: shareOf(rates.totalPerMinute, gateways),
  };
}
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

/** `reactions.add` and `reactions.remove`. */
export function reactionLanes(gateways: number): readonly Lane[] {
  return [{ key: "reaction", rates: [{ count: shareOf(PER_MINUTE.tier3, gateways), perMs: 60_000 }] }];
}

/** `assistant.threads.setStatus` has a limit of its own, far above what is shown here. */
export function statusLanes(gateways: number): readonly Lane[] {
  return [{ key: "status", rates: [{ count: shareOf(PER_MINUTE.tier4, gateways), perMs: 60_000 }] }];
}

/** `chat.postEphemeral`, and answers to a press or command, which are counted as if they were. */
export function privateLanes(gateways: number): readonly Lane[] {
  return [{ key: "private", rates: [{ count: shareOf(PER_MINUTE.tier4, gateways), perMs: 60_000 }] }];
}

/** `files.getUploadURLExternal` and `files.completeUploadExternal`, one of each per file. */
export function fileLanes(gateways: number): readonly Lane[] {
  return [{ key: "file", rates: [{ count: shareOf(PER_MINUTE.tier4, gateways), perMs: 60_000 }] }];
}
