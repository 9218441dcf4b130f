/** The state of the emulated Discord: users, guilds, channels, threads, messages, commands. Nothing here speaks HTTP. */
import { createHash } from "node:crypto";
import type { APIAttachment, APIChannel, APIMessage, APIMessageTopLevelComponent, APIUser } from "discord.js";
import { type CommandBody, FLAG_EPHEMERAL } from "./validate.ts";

export interface DiscordPerson {
  readonly id: string;
  readonly username: string;
  readonly locale: string;
  /** Takes direct messages from the bot; when false a DM fails with 50007. */
  acceptsDms: boolean;
  readonly isBot: boolean;
  /** Ids, of whatever guild. */
  readonly roles: Set<string>;
}

export interface Overwrite {
  readonly id: string;
  /** 0: a role, 1: a member. */
  readonly type: 0 | 1;
  readonly allow: string;
  readonly deny: string;
}

export interface StoredFile {
  readonly id: string;
  readonly name: string;
  readonly bytes: Buffer;
  readonly sha256: string;
}

export interface StoredMessage {
  readonly id: string;
  readonly channelId: string;
  readonly authorId: string;
  readonly atMs: number;
  readonly webhook: boolean;
  content: string;
  components: readonly APIMessageTopLevelComponent[];
  flags: number;
  files: readonly StoredFile[];
  mentions: readonly string[];
  readonly replyToId?: string;
  readonly nonce?: string;
  readonly interactionId?: string;
  /** Ephemeral: the one person who sees it. */
  readonly onlyForId?: string;
  editedAtMs?: number;
  readonly history: string[];
  deleted: boolean;
}

export interface ChannelState {
  readonly id: string;
  readonly kind: "text" | "thread" | "dm" | "forum";
  readonly name: string;
  readonly guildId?: string;
  readonly parentId?: string;
  readonly recipientId?: string;
  /** The bot may write here. */
  writable: boolean;
  readonly messages: StoredMessage[];
  readonly overwrites: Overwrite[];
}

export interface GuildState {
  readonly id: string;
  readonly name: string;
  readonly memberIds: Set<string>;
  readonly roles: Map<string, { readonly name: string; readonly permissions: string }>;
}

const EPOCH_MS = 1_420_070_400_000n;
const CHANNEL_TYPES = { text: 0, dm: 1, thread: 11, forum: 15 } as const;
/** View, send, history, embed, attach, threads, commands: what an invited bot normally has. */
const BOT_PERMISSIONS = "277025770560";

export class World {
  readonly botId: string;
  readonly applicationId: string;
  readonly people = new Map<string, DiscordPerson>();
  readonly guilds = new Map<string, GuildState>();
  readonly channels = new Map<string, ChannelState>();
  /** Key: `global` or a guild id. */
  readonly commands = new Map<string, readonly (CommandBody & { readonly id: string })[]>();
  readonly #now: () => number;
  #counter = 0n;

  constructor(now: () => number) {
    this.#now = now;
    this.botId = this.snowflake();
    this.applicationId = this.snowflake();
    this.people.set(this.botId, {
      id: this.botId,
      username: "opsbot",
      locale: "en-US",
      acceptsDms: false,
      isBot: true,
      roles: new Set(),
    });
  }

  snowflake(): string {
    this.#counter += 1n;
    return (((BigInt(this.#now()) - EPOCH_MS) << 22n) | (this.#counter & 0x3fffffn)).toString();
  }

  person(id: string): DiscordPerson {
    const found = this.people.get(id);
    if (!found) throw new Error(`no such person: ${id}`);
    return found;
  }

  channel(id: string): ChannelState {
    const found = this.channels.get(id);
    if (!found) throw new Error(`no such channel: ${id}`);
    return found;
  }

  addPerson(username: string, options: { locale?: string; acceptsDms?: boolean; isBot?: boolean } = {}): DiscordPerson {
    const person: DiscordPerson = {
      id: this.snowflake(),
      username,
      locale: options.locale ?? "en-US",
      acceptsDms: options.acceptsDms ?? true,
      isBot: options.isBot ?? false,
      roles: new Set(),
    };
    this.people.set(person.id, person);
    return person;
  }

  addGuild(name: string, memberIds: readonly string[]): GuildState {
    const memberSet = new Set([...memberIds, this.botId]);
    const guild = { id: this.snowflake(), name, memberIds: memberSet, roles: new Map() };
    this.guilds.set(guild.id, guild);
    return guild;
  }

  addChannel(
    options: Omit<ChannelState, "id" | "messages" | "writable" | "overwrites"> & { id?: string },
  ): ChannelState {
    const made = { id: options.id ?? this.snowflake(), writable: true, messages: [], overwrites: [] };
    const channel: ChannelState = { ...options, ...made };
    this.channels.set(channel.id, channel);
    return channel;
  }

  dmWith(personId: string): ChannelState {
    for (const channel of this.channels.values()) if (channel.recipientId === personId) return channel;
    return this.addChannel({ kind: "dm", name: this.person(personId).username, recipientId: personId });
  }

  makeFile(name: string, bytes: Buffer): StoredFile {
    return { id: this.snowflake(), name, bytes, sha256: createHash("sha256").update(bytes).digest("hex") };
  }

  addMessage(
    channelId: string,
    content: Omit<StoredMessage, "id" | "channelId" | "atMs" | "history" | "deleted" | "mentions" | "webhook"> & {
      mentions?: readonly string[];
      webhook?: boolean;
    },
  ): StoredMessage {
    const message: StoredMessage = {
      ...content,
      id: this.snowflake(),
      channelId,
      atMs: this.#now(),
      webhook: content.webhook ?? false,
      mentions: content.mentions ?? this.mentionsIn(content.content),
      history: [],
      deleted: false,
    };
    this.channel(channelId).messages.push(message);
    return message;
  }

  mentionsIn(text: string): string[] {
    return [...text.matchAll(/<@!?(\d+)>/g)].map((one) => one[1] ?? "").filter((id) => this.people.has(id));
  }

  message(channelId: string, id: string): StoredMessage | undefined {
    return this.channels.get(channelId)?.messages.find((one) => one.id === id && !one.deleted);
  }

  userPayload(id: string): APIUser {
    const person = this.person(id);
    return {
      id: person.id,
      username: person.username,
      discriminator: "0",
      global_name: person.username,
      avatar: null,
      primary_guild: null,
      ...(person.isBot ? { bot: true } : {}),
      public_flags: 0,
      flags: 0,
    } as unknown as APIUser;
  }

  memberPayload(id: string): Record<string, unknown> {
    return {
      roles: [...this.person(id).roles],
      joined_at: new Date(this.#now()).toISOString(),
      deaf: false,
      mute: false,
      flags: 0,
      pending: false,
      nick: null,
      avatar: null,
      banner: null,
      premium_since: null,
      communication_disabled_until: null,
      user: this.userPayload(id),
    };
  }

  /** Deleted or not: Discord does not take the id back. */
  #newestIn(channel: ChannelState): string | null {
    return channel.messages.filter((one) => (one.flags & FLAG_EPHEMERAL) === 0).at(-1)?.id ?? null;
  }

  channelPayload(channel: ChannelState): APIChannel {
    const base = {
      id: channel.id,
      type: CHANNEL_TYPES[channel.kind],
      flags: 0,
      last_message_id: this.#newestIn(channel),
    };
    if (channel.kind === "dm")
      return { ...base, recipients: [this.userPayload(channel.recipientId ?? "")] } as unknown as APIChannel;
    return {
      ...base,
      guild_id: channel.guildId,
      name: channel.name,
      parent_id: channel.parentId ?? null,
      position: 0,
      permission_overwrites: [...channel.overwrites],
      nsfw: false,
      rate_limit_per_user: 0,
      topic: null,
      ...(channel.kind === "thread"
        ? {
            owner_id: this.botId,
            message_count: channel.messages.length,
            member_count: 2,
            total_message_sent: channel.messages.length,
            thread_metadata: {
              archived: false,
              auto_archive_duration: 1440,
              archive_timestamp: new Date(this.#now()).toISOString(),
              locked: false,
              create_timestamp: new Date(this.#now()).toISOString(),
            },
          }
        : {}),
    } as unknown as APIChannel;
  }

  guildPayload(guild: GuildState): Record<string, unknown> {
    const here = [...this.channels.values()].filter((one) => one.guildId === guild.id);
    return {
      id: guild.id,
      name: guild.name,
      icon: null,
      splash: null,
      discovery_splash: null,
      banner: null,
      description: null,
      owner_id: [...guild.memberIds][0],
      region: "deprecated",
      afk_channel_id: null,
      afk_timeout: 300,
      verification_level: 0,
      default_message_notifications: 0,
      explicit_content_filter: 0,
      features: [],
      emojis: [],
      stickers: [],
      mfa_level: 0,
      nsfw_level: 0,
      application_id: null,
      system_channel_id: null,
      system_channel_flags: 0,
      rules_channel_id: null,
      public_updates_channel_id: null,
      safety_alerts_channel_id: null,
      vanity_url_code: null,
      premium_tier: 0,
      premium_progress_bar_enabled: false,
      preferred_locale: "en-US",
      max_members: 500000,
      large: false,
      unavailable: false,
      joined_at: new Date(this.#now()).toISOString(),
      member_count: guild.memberIds.size,
      roles: [
        this.#rolePayload(guild.id, "@everyone", BOT_PERMISSIONS),
        ...[...guild.roles].map(([id, one]) => this.#rolePayload(id, one.name, one.permissions)),
      ],
      members: [...guild.memberIds].map((id) => this.memberPayload(id)),
      channels: here.filter((one) => one.kind !== "thread").map((one) => this.channelPayload(one)),
      threads: here.filter((one) => one.kind === "thread").map((one) => this.channelPayload(one)),
      presences: [],
      voice_states: [],
      stage_instances: [],
      guild_scheduled_events: [],
      soundboard_sounds: [],
    };
  }

  #rolePayload(id: string, name: string, permissions: string): Record<string, unknown> {
    return {
      id,
      name,
      color: 0,
      colors: { primary_color: 0, secondary_color: null, tertiary_color: null },
      hoist: false,
      icon: null,
      unicode_emoji: null,
      position: 0,
      permissions,
      managed: false,
      mentionable: false,
      flags: 0,
    };
  }

  attachments(message: StoredMessage, baseUrl: string): APIAttachment[] {
    return message.files.map((one) => ({
      id: one.id,
      filename: one.name,
      size: one.bytes.length,
      url: `${baseUrl}/attachments/${one.id}/${encodeURIComponent(one.name)}`,
      proxy_url: `${baseUrl}/attachments/${one.id}/${encodeURIComponent(one.name)}`,
      content_type: "text/plain; charset=utf-8",
    }));
  }

  /** `seesContent`: without the MessageContent intent other people's texts arrive empty in guilds. */
  messagePayload(message: StoredMessage, baseUrl: string, seesContent = true): APIMessage {
    const replied = message.replyToId === undefined ? undefined : this.message(message.channelId, message.replyToId);
    const visible = seesContent || message.authorId === this.botId || message.mentions.includes(this.botId);
    return {
      id: message.id,
      channel_id: message.channelId,
      type: replied ? 19 : 0,
      author: this.userPayload(message.authorId),
      content: visible ? message.content : "",
      timestamp: new Date(message.atMs).toISOString(),
      edited_timestamp: message.editedAtMs === undefined ? null : new Date(message.editedAtMs).toISOString(),
      tts: false,
      mention_everyone: false,
      mentions: message.mentions.map((id) => this.userPayload(id)),
      mention_roles: [],
      attachments: this.attachments(message, baseUrl),
      embeds: [],
      components: message.components.map((one) => answered(one, this.attachments(message, baseUrl))),
      pinned: false,
      flags: message.flags,
      ...(message.nonce === undefined ? {} : { nonce: message.nonce }),
      ...(message.webhook ? { webhook_id: this.applicationId } : {}),
      ...(replied
        ? {
            message_reference: { type: 0, channel_id: replied.channelId, message_id: replied.id },
            referenced_message: this.messagePayload(replied, baseUrl, seesContent),
          }
        : {}),
    } as unknown as APIMessage;
  }

  sees(message: StoredMessage, personId: string): boolean {
    return !message.deleted && ((message.flags & FLAG_EPHEMERAL) === 0 || message.onlyForId === personId);
  }
}

/** What the platform adds to components in its answers: ids, defaults, and the files they point to. */
function answered(
  root: APIMessageTopLevelComponent,
  attachments: readonly APIAttachment[],
): APIMessageTopLevelComponent {
  let next = 1;
  const walk = (node: Record<string, unknown>): Record<string, unknown> => ({
    ...node,
    id: node.id ?? next++,
    ...(node.type === 17 ? { accent_color: node.accent_color ?? null, spoiler: node.spoiler ?? false } : {}),
    ...(node.type === 14 ? { spacing: node.spacing ?? 1, divider: node.divider ?? true } : {}),
    ...(node.type === 13 ? fileOf(node, attachments) : {}),
    ...(Array.isArray(node.components)
      ? { components: node.components.map((one) => walk(one as Record<string, unknown>)) }
      : {}),
  });
  return walk(root as unknown as Record<string, unknown>) as unknown as APIMessageTopLevelComponent;
}

function fileOf(node: Record<string, unknown>, attachments: readonly APIAttachment[]): Record<string, unknown> {
  const name = String((node.file as { url?: string }).url ?? "").replace("attachment://", "");
  const found = attachments.find((one) => one.filename === name);
  return {
    name: found?.filename ?? null,
    size: found?.size ?? null,
    spoiler: node.spoiler ?? false,
    file: { id: found?.id ?? "0", url: found?.url ?? "", proxy_url: found?.proxy_url ?? "" },
  };
}

export function attachmentNames(message: StoredMessage): string[] {
  return message.files.map((one) => one.name);
}
