/** Files below a message: the whole command of a card, the full log of a run. */
import type { webApi } from "@slack/bolt";
import type { OutboundFile } from "../../core/outbound.ts";
import { describeError } from "../adapter-deps.ts";
import type { MessageRef } from "../channel.ts";
import { readLogForChat } from "../log-file.ts";
import type { Redactor } from "../text/redact.ts";
import type { DirectChats } from "./direct-chats.ts";
import * as limits from "./limits.ts";
import { type Failure, failureOf } from "./outcome.ts";

export type DirectLog =
  | { readonly kind: "sent" }
  | { readonly kind: "empty" }
  | { readonly kind: "failed"; readonly why: string };

export class Uploads {
  private readonly client: webApi.WebClient;
  private readonly redactor: Redactor;
  private readonly directChats: DirectChats;

  constructor(client: webApi.WebClient, redactor: Redactor, directChats: DirectChats) {
    this.client = client;
    this.redactor = redactor;
    this.directChats = directChats;
  }

  /** Into the thread of the message it belongs to. `undefined`: done. */
  async attach(ref: MessageRef, name: string, content: string): Promise<Failure | undefined> {
    try {
      await this.client.filesUploadV2({
        channel_id: ref.chatId,
        thread_ts: ref.threadId ?? ref.messageId,
        filename: name,
        file: Buffer.from(content, "utf8"),
      });
      return undefined;
    } catch (error) {
      return failureOf(error);
    }
  }

  /** To one person alone: ephemeral messages hold no files, so it goes into their direct messages. */
  async sendLog(user: string, file: OutboundFile): Promise<DirectLog> {
    const log = await readLogForChat(file, this.redactor, limits.MAX_LOG_BYTES);
    if (log.kind === "unreadable") return { kind: "failed", why: log.why };
    if (log.kind === "empty") return log;
    try {
      await this.client.filesUploadV2({
        channel_id: await this.directChats.with(user),
        filename: file.name,
        file: Buffer.from(log.content, "utf8"),
      });
      return { kind: "sent" };
    } catch (error) {
      return { kind: "failed", why: describeError(error, this.redactor) };
    }
  }

  /** A log file, cleaned and masked. `undefined`: done; an empty log needs no file. */
  async attachLog(ref: MessageRef, file: OutboundFile): Promise<Failure | undefined> {
    const log = await readLogForChat(file, this.redactor, limits.MAX_LOG_BYTES);
    if (log.kind === "unreadable") return { kind: "permanent", code: log.why, why: log.why };
    return log.kind === "empty" ? undefined : this.attach(ref, log.name, log.content);
  }
}
