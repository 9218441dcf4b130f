/**
 * One message on its way out, and what became of it. Channels implement the sending; `core/events/deliveries.ts`
 * is the only caller.
 */
import type { Card } from "./cards.ts";
import type { Actor, ChannelId, Route } from "./route.ts";

/** Where a message ended up on the platform: enough to edit it later. */
export interface MessageRef {
  readonly channel: ChannelId;
  readonly accountId: string;
  readonly chatId: string;
  readonly messageId: string;
  readonly threadId?: string;
}

/** Where an answer about a conversation comes from: what passed by, or also a question to the platform. */
export type Recall = "remembered" | "asked";

/** How far a message that takes several calls has come. Kept, so that whoever goes on after a kill repeats at most the one call that was cut off. */
export interface Steps {
  /** `null`: a step that made nothing to refer to. */
  readonly done: Readonly<Record<string, MessageRef | null>>;
  /** Resolves once it is durable. */
  record(step: string, ref?: MessageRef): Promise<void>;
}

export interface Outbound {
  /** Idempotency: the same key never makes two messages. */
  readonly key: string;
  readonly route: Route;
  readonly card: Card;
  /** BCP 47 tag of the language that the card's sentences are in; what a channel adds to them is in the same one. */
  readonly locale?: string;
  /** Only this person sees it, where the platform can do that. */
  readonly onlyFor?: Actor;
  readonly file?: OutboundFile;
  readonly steps?: Steps;
  /** An earlier try was cut off and the platform can not be asked: what goes out first now may be there already, and says so. */
  readonly mayRepeat?: true;
}

/** A file to attach: a log on this machine's disk, or a text that travels with the message. */
export type OutboundFile =
  | { readonly name: string; readonly path: string }
  | { readonly name: string; readonly text: string };

/** Thrown by what asks a platform: nothing was asked, the time for it comes in `afterMs`. */
export class AskLater extends Error {
  override readonly name: string = "AskLater";
  readonly afterMs: number;
  constructor(afterMs: number, message = `to be asked in ${afterMs} ms`) {
    super(message);
    this.afterMs = afterMs;
  }
}

export type SendResult =
  | { readonly kind: "sent"; readonly ref: MessageRef }
  /**
   * Come back after a time that the platform or our own send rate names. Nothing was sent, or with `partial` the parts
   * before: the next send of the same key goes on behind them.
   */
  | { readonly kind: "retry"; readonly afterMs: number; readonly why: string; readonly partial?: true }
  /** It may or may not have been sent: reconcile, never blindly resend. */
  | { readonly kind: "unknown"; readonly why: string }
  /** Trying again can not help (chat gone, bot blocked). */
  | { readonly kind: "permanent"; readonly why: string };
