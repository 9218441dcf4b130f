/** `channels.slack`. */
import * as z from "zod";
import { count, flag, ids, overridable, secret, url } from "../values.ts";
import {
  accountDefaults,
  accountShape,
  approvalDefaults,
  perMinute,
  perSecond,
  replyToMode,
  SEND_RATE,
  type Visibility,
  webhookPath,
} from "./account-keys.ts";
import { accountsOf, checkDms, complain, layered, mergedKeys, resolveAccounts } from "./layers.ts";

const slackRateDefaults = { channelPerSecond: 1, channelBurst: 5, editsPerMinute: 50, totalPerMinute: 300 } as const;
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
  ...accountShape,
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

const slackKeys = overridable(slackShape, slackDefaults);

type SlackKeys = z.output<typeof slackKeys>;

function slackAccount(base: Visibility, root: SlackKeys, own: SlackKeys) {
  return {
    ...slackDefaults,
    ...root,
    ...own,
    ...mergedKeys(base, root, own),
    execApprovals: { ...approvalDefaults, ...root.execApprovals, ...own.execApprovals },
    sendRate: { ...slackRateDefaults, ...root.sendRate, ...own.sendRate },
    implicitMentions: { ...implicitMentionDefaults, ...root.implicitMentions, ...own.implicitMentions },
    slashCommand: { ...slashCommandDefaults, ...root.slashCommand, ...own.slashCommand },
  };
}

export const slackChannel = slackKeys.extend({ accounts: accountsOf(slackKeys) }).check(({ value, issues }) => {
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

/** What each account of the bot is run with, every default filled in. */
export function slackAccounts(channel: z.output<typeof slackChannel>, base: Visibility) {
  return resolveAccounts<SlackKeys, ReturnType<typeof slackAccount>>(channel, (root, own) =>
    slackAccount(base, root, own),
  );
}
