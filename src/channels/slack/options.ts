/** What one Slack account is made from. */

import type { ChannelStatus } from "../channel.ts";
import type { ReconnectLimits } from "../pacing/reconnects.ts";
import type { Backoff } from "./connection.ts";
import type { ReplyToMode } from "./inbound.ts";
import type { ImplicitMentions } from "./listeners.ts";
import type { SlackRates } from "./rates.ts";

export type SlackMode =
  /** `appToken` (`xapp-…`) needs the scope `connections:write`. */
  | { readonly kind: "socket"; readonly appToken: string }
  /** Requests arrive at the channel's `requestListener`, or on an own port when `listen` is set. */
  | {
      readonly kind: "http";
      readonly signingSecret: string;
      /** Default `/slack/events`. One path serves events, interactivity and slash commands. */
      readonly path?: string;
      /** Largest request body in bytes; larger ones are answered 413. Default 1 MiB. */
      readonly maxBodyBytes?: number;
      readonly listen?: { readonly host: string; readonly port: number };
    };

export interface SlackOptions {
  readonly accountId: string;
  /** `xoxb-…` */
  readonly botToken: string;
  readonly mode: SlackMode;
  /** By conversation; default `off` everywhere. */
  readonly replyToMode?: (chatId: string) => ReplyToMode;
  /** Default: both. */
  readonly implicitMentions?: ImplicitMentions;
  /** Report what other bots say, for rooms that answer bots. Default no; the bot itself is never reported. */
  readonly allowBots?: () => boolean;
  /** Slash command that takes any other as its text. Default `openclaw`; `false`: there is none. */
  readonly wrapper?: string | false;
  /** What the wrapper answers is for everybody in the conversation. Default for the sender alone. */
  readonly wrapperAnswersAll?: boolean;
  /** Longest text of one message in characters, within Slack's own limit; longer text is split. */
  readonly textChunkLimit?: number;
  /** Web API root, for a proxy. Default Slack's own. */
  readonly apiUrl?: string;
  readonly rates?: SlackRates;
  /** How many gateways call with this token now: they share its limits out. Default one. */
  readonly gateways?: () => number;
  readonly reconnect?: Backoff;
  readonly pingTimeoutMs?: number;
  /** After how long without any event it is asked whether the socket is deaf. Default two minutes. */
  readonly silentMs?: number;
  readonly reconnects?: ReconnectLimits;
  /** Called on every change of the channel's status. */
  readonly onStatus?: (status: ChannelStatus) => void;
}
