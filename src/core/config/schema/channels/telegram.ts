/** `channels.telegram`. */
import * as z from "zod";
import { count, flag, ids, overridable, secret, text, url } from "../values.ts";
import {
  accountDefaults,
  accountShape,
  approvalDefaults,
  groupPolicy,
  perMinute,
  perSecond,
  SEND_RATE,
  type Visibility,
  webhookPath,
} from "./account-keys.ts";
import { accountsOf, checkDms, complain, layered, mergedKeys, resolveAccounts } from "./layers.ts";

const telegramRateDefaults = { chatPerSecond: 1, chatBurst: 5, groupPerMinute: 20, totalPerSecond: 30 } as const;

const capabilityDefaults = { inlineButtons: "allowlist" } as const;

/** channels.md section 7: the longer wait is for the rest of a text that the app has cut into pieces. */
const batchingDefaults = {
  quietMs: 300,
  cutQuietMs: 1_500,
  maxMessages: 12,
  maxChars: 50_000,
  maxWaitMs: 7_500,
} as const;

const telegramDefaults = {
  ...accountDefaults,
  webhookPath: "/telegram-webhook",
  webhookHost: "127.0.0.1",
  webhookPort: 8787,
} as const;

/** Reserved on the webhook's port. */
const HEALTH_PATH = "/healthz";
const TOKEN_IN_ROOT = /\/bot(?:\d+:|<|\/?$)/i;

const telegramRoomShape = {
  enabled: flag("Answer here."),
  requireMention: flag("Only when addressed."),
  ignoreOtherMentions: flag("Not when somebody else is addressed."),
  groupPolicy: groupPolicy.describe("Who may speak to the bot here."),
  allowFrom: ids("Only these people."),
};

const telegramShape = {
  ...accountShape,
  allowBots: flag(
    "Also answer other bots. Telegram shows them to the bot only where one of the two has Bot-to-Bot Communication Mode (BotFather), and then only commands and replies to it.",
  ),
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
  capabilities: overridable(
    {
      inlineButtons: z
        .enum(["off", "dm", "group", "all", "allowlist"])
        .describe(
          "Where cards have buttons: in no chat, in direct messages, in groups, or everywhere (`all`, `allowlist`: whoever presses must be allowed to in both). Elsewhere a request says what to type; its buttons that are out already still work.",
        ),
    },
    capabilityDefaults,
  ).describe("What of Telegram the bot uses."),
  batching: overridable(
    {
      quietMs: count(
        "Milliseconds without another message, after which the agent is told; 0: each at once.",
        0,
        60_000,
      ),
      cutQuietMs: count("The same after a text so long that the app may have cut it.", 0, 60_000),
      maxMessages: count("At most so many are told as one.", 1, 100),
      maxChars: count("At most so many characters are.", 1, 1_000_000),
      maxWaitMs: count("However fast somebody goes on writing, the agent is told after this long.", 0, 600_000),
    },
    batchingDefaults,
  ).describe("What one person writes in a row reaches the agent as one message; commands and buttons never wait."),
  groupAllowFrom: ids("People (not groups) who may speak to the bot in groups; unset: `allowFrom`."),
};

const telegramKeys = overridable(telegramShape, telegramDefaults);

type TelegramKeys = z.output<typeof telegramKeys>;

function telegramAccount(base: Visibility, root: TelegramKeys, own: TelegramKeys) {
  // A list at the root is a ceiling: an account can not open to everybody what the channel keeps closed.
  const closed = root.allowFrom !== undefined && !root.allowFrom.includes("*");
  const allowFrom = own.allowFrom ?? root.allowFrom ?? [];
  return {
    ...telegramDefaults,
    ...root,
    ...own,
    ...mergedKeys(base, root, own),
    sendRate: { ...telegramRateDefaults, ...root.sendRate, ...own.sendRate },
    capabilities: { ...capabilityDefaults, ...root.capabilities, ...own.capabilities },
    batching: { ...batchingDefaults, ...root.batching, ...own.batching },
    allowFrom: closed ? allowFrom.filter((entry) => entry !== "*") : allowFrom,
    execApprovals: { ...approvalDefaults, ...root.execApprovals, ...own.execApprovals },
  };
}

export const telegramChannel = telegramKeys
  .extend({ accounts: accountsOf(telegramKeys) })
  .check(({ value, issues }) => {
    for (const { keys, at } of layered<TelegramKeys>(value)) {
      checkDms(keys, at, issues);
      if (keys.webhookPath === HEALTH_PATH)
        complain(
          issues,
          at("webhookPath"),
          keys.webhookPath,
          `\`${HEALTH_PATH}\` is answered by the gateway itself; choose another path`,
        );
      if (keys.apiRoot !== undefined && TOKEN_IN_ROOT.test(keys.apiRoot))
        complain(
          issues,
          at("apiRoot"),
          keys.apiRoot,
          "the root alone, without `/bot<token>`: the token belongs into `botToken`",
        );
      for (const [index, entry] of (keys.groupAllowFrom ?? []).entries()) {
        if (!entry.startsWith("-")) continue;
        const message = "this is a group; list people here, and name the group under `groups`";
        complain(issues, [...at("groupAllowFrom"), index], entry, message);
      }
    }
  });

/** What each account of the bot is run with, every default filled in. */
export function telegramAccounts(channel: z.output<typeof telegramChannel>, base: Visibility) {
  return resolveAccounts<TelegramKeys, ReturnType<typeof telegramAccount>>(channel, (root, own) =>
    telegramAccount(base, root, own),
  );
}
