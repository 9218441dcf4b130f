/**
 * The chat accounts of the configuration as running channels. Their libraries are loaded only when an account needs
 * them, and one account that fails to start never keeps the others, or the gateway, from starting.
 */
import type { RequestListener } from "node:http";
import type { Logger } from "pino";
import type { BatchLimits } from "../agents/batches.ts";
import type { AdapterDeps, HeardPlaces, Suggest } from "../channels/adapter-deps.ts";
import type { Channel, ChannelStatus, Ingress } from "../channels/channel.ts";
import type { Redactor } from "../channels/text/redact.ts";
import type { CommandDefinition } from "../commands/command.ts";
import type { Clock } from "../core/clock.ts";
import type { Config, DiscordAccountConfig, SlackAccountConfig, TelegramAccountConfig } from "../core/config/schema.ts";
import type { Secrets } from "../core/config/secrets.ts";
import type { Route } from "../core/route.ts";
import type { Language } from "../core/words/languages.ts";
import { type Phrase, phrase } from "../core/words/phrase.ts";
import { nativeCommands } from "./native-commands.ts";

export interface ChannelsOptions {
  readonly config: Config;
  /** The configuration as it is now, for what a running channel reads anew with each message. */
  readonly current: () => Config;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
  readonly commands: readonly CommandDefinition[];
  readonly suggest: Suggest;
  /** A Telegram group became a supergroup: what names the old id has to follow. */
  readonly onChatMigrated?: (accountId: string, from: string, to: string) => Promise<void>;
  /** How many gateways share the Redis now, this one included. */
  readonly gateways?: () => number;
  /** Where an account was spoken to lately. */
  readonly heard?: (channel: Channel["id"], accountId: string) => HeardPlaces;
  /** With several gateways: makes the account one that only one of them is connected with. */
  readonly hold?: (make: () => Promise<Channel>) => Promise<Channel>;
}

/** Every enabled account. A missing token is a channel that says so in its status instead of one that is not there. */
export async function buildChannels(options: ChannelsOptions): Promise<Channel[]> {
  const { slack, discord, telegram } = options.config.channels;
  const { hold = (make) => make() } = options;
  const channels: Channel[] = [];
  for (const [id, account] of Object.entries(slack?.accounts ?? {})) {
    if (!account.enabled) continue;
    const make = () => slackChannel(id, account, options);
    // Slack posts each event once, to whichever gateway it reaches: nothing to hold.
    channels.push(await (account.mode === "http" ? make() : hold(make)));
  }
  for (const [id, account] of Object.entries(discord?.accounts ?? {})) {
    if (account.enabled) channels.push(await hold(() => discordChannel(id, account, options)));
  }
  for (const [id, account] of Object.entries(telegram?.accounts ?? {})) {
    if (account.enabled) channels.push(await hold(() => telegramChannel(id, account, options)));
  }
  return channels;
}

/** The configured language of what is said on this route. */
export function localeOf({ channels, messages }: Config, route: Route): Language {
  const account = route.channel === "web" ? undefined : channels[route.channel]?.accounts[route.accountId];
  return account?.locale ?? messages.locale;
}

/** How what one person writes in a row on this route becomes one message for the agent. */
export function batchLimitsOf({ channels }: Config, { channel, accountId }: Route): BatchLimits | undefined {
  return channel === "telegram" ? channels.telegram?.accounts[accountId]?.batching : undefined;
}

/** Paths that platforms post to on the gateway's own port. */
export function platformRequests(channels: readonly Channel[], config: Config): ReadonlyMap<string, RequestListener> {
  const paths = new Map<string, RequestListener>();
  for (const channel of channels) {
    if (channel.id !== "slack" || !("requestListener" in channel)) continue;
    const account = config.channels.slack?.accounts[channel.accountId];
    if (account?.mode === "http") paths.set(account.webhookPath, channel.requestListener as RequestListener);
  }
  return paths;
}

/** Never rejects: what went wrong is in the channel's status and in the log. */
export async function startChannel(channel: Channel, ingress: Ingress, logger: Logger): Promise<void> {
  try {
    await channel.start(ingress);
  } catch (error) {
    logger.error(
      { channel: channel.id, account: channel.accountId, reason: (error as Error).message },
      "channel not started",
    );
  }
}

async function slackChannel(id: string, account: SlackAccountConfig, options: ChannelsOptions): Promise<Channel> {
  const { botToken, appToken, signingSecret } = options.secrets.slack[id] ?? {};
  if (!botToken) return notConfigured("slack", id, noBotToken("channels.slack.botToken", "SLACK_BOT_TOKEN"));
  const socket = account.mode === "socket";
  if (socket && !appToken)
    return notConfigured(
      "slack",
      id,
      phrase("channel.noAppToken", { key: "channels.slack.appToken", variable: "SLACK_APP_TOKEN" }),
    );
  if (!socket && !signingSecret) {
    return notConfigured(
      "slack",
      id,
      phrase("channel.noSigningSecret", { key: "channels.slack.signingSecret", variable: "SLACK_SIGNING_SECRET" }),
    );
  }
  const now = () => options.current().channels.slack?.accounts[id] ?? account;
  const { SlackChannel } = await import("../channels/slack/adapter.ts");
  return new SlackChannel(
    {
      accountId: id,
      botToken,
      mode: socket
        ? { kind: "socket", appToken: appToken ?? "" }
        : {
            kind: "http",
            signingSecret: signingSecret ?? "",
            path: account.webhookPath,
            maxBodyBytes: options.config.gateway.maxBodyBytes,
          },
      wrapper: account.slashCommand.enabled && account.slashCommand.name,
      wrapperAnswersAll: !account.slashCommand.ephemeral,
      ...(account.textChunkLimit ? { textChunkLimit: account.textChunkLimit } : {}),
      replyToMode: (room) => {
        const { channels, replyToMode } = now();
        return (channels?.[room] ?? channels?.["*"])?.replyToMode ?? replyToMode;
      },
      implicitMentions: account.implicitMentions,
      allowBots: () => now().allowBots || Object.values(now().channels ?? {}).some((room) => room.allowBots),
      rates: account.sendRate,
      // Over a socket only the one that holds the account calls Slack; over HTTP each does.
      ...(!socket && options.gateways ? { gateways: options.gateways } : {}),
      ...(account.apiRoot ? { apiUrl: account.apiRoot } : {}),
    },
    adapterDeps(account, options),
  );
}

async function discordChannel(id: string, account: DiscordAccountConfig, options: ChannelsOptions): Promise<Channel> {
  const { token } = options.secrets.discord[id] ?? {};
  if (!token) return notConfigured("discord", id, noBotToken("channels.discord.token", "DISCORD_BOT_TOKEN"));
  const { createDiscordChannel } = await import("../channels/discord/adapter.ts");
  return createDiscordChannel(
    {
      accountId: id,
      token,
      ...(account.applicationId ? { applicationId: account.applicationId } : {}),
      messageContent: account.intents.messageContent,
      guildMembers: account.intents.guildMembers,
      allowBots: () => options.current().channels.discord?.accounts[id]?.allowBots ?? false,
      rates: account.sendRate,
      maxLinesPerMessage: account.maxLinesPerMessage,
      cleanupAfterResolve: account.execApprovals.cleanupAfterResolve,
      ...(account.apiRoot ? { apiRoot: account.apiRoot } : {}),
      ...(account.textChunkLimit ? { textChunkLimit: account.textChunkLimit } : {}),
    },
    { ...adapterDeps(account, options), ...(options.heard ? { heard: options.heard("discord", id) } : {}) },
  );
}

async function telegramChannel(id: string, account: TelegramAccountConfig, options: ChannelsOptions): Promise<Channel> {
  const { botToken, webhookSecret } = options.secrets.telegram[id] ?? {};
  if (!botToken) return notConfigured("telegram", id, noBotToken("channels.telegram.botToken", "TELEGRAM_BOT_TOKEN"));
  if (account.webhookUrl && !webhookSecret) {
    return notConfigured("telegram", id, phrase("channel.noWebhookSecret", { key: "channels.telegram.webhookSecret" }));
  }
  const { createTelegramChannel } = await import("../channels/telegram/adapter.ts");
  return createTelegramChannel(
    {
      accountId: id,
      token: botToken,
      allowBots: () => options.current().channels.telegram?.accounts[id]?.allowBots ?? false,
      inlineButtons: () => (options.current().channels.telegram?.accounts[id] ?? account).capabilities.inlineButtons,
      rates: account.sendRate,
      ...(account.apiRoot ? { apiRoot: account.apiRoot } : {}),
      ...(account.textChunkLimit ? { textChunkLimit: account.textChunkLimit } : {}),
      ...(account.webhookUrl && webhookSecret
        ? {
            webhook: {
              url: account.webhookUrl,
              secret: webhookSecret,
              path: account.webhookPath,
              host: account.webhookHost,
              port: account.webhookPort,
            },
          }
        : {}),
    },
    {
      ...adapterDeps(account, options),
      onChatMigrated: (from, to) => options.onChatMigrated?.(id, from, to),
    },
  );
}

function adapterDeps(
  account: SlackAccountConfig | DiscordAccountConfig | TelegramAccountConfig,
  options: ChannelsOptions,
): AdapterDeps {
  const { config, clock, logger, redactor, suggest } = options;
  const registers = (account.commands.native ?? config.commands.native) !== false;
  return {
    clock,
    redactor,
    suggest,
    locale: account.locale ?? config.messages.locale,
    log: logger,
    commands: registers ? nativeCommands(options.commands, config.commands.bash) : [],
  };
}

const noBotToken = (key: string, variable: string) => phrase("channel.noBotToken", { key, variable });

/** Stands in `/status` with what is missing; sends nothing. */
function notConfigured(id: Channel["id"], accountId: string, detail: Phrase): Channel {
  const status: ChannelStatus = { channel: id, accountId, state: "failed", detail };
  const permanent = async () => ({ kind: "permanent", why: detail.text }) as const;
  return {
    id,
    accountId,
    capabilities: {
      buttons: false,
      edit: false,
      threads: false,
      ephemeral: false,
      files: false,
      maxText: 0,
      minEditMs: 0,
      editsAreSilent: false,
    },
    start: async () => undefined,
    stop: async () => undefined,
    status: () => status,
    send: permanent,
    edit: permanent,
  };
}
