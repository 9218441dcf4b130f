/** One Bot API call to one chat, with the moves a chat can make under us. */
import { ExecError } from "../../core/errors.ts";
import type { Route } from "../../core/route.ts";
import type { ChannelLog } from "../adapter-deps.ts";
import { type Failure, failureOf } from "./errors.ts";
import { CALL_TIMEOUT_MS } from "./limits.ts";

/** Where calls go: a chat by its newest id, and a topic as long as it exists. */
export interface Target {
  chatId: string;
  threadId: number | undefined;
  /** Its topic does not exist any more; what is sent says so. */
  topicGone?: boolean;
  replyToId: number | undefined;
}

export class Failed extends Error {
  readonly failure: Failure;
  constructor(failure: Failure, cause: unknown) {
    super(failure.kind, { cause });
    this.failure = failure;
  }
}

/** Never rejects. */
export type OnMigrated = (fromChatId: string, toChatId: string) => Promise<void> | void;

export class Calls {
  readonly #log: ChannelLog;
  readonly #onMigrated: OnMigrated;
  readonly #newIds = new Map<string, string>();

  constructor(log: ChannelLog, onMigrated: OnMigrated) {
    this.#log = log;
    this.#onMigrated = onMigrated;
  }

  /**
   * A group became a supergroup: what is still addressed to the old id goes to the new one. Resolves when everything
   * else that names it has followed.
   */
  async migrated(from: string, to: string): Promise<void> {
    if (this.#newIds.get(from) === to) return;
    this.#newIds.set(from, to);
    await this.#onMigrated(from, to);
  }

  /** The chat's newest id. */
  currentId(chatId: string): string {
    return this.#newIds.get(chatId) ?? chatId;
  }

  /**
   * One call, with the two moves a chat can make under us: to a new id (followed once), and without its topic (the
   * message goes to the chat itself; better there than lost).
   *
   * @throws Failed
   */
  async run<T>(target: Target, work: (at: Target) => Promise<T>): Promise<T> {
    target.chatId = this.currentId(target.chatId);
    let attempts = 0;
    for (;;) {
      attempts += 1;
      try {
        return await work(target);
      } catch (error) {
        if (error instanceof ExecError) throw error;
        const failure = failureOf(error);
        if (failure.kind === "migrated" && attempts === 1) {
          await this.migrated(target.chatId, failure.toChatId);
          target.chatId = failure.toChatId;
          target.replyToId = undefined;
          continue;
        }
        if (failure.kind === "thread-gone" && target.threadId !== undefined) {
          this.#log.warn(
            { channel: "telegram", chatId: target.chatId, threadId: target.threadId },
            "The topic is gone; the message goes to the chat itself.",
          );
          target.threadId = undefined;
          target.topicGone = true;
          target.replyToId = undefined;
          continue;
        }
        throw new Failed(failure, error);
      }
    }
  }
}

/** General has id 1 and is addressed by leaving the topic out (tdlib/telegram-bot-api#854). */
export const GENERAL_TOPIC = "1";

export function targetOf(route: Route): Target {
  const topic = route.threadId === undefined || route.threadId === GENERAL_TOPIC ? undefined : Number(route.threadId);
  return {
    chatId: route.chatId,
    threadId: topic,
    replyToId: route.replyToId === undefined ? undefined : Number(route.replyToId),
  };
}

export function threadOf(at: Target) {
  return at.threadId === undefined ? {} : { message_thread_id: at.threadId };
}

export function replyOf(at: Target) {
  return at.replyToId === undefined
    ? {}
    : { reply_parameters: { message_id: at.replyToId, allow_sending_without_reply: true } };
}

export function timeout(): never {
  // The library's type names the signal of an older polyfill; Node's own is what it takes.
  return AbortSignal.timeout(CALL_TIMEOUT_MS) as never;
}
