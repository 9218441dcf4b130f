/** `channels.*` and `accessGroups`: bot accounts, who may talk, where approvals go (channels.md sections 1, 2, 5.1, 9.2). */
import * as z from "zod";
import { LANGUAGES } from "../../words/languages.ts";
import {
  accountId,
  count,
  flag,
  ids,
  idsByChannelOrAll,
  list,
  overridable,
  secret,
  sessionFilter,
  text,
  url,
} from "./values.ts";

export const DM_POLICIES = ["pairing", "allowlist", "open", "disabled"] as const;
export const GROUP_POLICIES = ["allowlist", "open", "disabled"] as const;
export const APPROVAL_TARGETS = ["dm", "channel", "both"] as const;
export const REPLY_TO_MODES = ["off", "first", "all"] as const;

const groupPolicy = z.enum(GROUP_POLICIES);
const replyToMode = z
  .enum(REPLY_TO_MODES)
  .describe("Answer in a thread below the message: `off` only where the message was in one, `first` and `all` always.");
const autoSwitch = z.union([z.boolean(), z.literal("auto")]);

const webhookPath = (description: string) =>
  z
    .string()
    .regex(/^(?:\/[A-Za-z0-9._~-]+)+$/, {
      error: "a path such as /slack/events, without host, query or `/` at its end",
    })
    .describe(description);

/* What the three platforms have in common. */

const accountDefaults = {
  enabled: true,
  dmPolicy: "pairing",
  allowFrom: [] as string[],
  groupPolicy: "allowlist",
  requireMention: true,
  allowBots: false,
} as const;
const dmDefaults = { enabled: true, groupEnabled: false } as const;
const approvalDefaults = { enabled: "auto", target: "dm" } as const;
const visibilityDefaults = { showOk: false, showAlerts: true, useIndicator: true } as const;

const visibility = overridable(
  {
    showOk: flag("Post heartbeats that found nothing."),
    showAlerts: flag("Post heartbeats that found something."),
    useIndicator: flag("Show that a heartbeat is running."),
  },
  visibilityDefaults,
);

const dm = overridable(
  {
    enabled: flag("Direct messages at all."),
    groupEnabled: flag("Also direct messages with several people."),
    groupChannels: ids("Only these of them."),
  },
  dmDefaults,
);

const execApprovalsShape = {
  enabled: autoSwitch.describe("Approval cards on this channel. `auto`: when somebody there may approve."),
  approvers: ids("People who may approve; unset: the owners of this channel in `commands.ownerAllowFrom`."),
  target: z.enum(APPROVAL_TARGETS).describe("Where the card goes: to the approvers, to the chat that asked, or both."),
  agentFilter: list("Only requests of these agents."),
  sessionFilter,
};
const execApprovals = overridable(execApprovalsShape, approvalDefaults);

const commonShape = {
  enabled: flag("Connect."),
  dmPolicy: z.enum(DM_POLICIES).describe("Who may write to the bot directly."),
  allowFrom: ids("People who may. With `dmPolicy: open` it must contain `*`."),
  groupPolicy: groupPolicy.describe("Which rooms the bot answers in."),
  requireMention: flag("In rooms only answer when addressed."),
  allowBots: flag("Also answer other bots."),
  locale: z
    .enum(LANGUAGES)
    .describe("Language of rooms, and of people whose own is not told; unset: `messages.locale`."),
  dm,
  execApprovals,
  heartbeat: visibility,
  commands: overridable({ native: autoSwitch.describe("Register slash commands here; unset: `commands.native`.") }),
  textChunkLimit: count(
    "Longest message in characters, within the platform's own limit; longer text is split.",
    200,
    40_000,
  ),
};

/* Send rates: the platforms publish them for everybody; some bots are allowed more, some share with other programs. */

const slackRateDefaults = { channelPerSecond: 1, channelBurst: 5, editsPerMinute: 50, totalPerMinute: 300 } as const;
const discordRateDefaults = { channelPerFiveSeconds: 5, totalPerSecond: 50 } as const;
const telegramRateDefaults = { chatPerSecond: 1, chatBurst: 5, groupPerMinute: 20, totalPerSecond: 30 } as const;

const SEND_RATE = "How fast the bot writes, so that the platform never has to refuse it.";
const perSecond = (text: string) => count(text, 1, 1_000);
const perMinute = (text: string) => count(text, 1, 60_000);

/* Slack */

const slackDefaults = { ...accountDefaults, mode: "socket", webhookPath: "/slack/events", replyToMode: "off" } as const;
const slashCommandDefaults = { enabled: true, name: "openclaw", ephemeral: true } as const;
const implicitMentionDefaults = { replyToBot: true, threadParticipation: true } as const;

const slackRoom = overridable({
  enabled: flag("Answer here."),
  requireMention: flag("Only when addressed."),
  ignoreOtherMentions: flag("Not when somebody else is addressed."),
  users: ids("Only these people."),
  allowBots: flag("Also other bots."),
  replyToMode,
});

const slackShape = {
  ...commonShape,
  mode: z.enum(["socket", "http"]).describe("How Slack reaches the bot."),
  botToken: secret("`xoxb-…`; or the variable SLACK_BOT_TOKEN."),
  appToken: secret("`xapp-…`, for socket mode; or SLACK_APP_TOKEN."),
  signingSecret: secret("For http mode; or SLACK_SIGNING_SECRET."),
  webhookPath: webhookPath("Path Slack posts to in http mode; one per account."),
  apiRoot: url("Root of the Slack API, for a proxy or a test server."),
  channels: z
    .record(
      z.string().regex(/^[CG][A-Z0-9]+$|^\*$/, {
        error: "a Slack channel id such as C0123456789, or `*`; names are not matched",
      }),
      slackRoom,
    )
    .describe("Rooms by id. With `groupPolicy: allowlist` only these."),
  replyToMode,
  sendRate: overridable(
    {
      channelPerSecond: perSecond("Messages a second in one channel."),
      channelBurst: count("So many of them may come at once.", 1, 100),
      editsPerMinute: perMinute("Edits a minute in the whole workspace."),
      totalPerMinute: perMinute("Messages a minute in the whole workspace."),
    },
    slackRateDefaults,
  ).describe(SEND_RATE),
  implicitMentions: overridable(
    {
      replyToBot: flag("A reply to the bot addresses it."),
      threadParticipation: flag("So does a message in a thread it took part in."),
    },
    implicitMentionDefaults,
  ),
  slashCommand: overridable(
    {
      enabled: flag("One slash command that wraps all others."),
      name: z
        .string()
        .regex(/^[a-z0-9_-]{1,31}$/, { error: "lower case letters, digits, `-` and `_`, without the slash" })
        .describe("Its name."),
      ephemeral: flag("What it answers is for the sender alone, where a command does not run for all to see."),
    },
    slashCommandDefaults,
  ),
};

/* Discord */

const discordDefaults = accountDefaults;
const intentDefaults = { messageContent: true, guildMembers: false } as const;

const snowflake = z.string().regex(/^\d{15,21}$|^\*$/, { error: "a Discord id (17 to 20 digits in quotes), or `*`" });

const discordRoom = overridable({
  enabled: flag("Answer here."),
  requireMention: flag("Only when addressed."),
  ignoreOtherMentions: flag("Not when somebody else is addressed."),
  users: ids("Only these people."),
  roles: ids("Or people with one of these roles."),
});

const discordShape = {
  ...commonShape,
  execApprovals: overridable(
    {
      ...execApprovalsShape,
      cleanupAfterResolve: flag("Delete the card when it was decided, instead of leaving a receipt."),
    },
    approvalDefaults,
  ),
  token: secret("Bot token; or DISCORD_BOT_TOKEN."),
  applicationId: text("The application's id: a token of another application is refused. Unset: not checked."),
  apiRoot: url("Root of the Discord API without version, for a proxy or a test server."),
  sendRate: overridable(
    {
      channelPerFiveSeconds: count("Messages within five seconds in one channel; as many edits.", 1, 1_000),
      totalPerSecond: perSecond("Calls a second in all."),
    },
    discordRateDefaults,
  ).describe(SEND_RATE),
  intents: overridable(
    {
      messageContent: flag("Read message text. Off: slash commands only."),
      guildMembers: flag("Read members. Needed for roles."),
    },
    intentDefaults,
  ),
  guilds: z
    .record(
      snowflake,
      overridable({
        requireMention: flag("Only when addressed."),
        ignoreOtherMentions: flag("Not when somebody else is addressed."),
        users: ids("Only these people."),
        roles: ids("Or people with one of these roles."),
        channels: z.record(snowflake, discordRoom).describe("Once one is named, only these; `*` for the rest."),
      }),
    )
    .describe("Servers by id. With `groupPolicy: allowlist` only these."),
};

/* Telegram */

const telegramDefaults = {
  ...accountDefaults,
  webhookPath: "/telegram-webhook",
  webhookHost: "127.0.0.1",
  webhookPort: 8787,
} as const;

const telegramRoomShape = {
  enabled: flag("Answer here."),
  requireMention: flag("Only when addressed."),
  ignoreOtherMentions: flag("Not when somebody else is addressed."),
  groupPolicy: groupPolicy.describe("Who may speak to the bot here."),
  allowFrom: ids("Only these people."),
};

const telegramShape = {
  ...commonShape,
  botToken: secret("Token from BotFather; or TELEGRAM_BOT_TOKEN."),
  apiRoot: url("Root of the Bot API without the token, for a local Bot API server or a test server."),
  webhookUrl: url("Public address Telegram posts to; unset: long polling."),
  webhookSecret: secret("Required with `webhookUrl`; or TELEGRAM_WEBHOOK_SECRET."),
  webhookPath: webhookPath("Path of the webhook."),
  webhookHost: text("Address the webhook listens on."),
  webhookPort: count("Port the webhook listens on.", 0, 65_535),
  groups: z
    .record(
      z.string().regex(/^-?\d+$|^\*$/, { error: 'a Telegram chat id in quotes, such as "-1001234567890", or `*`' }),
      overridable({
        ...telegramRoomShape,
        topics: z
          .record(
            z.string().regex(/^\d+$|^\*$/, { error: "a topic id in quotes, or `*`" }),
            overridable(telegramRoomShape),
          )
          .describe("Forum topics by id."),
      }),
    )
    .describe("Groups by id. With `groupPolicy: allowlist` only these."),
  sendRate: overridable(
    {
      chatPerSecond: perSecond("Messages a second to one chat."),
      chatBurst: count("So many of them may come at once.", 1, 100),
      groupPerMinute: perMinute("Messages and edits a minute in one group."),
      totalPerSecond: perSecond("Messages and edits a second in all."),
    },
    telegramRateDefaults,
  ).describe(SEND_RATE),
  groupAllowFrom: ids("People (not groups) who may speak to the bot in groups; unset: `allowFrom`."),
};

/* Accounts: a channel's own keys are what its accounts start from. */

const slackKeys = overridable(slackShape, slackDefaults);
const discordKeys = overridable(discordShape, discordDefaults);
const telegramKeys = overridable(telegramShape, telegramDefaults);

type SlackKeys = z.output<typeof slackKeys>;
type DiscordKeys = z.output<typeof discordKeys>;
type TelegramKeys = z.output<typeof telegramKeys>;
type Visibility = z.output<typeof visibility>;

const accountsOf = <T extends z.ZodType>(keys: T) =>
  z.exactOptional(z.record(accountId, keys).describe("Further bot accounts; each starts from the keys above."));

export type SlackAccount = ReturnType<typeof slackAccount>;
export type DiscordAccount = ReturnType<typeof discordAccount>;
export type TelegramAccount = ReturnType<typeof telegramAccount>;

/** Field by field: the account, then the channel, then the default. A channel switched off switches its accounts off. */
function common(base: Visibility, root: SlackKeys | DiscordKeys | TelegramKeys, own: typeof root) {
  return {
    enabled: root.enabled !== false && own.enabled !== false,
    dm: { ...dmDefaults, ...root.dm, ...own.dm },
    heartbeat: { ...visibilityDefaults, ...base, ...root.heartbeat, ...own.heartbeat },
    commands: { ...root.commands, ...own.commands },
  };
}

function slackAccount(base: Visibility, root: SlackKeys, own: SlackKeys) {
  return {
    ...slackDefaults,
    ...root,
    ...own,
    ...common(base, root, own),
    execApprovals: { ...approvalDefaults, ...root.execApprovals, ...own.execApprovals },
    sendRate: { ...slackRateDefaults, ...root.sendRate, ...own.sendRate },
    implicitMentions: { ...implicitMentionDefaults, ...root.implicitMentions, ...own.implicitMentions },
    slashCommand: { ...slashCommandDefaults, ...root.slashCommand, ...own.slashCommand },
  };
}

function discordAccount(base: Visibility, root: DiscordKeys, own: DiscordKeys) {
  return {
    ...discordDefaults,
    ...root,
    ...own,
    ...common(base, root, own),
    execApprovals: { ...approvalDefaults, cleanupAfterResolve: false, ...root.execApprovals, ...own.execApprovals },
    sendRate: { ...discordRateDefaults, ...root.sendRate, ...own.sendRate },
    intents: { ...intentDefaults, ...root.intents, ...own.intents },
  };
}

function telegramAccount(base: Visibility, root: TelegramKeys, own: TelegramKeys) {
  // A list at the root is a ceiling: an account can not open to everybody what the channel keeps closed.
  const closed = root.allowFrom !== undefined && !root.allowFrom.includes("*");
  const allowFrom = own.allowFrom ?? root.allowFrom ?? [];
  return {
    ...telegramDefaults,
    ...root,
    ...own,
    ...common(base, root, own),
    sendRate: { ...telegramRateDefaults, ...root.sendRate, ...own.sendRate },
    allowFrom: closed ? allowFrom.filter((entry) => entry !== "*") : allowFrom,
    execApprovals: { ...approvalDefaults, ...root.execApprovals, ...own.execApprovals },
  };
}

interface WithAccounts<K> {
  readonly accounts?: Readonly<Record<string, K>>;
}

/** The `default` account is the channel's own keys; it is left out when only named accounts hold a token. */
function resolveAccounts<K extends { token?: string; botToken?: string }, A>(
  channel: K & WithAccounts<K>,
  merge: (root: K, own: K) => A,
): { readonly accounts: Readonly<Record<string, A>> } {
  const { accounts = {}, ...rest } = channel;
  const root = rest as unknown as K;
  const named = Object.entries(accounts).map(([id, own]) => [id, merge(root, own)] as const);
  const hasOwnToken = root.token !== undefined || root.botToken !== undefined;
  if (accounts.default === undefined && (named.length === 0 || hasOwnToken)) {
    named.unshift(["default", merge(root, {} as K)]);
  }
  return { accounts: Object.fromEntries(named) };
}

type AccountKeys = Partial<Pick<SlackKeys, "allowFrom" | "dmPolicy">>;

/** Each account with the channel's keys under its own, and where a key of it was written. */
function* layered<K extends object>(
  channel: K & WithAccounts<K>,
): Generator<{ keys: K; at(key: keyof K): PropertyKey[] }> {
  const { accounts = {}, ...root } = channel;
  yield { keys: root as K, at: (key) => [key] };
  for (const [id, own] of Object.entries(accounts)) {
    yield { keys: { ...(root as K), ...own }, at: (key) => (key in own ? ["accounts", id, key] : [key]) };
  }
}

type Issues = z.core.ParsePayload["issues"];

function complain(issues: Issues, path: PropertyKey[], input: unknown, message: string): void {
  issues.push({ code: "custom", path, input, message });
}

function checkDms(keys: AccountKeys, at: (key: "allowFrom" | "dmPolicy") => PropertyKey[], issues: Issues): void {
  if (keys.dmPolicy === "allowlist" && (keys.allowFrom ?? []).length === 0) {
    complain(
      issues,
      at("dmPolicy"),
      keys.dmPolicy,
      "`allowlist` needs at least one id in `allowFrom`, or nobody could write",
    );
  }
  if (keys.dmPolicy === "open" && !(keys.allowFrom ?? []).includes("*")) {
    complain(
      issues,
      at("dmPolicy"),
      keys.dmPolicy,
      '`open` takes effect only with `allowFrom: ["*"]`; add it, or use `pairing`',
    );
  }
}

const slackChannel = slackKeys.extend({ accounts: accountsOf(slackKeys) }).check(({ value, issues }) => {
  const paths = new Map<string, string>();
  for (const { keys, at } of layered<SlackKeys>(value)) {
    checkDms(keys, at, issues);
    if (keys.mode === "http") {
      const path = keys.webhookPath ?? slackDefaults.webhookPath;
      const where = at("webhookPath").join(".");
      if (paths.has(path) && paths.get(path) !== where) {
        complain(issues, at("webhookPath"), path, "two accounts listen on this path; give each its own `webhookPath`");
      }
      paths.set(path, where);
    }
  }
});

const discordChannel = discordKeys.extend({ accounts: accountsOf(discordKeys) }).check(({ value, issues }) => {
  for (const { keys, at } of layered<DiscordKeys>(value)) checkDms(keys, at, issues);
});

const telegramChannel = telegramKeys.extend({ accounts: accountsOf(telegramKeys) }).check(({ value, issues }) => {
  for (const { keys, at } of layered<TelegramKeys>(value)) {
    checkDms(keys, at, issues);
    for (const [index, entry] of (keys.groupAllowFrom ?? []).entries()) {
      if (!entry.startsWith("-")) continue;
      const message = "this is a group; list people here, and name the group under `groups`";
      complain(issues, [...at("groupAllowFrom"), index], entry, message);
    }
  }
});

export const channelsSchema = z
  .strictObject({
    defaults: z.exactOptional(overridable({ heartbeat: visibility }).describe("What all channels start from.")),
    slack: z.exactOptional(slackChannel.describe("Slack bot. Not connected while this block is absent.")),
    discord: z.exactOptional(discordChannel.describe("Discord bot. Not connected while this block is absent.")),
    telegram: z.exactOptional(telegramChannel.describe("Telegram bot. Not connected while this block is absent.")),
  })
  .transform(({ defaults, slack, discord, telegram }) => {
    const base = defaults?.heartbeat ?? {};
    return {
      ...(slack && {
        slack: resolveAccounts<SlackKeys, SlackAccount>(slack, (root, own) => slackAccount(base, root, own)),
      }),
      ...(discord && {
        discord: resolveAccounts<DiscordKeys, DiscordAccount>(discord, (root, own) => discordAccount(base, root, own)),
      }),
      ...(telegram && {
        telegram: resolveAccounts<TelegramKeys, TelegramAccount>(telegram, (root, own) =>
          telegramAccount(base, root, own),
        ),
      }),
    };
  });

/** Named lists of people, usable as `accessGroup:<name>` wherever ids are listed. */
export const accessGroupsSchema = z
  .record(
    z.string().regex(/^[a-z0-9][a-z0-9_-]*$/i, { error: "a group name is letters, digits, `-` or `_`" }),
    z.strictObject({
      type: z.literal("message.senders").describe("A list of people."),
      members: idsByChannelOrAll("Ids per channel; `*`: on every channel."),
    }),
  )
  .describe("Named lists of people, used as `accessGroup:<name>` wherever ids are listed.");
