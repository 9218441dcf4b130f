/**
 * A socket that looks open and hands nothing on (openclaw 122624). Silence alone proves nothing, so after a while without
 * any event Slack is asked what was said in the channels heard last. Words there that were never handed on say that the
 * socket is deaf, and are taken from there: Slack may send them again, under the same ids, or give up on them.
 */
import { type ChannelLog, describeError } from "../adapter-deps.ts";
import { NotYet } from "../pacing/paced.ts";
import { Recent } from "../recent.ts";
import type { Redactor } from "../text/redact.ts";
import { isTs } from "./inbound.ts";
import { CATCH_UP_MS, DEAF_GRACE_MS, DEAF_PLACES, DEAF_READ } from "./limits.ts";
import type { SlackReads } from "./reads.ts";

const MAX_PLACES = 50;

interface Heard {
  readonly channel: string;
  readonly channelType: string | undefined;
  readonly lastTs: string;
}

/** The newest message of each channel that was heard. Outlives connections. */
export class HeardChannels {
  readonly #places = new Recent<Heard>(MAX_PLACES);

  /** Any message event, whoever wrote it. Replies in a thread stand elsewhere. */
  note(event: unknown): void {
    const { channel, channel_type: type, ts, thread_ts: threadTs } = (event ?? {}) as Record<string, unknown>;
    if (typeof channel !== "string" || typeof ts !== "string" || !isTs(ts)) return;
    if (typeof threadTs === "string" && threadTs !== ts) return;
    const known = this.#places.get(channel);
    const lastTs = known && Number(known.lastTs) > Number(ts) ? known.lastTs : ts;
    this.#places.set(channel, { channel, channelType: typeof type === "string" ? type : known?.channelType, lastTs });
  }

  newest(count: number): readonly Heard[] {
    return this.#places.newest().slice(0, count);
  }
}

export interface DeafnessOptions {
  readonly reads: SlackReads;
  readonly heard: HeardChannels;
  readonly selfUserId: string;
  readonly now: () => number;
  readonly log: ChannelLog;
  readonly redactor: Redactor;
}

/** Message events that never arrived, oldest first; none: the socket is well, or it can not be told. */
export async function missedMessages(options: DeafnessOptions): Promise<readonly object[]> {
  const { reads, heard, selfUserId, now, log, redactor } = options;
  const nowS = now() / 1_000;
  const missed: { readonly ts: string }[] = [];
  for (const { channel, channelType, lastTs } of heard.newest(DEAF_PLACES)) {
    const oldest = String(Math.max(Number(lastTs), nowS - CATCH_UP_MS / 1_000).toFixed(6));
    try {
      const { messages = [] } = await reads.history({ channel, oldest, inclusive: false, limit: DEAF_READ });
      for (const message of messages) {
        const { ts, user, subtype } = message;
        if (ts === undefined || !isTs(ts) || Number(ts) <= Number(lastTs) || user === selfUserId) continue;
        // Not everything that stands in a channel comes as an event to everybody; what people say does. It may be on its way.
        if (subtype !== undefined || nowS - Number(ts) < DEAF_GRACE_MS / 1_000) continue;
        missed.push({
          ...message,
          ts,
          type: "message",
          channel,
          ...(channelType === undefined ? {} : { channel_type: channelType }),
        } as { readonly ts: string });
      }
    } catch (error) {
      if (error instanceof NotYet) continue;
      log.info({ channel, why: describeError(error, redactor) }, "Whether something was said there can not be asked");
    }
  }
  return missed.sort((a, b) => Number(a.ts) - Number(b.ts));
}
