/** `tools.*`: the exec tool, tool policy and elevated access (seeds 000 and 002; decisions.md D6, D10). */
import * as z from "zod";
import { ASK_LEVELS, EXEC_HOSTS, EXEC_MODES, SECURITY_LEVELS } from "../../policy/types.ts";
import { count, flag, group, idsByChannel, list, otherwise, path, section, text } from "./values.ts";

export const RECORD_MODES = ["off", "pty", "all"] as const;

/** Node fires a longer timer at once. */
const MAX_TIMER_MS = 2_147_483_647;
const MAX_TIMER_SEC = Math.floor(MAX_TIMER_MS / 1000);

/** Bounds of exec.md section 13. */
const YIELD_MS = { min: 10, max: 120_000, default: 10_000 } as const;
const CLEANUP_MS = { min: 60_000, max: 10_800_000, default: 1_800_000 } as const;

const safeBinProfile = z.strictObject({
  minPositional: z.exactOptional(count("Fewest arguments that are not options.")),
  maxPositional: z.exactOptional(count("Most arguments that are not options.")),
  allowedValueFlags: z.exactOptional(list("Options that take a value and are allowed.")),
  deniedFlags: z.exactOptional(list("Options that are never allowed.")),
});

const applyPatch = {
  enabled: flag("Offer `apply_patch` to models."),
  workspaceOnly: flag("Refuse patches that write or delete outside the workspace."),
  allowModels: list("Only these models get it (`model` or `provider/model`); empty: every OpenAI model."),
};

const reviewer = {
  model: text("Model that reviews commands in mode `auto`; unset: a person is always asked."),
  timeoutMs: count("How long the reviewer may take before a person is asked.", 1_000, 600_000),
};

/** Keys that exist both globally and per agent. */
const execShape = {
  host: z
    .enum(EXEC_HOSTS, { error: 'not a host; for another machine use `host: "node"` and name it in `node`' })
    .describe("Where commands run. `auto`: the sandbox when one is active, else the gateway."),
  mode: z
    .enum(EXEC_MODES)
    .describe(
      "The policy in one word: refuse all, only listed commands, ask for the rest, review and then ask, or run all. The starter file says `ask`.",
    ),
  security: z.enum(SECURITY_LEVELS).describe("Which commands may run at all. Instead of `mode`."),
  ask: z.enum(ASK_LEVELS).describe("When a person is asked. Instead of `mode`."),
  node: text("Node (id or name) for `host: node` when several are paired."),
  nodeFromSandbox: flag("A call may go to a node although the session has a sandbox."),
  timeoutSec: count(
    "A command is ended after this many seconds; 0: never. A call's own `timeout` wins.",
    0,
    MAX_TIMER_SEC,
  ),
  backgroundMs: count("A command still running after this goes to the background.", YIELD_MS.min, YIELD_MS.max),
  cleanupMs: count("How long a finished session stays readable.", CLEANUP_MS.min, CLEANUP_MS.max),
  notifyOnExit: flag("A background command that ends wakes its session."),
  notifyOnExitEmptySuccess: flag("Also when it succeeded without output."),
  approvalRunningNoticeMs: count("Say once that an approved command still runs after this; 0: never.", 0, MAX_TIMER_MS),
  strictInlineEval: flag("`python -c`, `node -e` and the like always need approval."),
  strictBinding: flag("Refuse, instead of ask about, what can not be pinned to exact files."),
  argumentGuard: flag(
    "Options that make a listed program run another one, load code or write a file are not auto-allowed.",
  ),
  commandHighlighting: flag("Approval cards highlight the programs in a command."),
  pathPrepend: z.array(path("Directory.")).describe("Directories put before PATH (gateway and sandbox)."),
  safeBins: list("Filters that may run on stdin without an allowlist entry. Replaces the built-in list; `[]`: none."),
  safeBinTrustedDirs: z
    .array(path("Directory."))
    .describe("Directories trusted for safe bins besides /bin and /usr/bin."),
  safeBinProfiles: z.record(z.string().min(1), safeBinProfile).describe("Which arguments a custom safe bin may have."),
  record: z.enum(RECORD_MODES).describe("Keep a replayable recording of terminal sessions, of all, or of none."),
};

/** Not filled in: a narrower layer, a variable or the policy decides when the key is absent. */
const openDefaults = {
  host: otherwise(execShape.host, "auto"),
  security: otherwise(execShape.security, "full"),
  ask: otherwise(execShape.ask, "off"),
  backgroundMs: otherwise(execShape.backgroundMs, YIELD_MS.default),
  cleanupMs: otherwise(execShape.cleanupMs, CLEANUP_MS.default),
  safeBins: otherwise(execShape.safeBins, ["cut", "uniq", "head", "tail", "tr", "wc"]),
};

const execDefaults = {
  nodeFromSandbox: true,
  timeoutSec: 1_800,
  notifyOnExit: true,
  notifyOnExitEmptySuccess: false,
  approvalRunningNoticeMs: 10_000,
  strictInlineEval: false,
  strictBinding: false,
  argumentGuard: true,
  commandHighlighting: false,
  pathPrepend: [] as string[],
  safeBinTrustedDirs: [] as string[],
  safeBinProfiles: {},
  record: "off",
} as const satisfies Partial<{ [K in keyof typeof execShape]: z.output<(typeof execShape)[K]> }>;

function onePolicy(exec: { mode?: unknown; security?: unknown; ask?: unknown }, context: z.core.ParsePayload): void {
  for (const key of ["security", "ask"] as const) {
    if (exec.mode === undefined || exec[key] === undefined) continue;
    context.issues.push({
      code: "custom",
      input: exec[key],
      path: [key],
      message: "`mode` already says this; keep either `mode` or `security`/`ask`, not both",
    });
  }
}

const execSchema = group(
  {
    ...execShape,
    ...openDefaults,
    applyPatch: section(group(applyPatch, { enabled: true, workspaceOnly: true, allowModels: [] })),
    reviewer: section(group(reviewer, { timeoutMs: 30_000 })),
  },
  execDefaults,
).check((payload) => onePolicy(payload.value, payload));

const agentExecSchema = group(
  { ...execShape, applyPatch: group(applyPatch, {}), reviewer: group(reviewer, {}) },
  {},
).check((payload) => onePolicy(payload.value, payload));

/** Which tools exist: `deny` wins, a non-empty `allow` blocks the rest; `*` globs and `group:…` names. */
const toolLists = {
  allow: list("Only these tools (names, `*` globs, `group:runtime`, `group:fs` …); unset: all."),
  deny: list("Never these tools; wins over `allow`. `exec` here turns command execution off for good."),
};

const elevatedShape = {
  enabled: flag("Allow leaving the sandbox, for the people in `allowFrom`. Not available in this version: nobody can."),
  allowFrom: idsByChannel("Who may, per channel."),
};

const sandboxTools = group(
  { tools: section(group(toolLists, {}).describe("A second gate for sandboxed sessions.")) },
  {},
);

export const toolsSchema = group(
  {
    ...toolLists,
    elevated: section(group(elevatedShape, { enabled: true, allowFrom: {} })),
    sandbox: section(sandboxTools),
    exec: section(execSchema),
  },
  {},
);

export const agentToolsSchema = group(
  { ...toolLists, elevated: group(elevatedShape, {}), sandbox: sandboxTools, exec: agentExecSchema },
  {},
);
