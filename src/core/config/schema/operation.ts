/** `approvals`, `commands`, `session`, `messages`, `gateway`, `redis`, `logging`, `limits`: how the product behaves and runs. */
import * as z from "zod";
import { LANGUAGES } from "../../words/languages.ts";
import {
  accountId,
  CHANNELS,
  count,
  flag,
  group,
  ids,
  idsByChannelOrAll,
  list,
  oneId,
  otherwiseInWords,
  secret,
  section,
  sessionFilter,
  text,
  url,
} from "./values.ts";

const MAX_PORT = 65_535;
const DAY_SEC = 86_400;

/** A reminder later than the day after is none. */
const SNOOZE_SEC = { min: 1, max: DAY_SEC, default: 600 } as const;

/** decisions.md D13: 30 minutes. Longer than a Node timer can count is fine, expiry is a delayed job. */
const APPROVAL_TIMEOUT_SEC = { min: 1, max: 365 * DAY_SEC, default: 1_800 } as const;

export const approvalsSchema = group(
  {
    timeoutSec: count(
      "How long a request waits for a person. Silence is never consent.",
      APPROVAL_TIMEOUT_SEC.min,
      APPROVAL_TIMEOUT_SEC.max,
    ),
    snoozeSec: count(
      "How long *Snooze* puts a request off. It is asked again at the latest two minutes before it expires.",
      SNOOZE_SEC.min,
      SNOOZE_SEC.max,
    ),
    selfApproval: z.enum(["allow", "deny"]).describe("May an approver approve what they asked for themselves?"),
    tellOwners: flag(
      "Tell the owners in a direct message when what may run was changed, by an always-rule, `/allowlist`, `/exec` or in the files. Never who did it.",
    ),
    wakeOnDenial: flag("Tell the agent when its request was denied or expired."),
    exec: section(
      group(
        {
          enabled: flag("Also send approval requests to the chat that asked or to other chats."),
          mode: z.enum(["session", "targets", "both"]).describe("To the chat that asked, to `targets`, or to both."),
          agentFilter: list("Only requests of these agents."),
          sessionFilter,
          targets: z
            .array(
              group(
                {
                  channel: z.enum(CHANNELS).describe("Channel."),
                  to: oneId("Chat, or person as `user:id`."),
                  accountId: accountId.describe("Account of the channel."),
                  threadId: oneId("Thread or topic."),
                },
                {},
              ).required({ channel: true, to: true }),
            )
            .describe("The other chats."),
        },
        { enabled: false, mode: "session", targets: [] },
      ),
    ),
  },
  {
    timeoutSec: APPROVAL_TIMEOUT_SEC.default,
    snoozeSec: SNOOZE_SEC.default,
    selfApproval: "allow",
    tellOwners: true,
    wakeOnDenial: false,
  },
);

export const commandsSchema = group(
  {
    native: z
      .union([z.boolean(), z.literal("auto")])
      .describe(
        "Register slash commands with the platforms. `auto`: Discord and Telegram; Slack has them in its manifest.",
      ),
    text: flag("Understand `/command` typed as an ordinary message."),
    bash: flag("`!command` and `/bash command` run a command."),
    bashForegroundMs: count("How long those wait before they answer that the command runs on.", 0, 30_000),
    useAccessGroups: flag("Commands obey the access rules of rooms and access groups."),
    allowlist: flag("Owners may change the allowlist from a chat: `/allowlist add` and `/allowlist remove`."),
    allowFrom: idsByChannelOrAll("When set, the only people who may use commands, per channel; `*`: on every channel."),
    ownerAllowFrom: ids('Owners as "channel:id", for example "slack:U0123". They approve and administer.'),
  },
  {
    native: "auto",
    text: true,
    bash: false,
    bashForegroundMs: 2_000,
    allowlist: false,
    useAccessGroups: true,
    ownerAllowFrom: [],
  },
).check(({ value, issues }) => {
  for (const [index, owner] of value.ownerAllowFrom.entries()) {
    if (/^(web|slack|discord|telegram):[^*\s]+$/.test(owner)) continue;
    issues.push({
      code: "custom",
      input: owner,
      path: ["ownerAllowFrom", index],
      message:
        'an owner is written "channel:id", for example "slack:U0123", "discord:123…" or "telegram:42"; `*` is not an owner',
    });
  }
});

const DM_SCOPES = ["main", "per-peer", "per-channel-peer", "per-account-channel-peer"] as const;

export const sessionSchema = group(
  {
    dmScope: z
      .enum(DM_SCOPES)
      .describe("Which direct messages share a session. `main` lets people see each other's output."),
    identityLinks: z
      .record(z.string().min(1), z.array(z.string().min(1)))
      .describe('One person on several channels: { alice: ["slack:U1", "telegram:42"] }.'),
    reset: section(
      group(
        {
          mode: z.enum(["none", "daily", "idle"]).describe("When a session starts anew by itself."),
          atHour: count("Hour of the daily reset.", 0, 23),
          idleMinutes: count("Minutes without a message.", 1),
        },
        { mode: "none", atHour: 4, idleMinutes: 60 },
      ),
    ),
  },
  { dmScope: "per-channel-peer", identityLinks: {} },
);

const mentionPattern = z.string().min(1).max(200).refine(isRegex, { error: "not a valid regular expression" });

function isRegex(source: string): boolean {
  try {
    return new RegExp(source, "iu").source.length > 0;
  } catch {
    return false;
  }
}

export const messagesSchema = group(
  {
    locale: z.enum(LANGUAGES).describe("Language when the platform does not tell a person's own."),
    groupChat: section(
      group(
        { mentionPatterns: z.array(mentionPattern).describe("Regular expressions that count as addressing the bot.") },
        { mentionPatterns: [] },
      ),
    ),
  },
  { locale: "en" },
);

const BIND_MODES = ["loopback", "lan", "tailnet", "custom", "auto"] as const;

export const gatewaySchema = group(
  {
    port: count("Port of the web chat, the API and nodes; 0: any free one.", 0, MAX_PORT),
    bind: z
      .enum(BIND_MODES)
      .describe("Who can connect: this machine, the network, the Tailscale network, or `host`. `auto`: this machine."),
    host: text("Address to listen on with `bind: custom`."),
    publicUrl: url("Address people open, for links in messages and in the Slack manifest."),
    allowedOrigins: z.array(url("Origin.")).describe("Other web origins that may use the API."),
    allowedHosts: list("Other host names the gateway answers to."),
    drainTimeoutSec: count("How long a stopping gateway waits for work in progress.", 0, 600),
    maxBodyBytes: count("Largest request body.", 1_024, 64 * 1_048_576),
    auth: section(
      group(
        {
          mode: z.enum(["token", "none"]).describe("`none` only works on loopback."),
          token: otherwiseInWords(
            secret("Token of the web chat and the API; or OPENCLAW_GATEWAY_TOKEN."),
            "made at the first start, kept in <state>/gateway-token",
          ),
          maxFailures: count("Wrong tokens from one address before it has to wait.", 1, 1_000),
          lockoutSec: count("How long it has to wait.", 1, DAY_SEC),
        },
        { mode: "token", maxFailures: 10, lockoutSec: 300 },
      ),
    ),
    nodes: section(
      group(
        {
          autoApproveLocal: flag("Nodes on this machine that know the gateway's token are paired without asking."),
          autoApproveCidrs: z
            .array(z.union([z.cidrv4(), z.cidrv6()]))
            .describe("So are nodes from these networks; their commands still wait for an owner."),
          reconnectGraceSec: count("How long a node may be gone before what runs on it counts as lost.", 1, 3_600),
          commands: section(
            group(
              {
                allow: list("Only these node commands; unset: what was approved at pairing."),
                deny: list("Never these; wins."),
              },
              {},
            ),
          ),
        },
        { autoApproveLocal: true, autoApproveCidrs: [], reconnectGraceSec: 30 },
      ),
    ),
  },
  {
    port: 18_789,
    bind: "loopback",
    allowedOrigins: [],
    allowedHosts: [],
    drainTimeoutSec: 10,
    maxBodyBytes: 1_048_576,
  },
).check(({ value, issues }) => {
  const complain = (path: string[], input: unknown, message: string) =>
    issues.push({ code: "custom", path, input, message });
  if (value.bind === "custom" && value.host === undefined) {
    complain(["bind"], value.bind, "`custom` needs `gateway.host`, the address to listen on");
  }
  if (value.bind !== "custom" && value.host !== undefined) {
    complain(["host"], value.host, "`host` is only used with `gateway.bind: custom`");
  }
  if (value.auth.mode === "none" && value.bind !== "loopback" && value.bind !== "auto") {
    complain(
      ["auth", "mode"],
      value.auth.mode,
      "without a token the gateway only listens on loopback; set `gateway.auth.mode: token`",
    );
  }
});

export const redisSchema = group(
  {
    url: otherwiseInWords(
      secret("Redis to keep state and queue in, for several gateways; or REDIS_URL."),
      "none: SQLite in the state directory",
    ),
    prefix: text("Start of every key."),
    startWaitSec: count("How long a starting gateway waits for Redis to come up; meanwhile it is not ready.", 0, 3_600),
    board: flag("Bull Board at /queues, to look at the jobs in Redis; the password is the gateway token."),
  },
  { prefix: "openclaw:", startWaitSec: 120, board: false },
);

export const loggingSchema = group(
  {
    level: z.enum(["silent", "error", "warn", "info", "debug", "trace"]).describe("Least severe line that is written."),
  },
  { level: "info" },
);

export const limitsSchema = group(
  {
    maxConcurrentRuns: count("Commands running at once; more wait in line.", 1, 10_000),
    maxConcurrentRunsPerAgent: count("Of these per agent.", 1, 10_000),
    maxQueuedRuns: count("Commands waiting in line; more are refused.", 0, 100_000),
    maxConcurrentTurns: count("Turns of the model at once, over all conversations.", 1, 1_000),
    maxCommandChars: count("Longest command.", 1, 1_048_576),
    maxPendingApprovals: count("Approval requests waiting at once; more are refused.", 1, 100_000),
    maxLogBytes: count("Full log kept on disk per session.", 0, 1_073_741_824),
    maxLogTotalBytes: count("All full logs together; the oldest go first.", 0),
  },
  {
    maxConcurrentRuns: 32,
    maxConcurrentRunsPerAgent: 16,
    maxQueuedRuns: 500,
    maxConcurrentTurns: 8,
    maxCommandChars: 131_072,
    maxPendingApprovals: 200,
    maxLogBytes: 16 * 1_048_576,
    maxLogTotalBytes: 512 * 1_048_576,
  },
);
