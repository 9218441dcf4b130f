/** A Slack workspace in memory: people, conversations, messages, files. Ids and timestamps look like Slack's own. */
import { createHash } from "node:crypto";

export interface SlackUser {
  readonly id: string;
  readonly name: string;
  readonly realName: string;
  readonly locale: string;
  readonly isBot: boolean;
}

export type ConversationKind = "channel" | "private" | "mpim" | "im";

export interface Conversation {
  readonly id: string;
  readonly name: string;
  readonly kind: ConversationKind;
  readonly members: Set<string>;
  archived: boolean;
}

export interface SlackFile {
  readonly id: string;
  readonly name: string;
  readonly expectedLength: number;
  bytes?: Buffer;
  completed: boolean;
}

export interface SlackMessage {
  readonly ts: string;
  readonly channel: string;
  readonly user: string;
  readonly threadTs?: string;
  text: string;
  blocks: readonly Record<string, unknown>[];
  metadata?: { readonly event_type: string; readonly event_payload: Record<string, unknown> };
  files: readonly SlackFile[];
  /** Only this user sees it. */
  readonly onlyFor?: string;
  edited: boolean;
  deleted: boolean;
  /** Every earlier state, oldest first. */
  readonly history: { readonly text: string; readonly blocks: readonly Record<string, unknown>[] }[];
  readonly reactions: Map<string, Set<string>>;
}

export const TEAM = { id: "T0ACMECORP", name: "Acme", domain: "acme" } as const;
export const APP_ID = "A0OPENCLAW";
export const BOT: SlackUser = {
  id: "U0OPENCLAW",
  name: "openclaw",
  realName: "openclaw",
  locale: "en-US",
  isBot: true,
};
export const BOT_ID = "B0OPENCLAW";

const PEOPLE: readonly SlackUser[] = [
  { id: "U0ALICENG", name: "alice", realName: "Alice Ng", locale: "en-US", isBot: false },
  { id: "U0BRAMWIT", name: "bram", realName: "Bram de Wit", locale: "nl-NL", isBot: false },
  { id: "U0LINHTRAN", name: "linh", realName: "Linh Tran", locale: "vi-VN", isBot: false },
];

export class Workspace {
  readonly users = new Map<string, SlackUser>();
  readonly conversations = new Map<string, Conversation>();
  readonly files = new Map<string, SlackFile>();
  readonly userGroups = new Map<string, { readonly handle: string; readonly members: readonly string[] }>();
  messages: SlackMessage[] = [];
  private lastTs = 0;
  private serial = 0;
  private readonly now: () => number;

  constructor(now: () => number) {
    this.now = now;
    this.seed();
  }

  reset(): void {
    this.lastTs = 0;
    this.statuses.clear();
    this.users.clear();
    this.conversations.clear();
    this.files.clear();
    this.userGroups.clear();
    this.messages = [];
    this.seed();
  }

  private seed(): void {
    for (const user of [BOT, ...PEOPLE]) this.users.set(user.id, user);
    const everyone = PEOPLE.map((user) => user.id);
    this.addConversation("C0GENERAL", "general", "channel", [...everyone, BOT.id]);
    this.addConversation("C0OPSROOM", "ops", "channel", [...everyone, BOT.id]);
    this.addConversation("C0RANDOM1", "random", "channel", everyone);
    this.addConversation("C0SECRET1", "secret", "private", ["U0ALICENG", BOT.id]);
    this.addConversation("G0TRIOGRP", "mpdm-alice--bram--openclaw-1", "mpim", ["U0ALICENG", "U0BRAMWIT", BOT.id]);
    for (const user of PEOPLE) this.openIm(user.id);
  }

  addConversation(id: string, name: string, kind: ConversationKind, members: readonly string[]): Conversation {
    const conversation: Conversation = { id, name, kind, members: new Set(members), archived: false };
    this.conversations.set(id, conversation);
    return conversation;
  }

  openIm(user: string): Conversation {
    const id = `D0${user.slice(2)}`;
    return (
      this.conversations.get(id) ?? this.addConversation(id, this.users.get(user)?.name ?? user, "im", [user, BOT.id])
    );
  }

  /** `seconds.microseconds`, unique and growing. Slack documents it as the message's id within its channel. */
  newTs(): string {
    const micros = Math.max(Math.floor(this.now() * 1000), this.lastTs + 1);
    this.lastTs = micros;
    return `${Math.floor(micros / 1e6)}.${String(micros % 1e6).padStart(6, "0")}`;
  }

  newId(prefix: string): string {
    this.serial += 1;
    const digest = createHash("sha256").update(`${prefix}${this.serial}`).digest("hex").slice(0, 6).toUpperCase();
    return `${prefix}0${String(this.serial).padStart(4, "0")}${digest}`;
  }

  add(message: {
    readonly channel: string;
    readonly user: string;
    readonly text: string;
    readonly threadTs?: string;
    readonly blocks?: readonly Record<string, unknown>[];
    readonly metadata?: NonNullable<SlackMessage["metadata"]>;
    readonly files?: readonly SlackFile[];
    readonly onlyFor?: string;
  }): SlackMessage {
    const { channel, user, text, threadTs, metadata, onlyFor } = message;
    const full: SlackMessage = {
      ts: this.newTs(),
      channel,
      user,
      text,
      blocks: message.blocks ?? [],
      files: message.files ?? [],
      edited: false,
      deleted: false,
      history: [],
      reactions: new Map(),
      ...(threadTs === undefined ? {} : { threadTs }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(onlyFor === undefined ? {} : { onlyFor }),
    };
    this.messages.push(full);
    if (user === BOT.id && threadTs !== undefined && onlyFor === undefined) this.setStatus(channel, threadTs, "");
    return full;
  }

  /** What stands under a thread while the app works on an answer; its answer takes it away. */
  readonly statuses = new Map<string, string>();

  setStatus(channel: string, threadTs: string, status: string): void {
    if (status === "") this.statuses.delete(`${channel}|${threadTs}`);
    else this.statuses.set(`${channel}|${threadTs}`, status);
  }

  edit(message: SlackMessage, next: Partial<Pick<SlackMessage, "text" | "blocks" | "metadata">>): void {
    message.history.push({ text: message.text, blocks: message.blocks });
    Object.assign(message, next);
    message.edited = true;
  }

  find(channel: string, ts: string): SlackMessage | undefined {
    return this.messages.find((message) => message.channel === channel && message.ts === ts && !message.deleted);
  }

  /** What `user` sees in a conversation, in order, each thread below its root. */
  visibleTo(user: string, channel: string): SlackMessage[] {
    const seen = this.messages.filter(
      (message) =>
        message.channel === channel && !message.deleted && (message.onlyFor === undefined || message.onlyFor === user),
    );
    const roots = seen.filter((message) => message.threadTs === undefined || message.threadTs === message.ts);
    const orphans = seen.filter(
      (message) => message.threadTs !== undefined && !roots.some((root) => root.ts === message.threadTs),
    );
    return [
      ...roots.flatMap((root) => [root, ...seen.filter((m) => m.threadTs === root.ts && m !== root)]),
      ...orphans,
    ];
  }
}
