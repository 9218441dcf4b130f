/** The keys that a bot account has on every platform (channels.md sections 1, 2, 5.1). */
import * as z from "zod";
import { LANGUAGES } from "../../../words/languages.ts";
import { count, flag, ids, list, overridable, sessionFilter } from "../values.ts";

export const groupPolicy = z.enum(["allowlist", "open", "disabled"]);
export const replyToMode = z
  .enum(["off", "first", "all"])
  .describe("Answer in a thread below the message: `off` only where the message was in one, `first` and `all` always.");

const autoSwitch = z.union([z.boolean(), z.literal("auto")]);

export const webhookPath = (description: string) =>
  z
    .string()
    .regex(/^(?:\/[A-Za-z0-9._~-]+)+$/, {
      error: "a path such as /slack/events, without host, query or `/` at its end",
    })
    .describe(description);

export const accountDefaults = {
  enabled: true,
  dmPolicy: "pairing",
  allowFrom: [] as string[],
  groupPolicy: "allowlist",
  requireMention: true,
  allowBots: false,
} as const;
export const dmDefaults = { enabled: true, groupEnabled: false } as const;
export const approvalDefaults = { enabled: "auto", target: "dm" } as const;
export const visibilityDefaults = { showOk: false, showAlerts: true, useIndicator: true } as const;

export const visibility = overridable(
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

export const execApprovalsShape = {
  enabled: autoSwitch.describe("Approval cards on this channel. `auto`: when somebody there may approve."),
  approvers: ids("People who may approve; unset: the owners of this channel in `commands.ownerAllowFrom`."),
  target: z
    .enum(["dm", "channel", "both"])
    .describe("Where the card goes: to the approvers, to the chat that asked, or both."),
  agentFilter: list("Only requests of these agents."),
  sessionFilter,
};
const execApprovals = overridable(execApprovalsShape, approvalDefaults);

export const accountShape = {
  enabled: flag("Connect."),
  dmPolicy: z.enum(["pairing", "allowlist", "open", "disabled"]).describe("Who may write to the bot directly."),
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

export const SEND_RATE = "How fast the bot writes, so that the platform never has to refuse it.";
export const perSecond = (text: string) => count(text, 1, 1_000);
export const perMinute = (text: string) => count(text, 1, 60_000);

const accountKeys = overridable(accountShape, accountDefaults);

export type AccountKeys = z.output<typeof accountKeys>;
export type Visibility = z.output<typeof visibility>;
