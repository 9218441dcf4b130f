/** `channels.*` and `accessGroups`: bot accounts, who may talk, where approvals go (channels.md sections 1, 2, 5.1, 9.2). */
import * as z from "zod";
import { visibility } from "./channels/account-keys.ts";
import { discordAccounts, discordChannel } from "./channels/discord.ts";
import { slackAccounts, slackChannel } from "./channels/slack.ts";
import { telegramAccounts, telegramChannel } from "./channels/telegram.ts";
import { idsByChannelOrAll, overridable } from "./values.ts";

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
      ...(slack && { slack: slackAccounts(slack, base) }),
      ...(discord && { discord: discordAccounts(discord, base) }),
      ...(telegram && { telegram: telegramAccounts(telegram, base) }),
    };
  });

const groupShape = {
  type: z
    .enum(["message.senders", "slack.usergroup", "discord.channelAudience"])
    .describe(
      "What the group is: people by id, a Slack user group, or everybody who may see a Discord channel. The last two are looked up at the platform, and nobody is in them while that fails.",
    ),
  members: idsByChannelOrAll("Of `message.senders`: ids per channel; `*`: on every channel."),
  usergroup: z
    .string()
    .regex(/^S[A-Z0-9]{2,20}$/, { error: "the id of a Slack user group, which begins with S" })
    .describe("Of `slack.usergroup`: its id. The app needs the scope `usergroups:read`."),
  channel: z
    .string()
    .regex(/^\d{15,21}$/, { error: "the id of a Discord channel, 17 to 20 digits in quotes" })
    .describe("Of `discord.channelAudience`: the channel's id; a thread has no audience of its own."),
};
const GROUP_KEY = {
  "message.senders": "members",
  "slack.usergroup": "usergroup",
  "discord.channelAudience": "channel",
} as const;

const accessGroup = overridable(groupShape).check(({ value, issues }) => {
  if (value.type === undefined) {
    issues.push({
      code: "custom",
      path: ["type"],
      input: value,
      message: `one of ${Object.keys(GROUP_KEY).join(", ")}`,
    });
    return;
  }
  const wanted = GROUP_KEY[value.type];
  if (value[wanted] === undefined) {
    issues.push({
      code: "custom",
      path: [wanted],
      input: value,
      message: `a group of type ${value.type} needs ${wanted}`,
    });
  }
  for (const key of Object.values(GROUP_KEY)) {
    if (key === wanted || value[key] === undefined) continue;
    issues.push({ code: "custom", path: [key], input: value, message: `not for a group of type ${value.type}` });
  }
});

/** Named lists of people, usable as `accessGroup:<name>` wherever ids are listed. */
export const accessGroupsSchema = z
  .record(
    z.string().regex(/^[a-z0-9][a-z0-9_-]*$/i, { error: "a group name is letters, digits, `-` or `_`" }),
    accessGroup,
  )
  .describe("Named lists of people, used as `accessGroup:<name>` wherever ids are listed.");
