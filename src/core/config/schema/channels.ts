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
