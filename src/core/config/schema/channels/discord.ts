/** `channels.discord`. */
import * as z from "zod";
import { count, flag, ids, overridable, secret, text, url } from "../values.ts";
import {
  accountDefaults,
  accountShape,
  approvalDefaults,
  execApprovalsShape,
  perSecond,
  SEND_RATE,
  type Visibility,
} from "./account-keys.ts";
import { accountsOf, checkDms, layered, mergedKeys, resolveAccounts } from "./layers.ts";

const discordRateDefaults = { channelPerFiveSeconds: 5, totalPerSecond: 50 } as const;
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
  ...accountShape,
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
  maxLinesPerMessage: count(
    "Most lines of one message of text, so that nobody scrolls past a wall; the next message begins below it.",
    5,
    2_000,
  ),
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

const discordDefaults = { ...accountDefaults, maxLinesPerMessage: 17 } as const;
const discordKeys = overridable(discordShape, discordDefaults);

type DiscordKeys = z.output<typeof discordKeys>;

function discordAccount(base: Visibility, root: DiscordKeys, own: DiscordKeys) {
  return {
    ...discordDefaults,
    ...root,
    ...own,
    ...mergedKeys(base, root, own),
    execApprovals: { ...approvalDefaults, cleanupAfterResolve: false, ...root.execApprovals, ...own.execApprovals },
    sendRate: { ...discordRateDefaults, ...root.sendRate, ...own.sendRate },
    intents: { ...intentDefaults, ...root.intents, ...own.intents },
  };
}

export const discordChannel = discordKeys.extend({ accounts: accountsOf(discordKeys) }).check(({ value, issues }) => {
  for (const { keys, at } of layered<DiscordKeys>(value)) checkDms(keys, at, issues);
});

/** What each account of the bot is run with, every default filled in. */
export function discordAccounts(channel: z.output<typeof discordChannel>, base: Visibility) {
  return resolveAccounts<DiscordKeys, ReturnType<typeof discordAccount>>(channel, (root, own) =>
    discordAccount(base, root, own),
  );
}
