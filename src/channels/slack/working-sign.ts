/**
 * Shows that an answer is being made, or that a request waits for somebody's decision (channels.md 5.3). In a thread that is Slack's own status under it, which goes by itself when the answer
 * comes or after two minutes; elsewhere a reaction on the message that is being answered. Best effort: it is never waited
 * for, takes only what is left of the rates, and where the app may not do it, it is left out.
 */
import type { webApi } from "@slack/bolt";
import type { Route } from "../../core/route.ts";
import { type ChannelLog, describeError } from "../adapter-deps.ts";
import type { RequestSign } from "../channel.ts";
import type { SendBudget } from "../pacing/send-budget.ts";
import { Recent } from "../recent.ts";
import type { Redactor } from "../text/redact.ts";
import { isTs, placeOf } from "./inbound.ts";
import { platformError } from "./outcome.ts";
import { reactionLanes, statusLanes } from "./rates.ts";

const WORKING_REACTION = "eyes";
/** docs.slack.dev/reference/methods/assistant.threads.setStatus: it is gone after two minutes. */
const STATUS_AGAIN_MS = 60_000;
const STATUS_GONE_MS = 120_000;
/** An empty text clears it. */
const NO_STATUS = "";
/** Who makes an answer says so every few seconds; silence for this long means that nobody does any more. */
const SILENT_MS = 20_000;
const MAX_PLACES = 1_000;

/** Answers that no later try changes: the app was installed with fewer scopes, or the workspace has no such thing. */
const NOT_FOR_US: ReadonlySet<string> = new Set([
  "missing_scope",
  "not_allowed_token_type",
  "unknown_method",
  "access_denied",
]);

interface Reaction {
  readonly channel: string;
  readonly timestamp: string;
  timer: NodeJS.Timeout;
}

export interface WorkingSignOptions {
  readonly client: webApi.WebClient;
  readonly budget: SendBudget;
  readonly gateways: () => number;
  readonly monotonic: () => number;
  readonly log: ChannelLog;
  readonly redactor: Redactor;
  /** What the status says while an answer is made, and while a request waits. */
  readonly working: string;
  readonly waiting: string;
}

interface Waiting {
  readonly channelId: string;
  readonly threadTs: string;
  /** Requests, and until when each counts: who follows them says so again before that. */
  readonly until: Map<string, number>;
}

type Way = "status" | "reaction";

export class WorkingSign {
  private readonly options: WorkingSignOptions;
  private readonly saidAt = new Recent<number>(MAX_PLACES);
  private readonly reactions = new Map<string, Reaction>();
  private readonly refused = new Set<Way>();
  private readonly waiting = new Recent<Waiting>(MAX_PLACES);
  /** Threads whose status tells of a command that was allowed and goes on. */
  private readonly goingOn = new Recent<true>(MAX_PLACES);

  constructor(options: WorkingSignOptions) {
    this.options = options;
  }

  async show(route: Route): Promise<void> {
    if (isTs(route.threadId)) await this.showStatus(route.chatId, route.threadId);
    else if (isTs(route.replyToId)) await this.react(placeOf(route), route.chatId, route.replyToId);
  }

  /** Only threads have a sign for it. */
  async request(route: Route, requestId: string, sign: RequestSign): Promise<void> {
    if (!isTs(route.threadId)) return;
    const place = placeOf(route);
    if (sign === "waiting") {
      const { until } = this.waiting.getOrAdd(place, () => ({
        channelId: route.chatId,
        threadTs: route.threadId as string,
        until: new Map(),
      }));
      until.set(requestId, this.options.monotonic() + STATUS_GONE_MS);
      await this.setStatus(route.chatId, route.threadId, this.options.waiting);
      return;
    }
    this.waiting.get(place)?.until.delete(requestId);
    if (this.isWaiting(place)) return;
    this.waiting.delete(place);
    this.saidAt.delete(place);
    if (sign === "working") this.goingOn.set(place, true);
    await this.setStatus(route.chatId, route.threadId, sign === "working" ? this.options.working : NO_STATUS);
  }

  /** What was allowed has ended, and an edit says so. */
  async ended(place: string): Promise<void> {
    const [channelId, threadTs] = place.split("|");
    if (!this.goingOn.has(place) || this.isWaiting(place) || channelId === undefined || threadTs === undefined) return;
    this.goingOn.delete(place);
    await this.setStatus(channelId, threadTs, NO_STATUS);
  }

  /** The answer is there; Slack takes a thread's status away with it. */
  async answered(place: string): Promise<void> {
    this.saidAt.delete(place);
    this.goingOn.delete(place);
    const waiting = this.waiting.get(place);
    // A card or a sentence about the request does not end the waiting.
    if (waiting && this.isWaiting(place)) {
      await this.setStatus(waiting.channelId, waiting.threadTs, this.options.waiting);
    }
    const reaction = this.reactions.get(place);
    if (reaction) await this.takeBack(place, reaction);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.reactions].map(([place, reaction]) => this.takeBack(place, reaction)));
  }

  private async showStatus(channelId: string, threadTs: string): Promise<void> {
    const place = placeOf({ chatId: channelId, threadId: threadTs });
    if (this.isWaiting(place)) return;
    const now = this.options.monotonic();
    if (now - (this.saidAt.get(place) ?? Number.NEGATIVE_INFINITY) < STATUS_AGAIN_MS) return;
    this.saidAt.set(place, now);
    await this.setStatus(channelId, threadTs, this.options.working);
  }

  private isWaiting(place: string): boolean {
    const now = this.options.monotonic();
    return [...(this.waiting.get(place)?.until.values() ?? [])].some((untilMs) => now < untilMs);
  }

  private async setStatus(channelId: string, threadTs: string, status: string): Promise<void> {
    const { client, gateways } = this.options;
    await this.tried("status", statusLanes(gateways()), () =>
      client.assistant.threads.setStatus({ channel_id: channelId, thread_ts: threadTs, status }),
    );
  }

  private async react(place: string, channel: string, timestamp: string): Promise<void> {
    const known = this.reactions.get(place);
    if (known?.timestamp === timestamp) {
      known.timer.refresh();
      return;
    }
    if (known) await this.takeBack(place, known);
    const reaction: Reaction = {
      channel,
      timestamp,
      timer: setTimeout(() => void this.takeBack(place, reaction), SILENT_MS),
    };
    reaction.timer.unref();
    this.reactions.set(place, reaction);
    const { client, gateways } = this.options;
    await this.tried("reaction", reactionLanes(gateways()), () =>
      client.reactions.add({ channel, timestamp, name: WORKING_REACTION }),
    );
  }

  private async takeBack(place: string, { channel, timestamp, timer }: Reaction): Promise<void> {
    clearTimeout(timer);
    if (this.reactions.get(place)?.timestamp === timestamp) this.reactions.delete(place);
    if (this.refused.has("reaction")) return;
    // One that was never set is no trouble: Slack answers no_reaction.
    const done = this.options.budget.charge(reactionLanes(this.options.gateways()));
    await this.options.client.reactions
      .remove({ channel, timestamp, name: WORKING_REACTION })
      .catch(() => {})
      .finally(done);
  }

  private async tried(way: Way, lanes: ReturnType<typeof statusLanes>, call: () => Promise<unknown>): Promise<void> {
    if (this.refused.has(way)) return;
    const permit = this.options.budget.tryNow(lanes);
    if (permit.kind === "wait") return;
    try {
      await call();
    } catch (error) {
      if (!NOT_FOR_US.has(platformError(error) ?? "")) return;
      this.refused.add(way);
      const why = describeError(error, this.options.redactor);
      this.options.log.info({ why, way }, "Slack does not let the app show that it works on an answer");
    } finally {
      permit.done();
    }
  }
}
