/** The work behind `openclaw-exec sandbox`. */

import { systemClock } from "../core/clock.ts";
import { type LoadedConfig, loadConfig, renderProblems } from "../core/config/load.ts";
import { ExecError } from "../core/errors.ts";
import { type SandboxSettings, sandboxSettings, sandboxTools } from "../core/exec/sandbox-settings.ts";
import { defaultAgentId, findAgent, isSandboxed } from "../core/exec/settings.ts";
import { type Folder, SandboxFolders } from "../core/hosts/sandbox/folders.ts";
import type { Limits } from "../core/hosts/sandbox/limits.ts";
import type { Place, Sandboxes } from "../core/hosts/sandbox/sandboxes.ts";
import { scopeKey } from "../core/hosts/sandbox/scope.ts";
import { sandboxUsers } from "../core/hosts/sandbox/users.ts";
import { readProcStat } from "../core/process/proc-table.ts";
import { Reaper } from "../core/process/reaper.ts";
import { inEnglish } from "../core/words/phrase.ts";
import { createGatewaySandboxes, sandboxRoots } from "../gateway/sandbox.ts";
import { type Cli, EXIT } from "./io.ts";

export async function explain(
  cli: Cli,
  options: { readonly session?: string; readonly agent?: string; readonly json?: boolean },
): Promise<number> {
  const loaded = await load(cli);
  const { config, stateDir } = loaded;
  const agentId = knownAgent(loaded, options.agent ?? agentOf(options.session));
  const sessionKey = options.session ?? `agent:${agentId}:main`;
  const settings = sandboxSettings(config, agentId, stateDir);
  const sandboxed = isSandboxed(config, sessionKey, agentId);
  const sandboxes = sandboxesOf(cli, loaded);
  const seen = look(sandboxes, agentId, sessionKey);
  // Where no session is sandboxed nothing is tried, and nothing made.
  const tried = settings.mode !== "off";
  const problem =
    "problem" in seen
      ? seen.problem
      : tried
        ? await sandboxes.problem(seen.place).then((why) => why && inEnglish(why))
        : undefined;
  const { lists, key } = sandboxTools(config, agentId);
  const host = findAgent(config, agentId)?.tools?.exec?.host ?? config.tools.exec.host ?? "auto";
  const report = {
    sessionKey,
    agentId,
    sandboxed,
    why: whySandboxed(settings, sandboxed, sessionKey),
    host,
    mode: settings.mode,
    backend: settings.backend,
    ...(tried ? { works: problem === undefined } : {}),
    ...(problem === undefined ? {} : { problem }),
    scope: settings.scope,
    scopeKey: scopeKey({ ...settings, sessionKey }),
    workspaceAccess: settings.workspaceAccess,
    mounts: "place" in seen ? seen.place.mounts : [],
    forgotten: settings.docker.tmpfs,
    network: settings.docker.network,
    limits: "place" in seen ? limitLines(sandboxes, seen.place) : [],
    prune: settings.prune,
    tools: { allow: lists.allow ?? [], deny: lists.deny ?? [], from: key },
    elevated: "not available in this version: no call leaves the sandbox",
    keys: ["mode", "scope", "workspaceAccess", "docker.binds"].map((field) => settings.keyOf(field)),
  };
  if (options.json) cli.out(JSON.stringify(report, null, 2));
  else for (const [name, value] of rows(report)) cli.out(`${name.padEnd(10)} ${value}`);
  return sandboxed && problem !== undefined ? EXIT.failed : EXIT.ok;
}

type Report = {
  readonly [K in
    | "sessionKey"
    | "why"
    | "host"
    | "backend"
    | "problem"
    | "scope"
    | "scopeKey"
    | "network"
    | "elevated"]?: string;
} & Pick<SandboxSettings, "workspaceAccess" | "prune"> & {
    readonly sandboxed: boolean;
    readonly works?: boolean;
    readonly mounts: Place["mounts"];
    readonly forgotten: readonly string[];
    readonly limits: readonly string[];
    readonly tools: { readonly allow: readonly string[]; readonly deny: readonly string[]; readonly from: string };
    readonly keys: readonly string[];
  };

const ACCESS = {
  none: "none: commands see a private directory",
  ro: "ro: commands see a private directory, and the agent's workspace read-only at /agent",
  rw: "rw: commands work in the agent's workspace itself",
} as const;

function rows(report: Report): (readonly [string, string])[] {
  const { tools, prune } = report;
  const several = (name: string, lines: readonly string[]): (readonly [string, string])[] =>
    (lines.length === 0 ? ["none"] : lines).map((line, at) => [at === 0 ? name : "", line]);
  const hours = prune.idleHours === 0 ? "never for being idle" : `after ${prune.idleHours} h without use`;
  const days = prune.maxAgeDays === 0 ? "never for its age" : `${prune.maxAgeDays} days after it was made`;
  return [
    ["session", report.sessionKey ?? ""],
    ["sandboxed", `${report.sandboxed ? "yes" : "no"}: ${report.why}`],
    ...(report.sandboxed && report.host !== "auto" && report.host !== "sandbox"
      ? [["but", `tools.exec.host is ${report.host}: commands run there, not in the sandbox`] as const]
      : []),
    [
      "backend",
      `${report.backend}, ${report.problem !== undefined ? `does not work: ${report.problem}` : report.works ? "works here" : "not tried"}`,
    ],
    ["scope", `${report.scope} (${report.scopeKey})`],
    ["workspace", ACCESS[report.workspaceAccess]],
    ...several(
      "mounts",
      report.mounts.map((mount) => `${mount.inside} (${mount.mode}) is ${mount.host}`),
    ),
    ["forgotten", report.forgotten.join(", ") || "none"],
    ["network", report.network ?? "none"],
    ...several("limits", report.limits),
    ["removed", `${hours}, ${days}`],
    ["tools", `allow ${namesOr(tools.allow, "all")}, deny ${namesOr(tools.deny, "none")} (${tools.from})`],
    ["elevated", report.elevated ?? ""],
    ...several("change", report.keys),
  ];
}

function namesOr(names: readonly string[], none: string): string {
  return names.length === 0 ? none : names.join(" ");
}

function whySandboxed({ mode, keyOf }: SandboxSettings, sandboxed: boolean, sessionKey: string): string {
  const key = `${keyOf("mode")} is ${mode}`;
  if (mode !== "non-main") return key;
  return sandboxed ? `${key}, and this is not the main session` : `${key}, and ${sessionKey} is the main session`;
}

/** How each limit is enforced here, or why it can not be. */
function limitLines(sandboxes: Sandboxes, { limits, settings }: Place): string[] {
  const { groups, prlimit }: Limits = limits;
  const { docker } = settings;
  const lines: string[] = [];
  const trees = sandboxes.groups.trees();
  for (const [field, controller] of [
    ["pidsLimit", "pids"],
    ["memory", "memory"],
    ["memorySwap", "memory"],
    ["cpus", "cpu"],
  ] as const) {
    if (docker[field] === undefined) continue;
    const version = trees.get(controller)?.version;
    lines.push(`${field} ${docker[field]}${version === undefined ? "" : ` (control groups, version ${version})`}`);
  }
  if (lines.length > 0) {
    const made = sandboxes.groups.create(`explain-${process.pid}`, groups);
    if ("field" in made)
      lines.push(`every command is refused: ${settings.keyOf(`docker.${made.field}`)}: ${inEnglish(made.why)}`);
    else void made.remove();
  }
  return [...lines, ...prlimit.map((argument) => `${argument.slice(2)} (prlimit)`)];
}

function look(sandboxes: Sandboxes, agentId: string, sessionKey: string): { place: Place } | { problem: string } {
  try {
    return { place: sandboxes.outline(agentId, sessionKey) };
  } catch (error) {
    if (error instanceof ExecError) return { problem: error.message };
    throw error;
  }
}

export async function list(cli: Cli, options: { readonly json?: boolean }): Promise<number> {
  const found = await folders(cli);
  if (options.json) {
    cli.out(
      JSON.stringify(
        found.map(({ folder, pids }) => ({ ...folder, pids })),
        null,
        2,
      ),
    );
    return EXIT.ok;
  }
  if (found.length === 0) cli.out("There are no private directories of sandboxes.");
  for (const { folder, pids } of found) {
    const used = pids.length > 0 ? "in use now" : `last used ${minuteOf(folder.lastUsedAtMs)}`;
    cli.out(`${folder.name}  ${folder.key}  made ${minuteOf(folder.createdAtMs)}, ${used}\n  ${folder.workspace}`);
  }
  return EXIT.ok;
}

export async function recreate(
  cli: Cli,
  options: { readonly all?: boolean; readonly session?: string; readonly agent?: string; readonly force?: boolean },
): Promise<number> {
  const wanted = [options.all, options.session, options.agent].filter((one) => one !== undefined);
  if (wanted.length !== 1) {
    cli.err("Say which: --all, --session <key> or --agent <id>.");
    return EXIT.usage;
  }
  const loaded = await load(cli);
  const agentId = options.agent === undefined ? undefined : knownAgent(loaded, options.agent);
  const chosen = (await folders(cli, loaded)).filter(
    ({ folder }) =>
      options.all === true ||
      (options.session !== undefined && folder.key === options.session) ||
      (agentId !== undefined && folder.scope !== "shared" && folder.agentId.toLowerCase() === agentId.toLowerCase()),
  );
  if (chosen.length === 0) {
    cli.out("There is no such private directory; nothing was removed.");
    return EXIT.ok;
  }
  const busy = chosen.filter(({ pids }) => pids.length > 0);
  if (busy.length > 0 && options.force !== true) {
    for (const { folder } of busy) cli.err(`${folder.name} (${folder.key}) is in use.`);
    cli.err("Nothing was removed. Wait for the commands to end, or add --force to end them.");
    return EXIT.failed;
  }
  await end(busy.flatMap(({ pids }) => pids));
  for (const { folder, root } of chosen) {
    await new SandboxFolders(root).remove(folder.name);
    cli.out(`Removed ${folder.name} (${folder.key}).`);
  }
  return EXIT.ok;
}

/** SIGTERM, and SIGKILL after the usual grace, for each with all it started. */
async function end(pids: readonly number[]): Promise<void> {
  const reaper = new Reaper({ clock: systemClock });
  for (const pid of pids) {
    const startTicks = readProcStat(pid)?.startTicks;
    if (startTicks === undefined) continue;
    const known = new Map([[pid, startTicks]]);
    reaper.stop({ pid, startTicks, ownGroup: false, terminal: false, known, mark: undefined }, "everything", () => {});
  }
  await reaper.idle();
}

interface FoundFolder {
  readonly root: string;
  readonly folder: Folder;
  /** Programs that hold it. */
  readonly pids: readonly number[];
}

async function folders(cli: Cli, given?: LoadedConfig): Promise<FoundFolder[]> {
  const loaded = given ?? (await load(cli));
  const used = sandboxUsers();
  return sandboxRoots(loaded.config, loaded.stateDir).flatMap((root) =>
    new SandboxFolders(root).list().map((folder) => ({ root, folder, pids: used.get(folder.name) ?? [] })),
  );
}

export function sandboxesOf(cli: Cli, { config, stateDir, home }: LoadedConfig): Sandboxes {
  return createGatewaySandboxes({
    config: () => config,
    stateDir,
    home,
    clock: systemClock,
    path: cli.env.PATH,
    onError: (error, what) => cli.err(`${what}: ${error instanceof Error ? error.message : String(error)}`),
  });
}

async function load(cli: Cli): Promise<LoadedConfig> {
  const loaded = await loadConfig({ env: cli.env, workingDir: cli.cwd });
  if (!loaded.ok) throw new ExecError("invalid-argument", renderProblems(loaded.file.path, loaded.problems));
  return loaded;
}

function knownAgent({ config }: LoadedConfig, wanted: string | undefined): string {
  if (wanted === undefined) return defaultAgentId(config);
  const found =
    findAgent(config, wanted)?.id ??
    (config.agents.list.length === 0 && wanted === defaultAgentId(config) ? wanted : undefined);
  if (found !== undefined) return found;
  const known = config.agents.list.map(({ id }) => id).join(", ") || defaultAgentId(config);
  throw new ExecError("invalid-argument", `There is no agent "${wanted.slice(0, 64)}". Known: ${known}.`);
}

function agentOf(sessionKey: string | undefined): string | undefined {
  return /^agent:([^:]+):/.exec(sessionKey ?? "")?.[1];
}

function minuteOf(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
