/** `agents.*`, `bindings` and `models.*`: who runs commands, where they work, and what wakes them. */
import * as z from "zod";
import { agentToolsSchema } from "./exec.ts";
import {
  accountId,
  agentId,
  CHANNELS,
  count,
  duration,
  flag,
  group,
  list,
  oneId,
  otherwiseInWords,
  path,
  secret,
  section,
  text,
  url,
} from "./values.ts";

const ELEVATED_LEVELS = ["off", "on", "ask", "full"] as const;
const SANDBOX_MODES = ["off", "non-main", "all"] as const;
const SANDBOX_SCOPES = ["agent", "session", "shared"] as const;
const SANDBOX_BACKENDS = ["bwrap", "docker", "podman"] as const;
const WORKSPACE_ACCESS = ["none", "ro", "rw"] as const;

const ulimit = z.union([z.string().min(1), z.int(), z.strictObject({ soft: z.int(), hard: z.int() })]);

/** What only a container engine could do: `bwrap` refuses every command while such a key is set. */
const REFUSED = "For container engines; `bwrap` refuses it.";

const containerShape = {
  image: text(`Image of the container. ${REFUSED}`),
  containerPrefix: text(`Start of every container's name. ${REFUSED}`),
  workdir: text("Where the workspace is inside, and HOME."),
  readOnlyRoot: flag("The root file system can not be written. Off: what is written there is forgotten."),
  tmpfs: list("Directories that are writable and forgotten, 1 GiB each unless it says `/tmp:size=64m`."),
  network: text("`none`, or a network of a container engine; `bwrap` takes `none` only."),
  user: text("`uid:gid` inside, as numbers above 0; 1000:1000 when unset. Files outside are the gateway's own."),
  capDrop: list("Capabilities taken away; `bwrap` always takes all."),
  env: z.record(z.string(), z.string()).describe("Environment inside."),
  setupCommand: text(`Run once after the container was made. ${REFUSED}`),
  pidsLimit: count("Most processes of one command. By control groups.", 1),
  memory: text('Memory limit of one command, for example "1g". By control groups.'),
  memorySwap: text("Memory and swap together, at least `memory`. By control groups."),
  cpus: z.number().positive().describe("CPU limit of one command: 1.5 is one and a half. By control groups."),
  gpus: text(`GPUs handed in. ${REFUSED}`),
  ulimits: z.record(z.string(), ulimit).describe("Limits of each process by name, as in prlimit(1)."),
  seccompProfile: path(`Seccomp profile. ${REFUSED}`),
  apparmorProfile: text(`AppArmor profile. ${REFUSED}`),
  dns: list(`Name servers. ${REFUSED}`),
  extraHosts: list(`\`name:address\` lines for /etc/hosts. ${REFUSED}`),
  binds: list("`source:target:ro|rw` mounts."),
  dangerouslyAllowExternalBindSources: flag("Binds may come from outside the workspaces."),
  dangerouslyAllowReservedContainerTargets: flag("Binds may cover /workspace and /agent."),
  dangerouslyAllowContainerNamespaceJoin: flag(`\`network: container:<id>\` is allowed. ${REFUSED}`),
};

const pruneShape = {
  idleHours: count("Remove a sandbox unused for this long; 0: never."),
  maxAgeDays: count("Remove a sandbox older than this; 0: never."),
};

const sandboxShape = {
  mode: z.enum(SANDBOX_MODES).describe("Which sessions are sandboxed."),
  scope: z.enum(SANDBOX_SCOPES).describe("What shares one sandbox."),
  backend: z.enum(SANDBOX_BACKENDS).meta({
    description:
      "What makes the sandbox. `docker` and `podman` are not available in this version: chosen, every command is refused.",
    defaultInWords: "bwrap on Linux, else docker",
  }),
  workspaceAccess: z.enum(WORKSPACE_ACCESS).describe("How the sandbox sees the agent's workspace."),
  workspaceRoot: otherwiseInWords(path("Where sandboxes keep their own files."), "<state>/sandboxes"),
};

const sandboxSchema = group(
  {
    ...sandboxShape,
    docker: section(
      group(containerShape, {
        containerPrefix: "openclaw-",
        workdir: "/workspace",
        readOnlyRoot: true,
        tmpfs: ["/tmp", "/var/tmp", "/run"],
        network: "none",
        capDrop: ["ALL"],
        env: { LANG: "C.UTF-8" },
        binds: [],
        dangerouslyAllowExternalBindSources: false,
        dangerouslyAllowReservedContainerTargets: false,
        dangerouslyAllowContainerNamespaceJoin: false,
      }),
    ),
    prune: section(group(pruneShape, { idleHours: 24, maxAgeDays: 7 })),
  },
  { mode: "off", scope: "agent", workspaceAccess: "none" },
);

const agentSandboxSchema = group(
  { ...sandboxShape, docker: group(containerShape, {}), prune: group(pruneShape, {}) },
  {},
);

const clockTime = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$|^24:00$/, { error: 'expected a time such as "08:00"; the day ends at "24:00"' });

const timezone = z
  .string()
  .refine(isTimezone, { error: 'expected a time zone such as "Europe/Amsterdam" or "UTC"' })
  .meta({ description: "Time zone of the hours.", defaultInWords: "the machine's" });

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone.length > 0;
  } catch {
    return false;
  }
}

const heartbeatShape = {
  every: duration('How often the agent is woken; "0m": never. Completion wakes are not affected.'),
  activeHours: z
    .strictObject({
      start: clockTime.describe("First minute of the day."),
      end: clockTime.describe("First minute after it."),
      timezone: z.exactOptional(timezone),
    })
    .describe("Scheduled heartbeats only between these hours."),
  target: z
    .enum(["last", "owner", "none", ...CHANNELS])
    .describe("Where a scheduled heartbeat speaks: the last chat, the owner, nowhere, or one channel."),
  to: oneId("Chat or person on that channel; Telegram topics as `<chat>:topic:<id>`."),
  accountId: accountId.describe("Which account of that channel."),
  session: text("Session it runs in instead of the main one."),
  model: text("Model for heartbeats."),
  prompt: text("What the agent is told instead of the built-in text."),
  ackMaxChars: count("An answer of `HEARTBEAT_OK` and at most this much else is not sent."),
};

/** How far one turn of the model may go. */
const turnShape = {
  maxSteps: count("Answers of the model in one turn; each may call tools.", 1, 200),
  maxOutputTokens: count("Longest single answer of the model, in its tokens.", 16, 1_000_000),
  timeoutSec: count("Longest turn, its commands included.", 5, 86_400),
  stepTimeoutSec: count("Longest wait for one answer of the model.", 1, 3_600),
  maxRetries: count("Further tries when the provider is busy, fails or can not be reached.", 0, 10),
  maxToolChars: count("What the model sees of one tool result; the middle of a longer one is left out.", 500, 200_000),
  historyTurns: count("Earlier turns the model is told; the oldest go first.", 0, 1_000),
  historyChars: count("Most characters of these together.", 0, 2_000_000),
  maxWaiting: count("Messages that may wait while a turn is going on; more are refused.", 1, 1_000),
};

const TURN_DEFAULTS = {
  maxSteps: 24,
  maxOutputTokens: 4_096,
  timeoutSec: 900,
  stepTimeoutSec: 120,
  maxRetries: 3,
  maxToolChars: 12_000,
  historyTurns: 40,
  historyChars: 120_000,
  maxWaiting: 20,
} as const;

const agentShape = {
  workspace: path("Directory commands start in."),
  model: text("Model as `provider/model`. Without one there is no agent, only commands."),
  instructions: text("What the agent is told about its work, beside the built-in text."),
  elevatedDefault: z
    .enum(ELEVATED_LEVELS)
    .describe("Elevated level of new sessions. Not available in this version: read and not used."),
};

export const agentsSchema = group(
  {
    defaults: section(
      group(
        {
          ...agentShape,
          workspace: otherwiseInWords(agentShape.workspace, "<state>/workspace"),
          sandbox: section(sandboxSchema),
          heartbeat: section(group(heartbeatShape, { every: "30m", target: "last", ackMaxChars: 300 })),
          turn: section(group(turnShape, TURN_DEFAULTS)),
        },
        { elevatedDefault: "off" },
      ),
    ),
    list: z
      .array(
        z.strictObject({
          id: agentId("Name of the agent; part of every session key."),
          ...group(
            {
              default: flag("Takes what no binding routes elsewhere. Without it the first agent does."),
              name: text("Name shown to people."),
              ...agentShape,
              sandbox: agentSandboxSchema,
              heartbeat: group(heartbeatShape, {}),
              turn: group(turnShape, {}),
              tools: agentToolsSchema,
            },
            {},
          ).shape,
        }),
      )
      .describe("Agents; without any there is one called `main`."),
  },
  { list: [] },
).check((payload) => {
  const seen = new Set<string>();
  payload.value.list.forEach((agent, index) => {
    const key = agent.id.toLowerCase();
    if (seen.has(key)) {
      payload.issues.push({
        code: "custom",
        input: agent.id,
        path: ["list", index, "id"],
        message: "two agents have this id; ids are compared without regard to case",
      });
    }
    seen.add(key);
  });
  const defaults = payload.value.list.flatMap((agent, index) => (agent.default ? [index] : []));
  for (const index of defaults.slice(1)) {
    payload.issues.push({
      code: "custom",
      input: true,
      path: ["list", index, "default"],
      message: `only one agent can be the default; agents.list[${defaults[0]}] already is`,
    });
  }
});

/** First match wins; what is left out matches anything. */
export const bindingsSchema = z
  .array(
    z.strictObject({
      agentId: agentId("Agent that gets these messages."),
      match: group(
        {
          channel: z.enum(CHANNELS).describe("Channel."),
          accountId: accountId.describe("Account of the channel."),
          peer: z
            .strictObject({
              kind: z.enum(["dm", "group", "channel"]).describe("Kind of chat."),
              id: oneId("The person in a DM, else the chat."),
            })
            .describe("One chat."),
          scopeId: oneId("Slack team or Discord guild."),
        },
        {},
      ).describe("What a message must come from."),
    }),
  )
  .describe("Which agent answers where. First match wins.");

const MODEL_APIS = ["openai-completions", "anthropic-messages"] as const;

export const modelsSchema = group(
  {
    providers: z
      .record(
        z.string().regex(/^[a-z0-9][a-z0-9._-]*$/i, { error: "a provider name is letters, digits, `.`, `-` or `_`" }),
        z.strictObject({
          api: z.enum(MODEL_APIS).describe("Protocol the provider speaks."),
          baseUrl: z.exactOptional(url("Address, when it is not the provider's own.")),
          apiKey: z.exactOptional(secret("Key.")),
        }),
      )
      .describe("Model providers by name; used as `name/model`."),
  },
  { providers: {} },
);
