/**
 * The channel port. One folder per platform implements it; nothing below this file knows a chat platform and
 * nothing in an adapter knows policy.
 */
import type { Card, PressAction } from "../core/cards.ts";
import type { MessageRef, Outbound, Recall, SendResult } from "../core/outbound.ts";
import type { Actor, ChannelId, Route } from "../core/route.ts";
import type { Wording } from "../core/words/phrase.ts";

export type { MessageRef, Outbound, Recall, SendResult };

export interface ChannelCapabilities {
  readonly buttons: boolean;
  readonly edit: boolean;
  readonly threads: boolean;
  readonly ephemeral: boolean;
  readonly files: boolean;
  /** UTF-16 units of one message. */
  readonly maxText: number;
  /** At least this long between two live edits of one message. 0: push every change. */
  readonly minEditMs: number;
  /** An edit does not notify: a long run's end is posted as a new message. */
  readonly editsAreSilent: boolean;
}

export interface ChannelStatus {
  readonly channel: ChannelId;
  readonly accountId: string;
  readonly state: "connected" | "connecting" | "stopped" | "failed";
  readonly detail?: Wording;
}

interface InboundBase {
  /** Dedupe key, unique per channel account: platform event id, update id, client message id. */
  readonly id: string;
  readonly route: Route;
  readonly actor: Actor;
  readonly receivedAtMs: number;
  /** True when the bot was addressed (mention, DM, reply): groups may require it. */
  readonly addressed: boolean;
  /** Other people are mentioned and the bot is not: rooms may leave such messages to them. */
  readonly mentionsOthers?: boolean;
  /**
   * The platform may have cut what was typed and sent the rest as another message (Telegram above 4096 characters): a
   * command must not run from it.
   */
  readonly mayBeCut?: boolean;
  /** BCP 47 tag of the room's own language, where the platform tells it. */
  readonly roomLocale?: string;
}

export type Inbound =
  | (InboundBase & { readonly kind: "message"; readonly text: string })
  /** A native slash command; `args` is the raw rest of the text, never re-tokenised. */
  | (InboundBase & {
      readonly kind: "command";
      readonly name: string;
      readonly args: string;
      /** Also what would be for the asker alone is answered for everybody in the conversation. */
      readonly answersAll?: boolean;
    })
  | (InboundBase & { readonly kind: "press"; readonly action: PressAction; readonly ref?: MessageRef });

/** Handed to the adapter at start. Resolves once the event is durably taken; only then may a platform be told so. */
export type Ingress = (event: Inbound) => Promise<void>;

export type RequestSign = "waiting" | "working" | "over";

export interface Channel {
  readonly id: ChannelId;
  readonly accountId: string;
  readonly capabilities: ChannelCapabilities;
  start(ingress: Ingress): Promise<void>;
  stop(): Promise<void>;
  status(): ChannelStatus;
  /** Whether cards on this route have their buttons now. Absent: as `capabilities.buttons` says. */
  buttonsOn?(route: Route): boolean;
  send(message: Outbound): Promise<SendResult>;
  edit(ref: MessageRef, message: Outbound): Promise<SendResult>;
  /**
   * The live tail of a running card: best effort, never stored. Resolves to false when the platform's rates leave no room
   * now; the caller comes back with the newest state.
   */
  live?(ref: MessageRef, card: Card, locale: string): Promise<boolean>;
  /**
   * How many messages, the bot's own included, stand below this one in its conversation (its thread or topic by itself),
   * at most `atMost`. `remembered`: only from what passed by; `asked`: the platform is asked when that does not tell.
   * `undefined`: nobody can tell.
   */
  below?(ref: MessageRef, atMost: number, how: Recall): Promise<number | undefined>;
  /** Shows for a few seconds that an answer is being made. Absent: the platform has nothing like it. */
  typing?(route: Route): Promise<void>;
  /**
   * What became of a request that was asked in this conversation: it waits for somebody's decision (told again every minute
   * while it does), its command goes on, or nothing comes of it. Absent: the platform has nothing that shows it.
   */
  requestSign?(route: Route, requestId: string, sign: RequestSign): Promise<void>;
  /** Who is in a group of people that the platform keeps. Absent: it has none. Rejects while it can not be told. */
  groupMembers?(groupId: string): Promise<readonly string[]>;
  /** Whether a person may see a channel. Absent: the platform does not say. Rejects while it can not be told. */
  maySee?(personId: string, channelId: string): Promise<boolean>;
  /** After an `unknown` send: was it delivered? */
  reconcile?(message: Outbound): Promise<MessageRef | undefined>;
}
