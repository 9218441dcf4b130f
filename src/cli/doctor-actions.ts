/** The checks behind `openclaw-exec doctor`. Each says what it found; `--fix` repairs what needs no decision. */
import { randomUUID } from "node:crypto";
import { accessSync, chmodSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { approverNames, approversOf } from "../core/access/channel-access.ts";
import { isGrant, readDocument, removeRules, rulesOf, scopesOf } from "../core/approvals/approvals-document.ts";
import { APPROVALS_FILE, LAST_GOOD_SUFFIX, openApprovalsFile } from "../core/approvals/approvals-file.ts";
import { systemClock } from "../core/clock.ts";
import { editConfig } from "../core/config/edit.ts";
import { type LoadedConfig, type LoadResult, loadConfig, renderProblems } from "../core/config/load.ts";
import { isSymlink } from "../core/config/paths.ts";
import type { SlackAccountConfig } from "../core/config/schema.ts";
import { ExecError } from "../core/errors.ts";
import { sandboxSettings } from "../core/exec/sandbox-settings.ts";
import { defaultAgentId } from "../core/exec/settings.ts";
import type { Sandboxes } from "../core/hosts/sandbox/sandboxes.ts";
import { INTERPRETERS, nameIn, SHELLS } from "../core/policy/program-kinds.ts";
import { DEFAULT_SAFE_BINS } from "../core/policy/resolve.ts";
import { hasBuiltinProfile, isNeverSafe, SYSTEM_BIN_DIRS } from "../core/policy/safe-bins.ts";
import { loadDirectSpawn } from "../core/process/direct-spawn.ts";
import { StateDatabase } from "../core/store/database.ts";
import { STATE_FILE } from "../core/store/open-state.ts";
import { inEnglish } from "../core/words/phrase.ts";
import { BUTTONS_WHERE } from "./buttons-where.ts";
import { type Cli, EXIT } from "./io.ts";
import { sandboxesOf } from "./sandbox-actions.ts";

interface Check {
  readonly name: string;
  readonly state: "ok" | "warning" | "error" | "fixed";
  readonly message: string;
}

interface Visit {
  readonly cli: Cli;
  readonly loaded: LoadResult;
  readonly fix: boolean;
}

export async function doctor(cli: Cli, options: { fix?: boolean; json?: boolean }): Promise<number> {
  const loaded = await loadConfig({ env: cli.env, workingDir: cli.cwd });
  const visit: Visit = { cli, loaded, fix: options.fix === true };
  const checks = [
    nodeVersion(),
    stateDirectory(visit),
    configuration(loaded),
    shell(visit),
    commandStart(),
    ...(await approvalsFile(visit)),
    ...(loaded.ok ? await state(loaded) : []),
    ...(loaded.ok ? [...(await safeBins(visit, loaded)), ...(await sandbox(visit, loaded)), ...approvers(loaded)] : []),
  ];
  const bad = checks.some((check) => check.state === "error");
  if (options.json) cli.out(JSON.stringify({ ok: !bad, checks }, null, 2));
  else for (const { state, name, message } of checks) cli.out(`${state.padEnd(8)} ${name}: ${message}`);
  return bad ? EXIT.failed : EXIT.ok;
}

const MIN_NODE = [20, 19] as const;

function nodeVersion(): Check {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const old = major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1]);
  return old
    ? {
        name: "Node.js",
        state: "error",
        message: `${process.version} is too old; ${MIN_NODE.join(".")} or newer is needed`,
      }
    : { name: "Node.js", state: "ok", message: process.version };
}

function stateDirectory({ loaded, fix }: Visit): Check {
  const name = "state directory";
  const { stateDir } = loaded;
  const stat = statSync(stateDir, { throwIfNoEntry: false });
  if (!stat) return { name, state: "ok", message: `${stateDir} will be made at the first start` };
  if (!stat.isDirectory()) return { name, state: "error", message: `${stateDir} is not a directory` };
  if (process.platform !== "win32" && (stat.mode & 0o077) !== 0) {
    if (!fix) return { name, state: "error", message: `others may enter ${stateDir}; run: chmod 700 ${stateDir}` };
    chmodSync(stateDir, 0o700);
    return { name, state: "fixed", message: `${stateDir} is now open to you alone` };
  }
  return { name, state: "ok", message: stateDir };
}

/** Where requests, runs and jobs are kept: the Redis, or the file in the state directory. */
async function state({ stateDir, secrets, config }: LoadedConfig): Promise<Check[]> {
  if (secrets.redisUrl !== undefined) {
    // A third of a second that only those with a Redis wait for.
    const { examineRedis } = await import("../core/store/redis-examine.ts");
    const findings = await examineRedis(secrets.redisUrl, config.redis.prefix);
    return findings.map((finding) => ({ name: "Redis", ...finding }));
  }
  const name = "state";
  const file = join(stateDir, STATE_FILE);
  if (!existsSync(file)) return [{ name, state: "ok", message: `${file} will be made at the first start` }];
  try {
    const { deadLetters } = StateDatabase.examine(file);
    if (deadLetters === 0) return [{ name, state: "ok", message: file }];
    return [
      {
        name,
        state: "warning",
        message: `${deadLetters} jobs were given up, such as messages that could not be delivered; see them with openclaw-exec deliveries`,
      },
    ];
  } catch (error) {
    return [{ name, state: "error", message: (error as Error).message }];
  }
}

function configuration(loaded: LoadResult): Check {
  const name = "configuration";
  const { path, exists } = loaded.file;
  if (!loaded.ok) return { name, state: "error", message: renderProblems(path, loaded.problems) };
  if (loaded.warnings.length > 0) return { name, state: "warning", message: loaded.warnings.join("\n") };
  return { name, state: "ok", message: exists ? `${path} is valid` : `${path} does not exist; defaults hold` };
}

function onPath(cli: Cli, program: string): string | undefined {
  for (const dir of [...(cli.env.PATH ?? "").split(delimiter), ...SYSTEM_BIN_DIRS]) {
    const file = join(dir, program);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this directory.
    }
  }
  return undefined;
}

function shell({ cli }: Visit): Check {
  const bash = onPath(cli, "bash");
  return bash === undefined
    ? {
        name: "bash",
        state: "error",
        message: "not found; pipelines and chains that the policy allows are run by bash",
      }
    : { name: "bash", state: "ok", message: bash };
}

/** Either way is fine; the direct one was built where there is a compiler. */
function commandStart(): Check {
  const name = "starting commands";
  if (loadDirectSpawn() !== undefined) return { name, state: "ok", message: "directly (native/spawn.c)" };
  const hint =
    process.platform === "linux"
      ? "; the faster way was not built: it takes python3, make and a C compiler, then npm run install"
      : "";
  return { name, state: "ok", message: `by Node.js${hint}` };
}

async function approvalsFile({ loaded, fix }: Visit): Promise<Check[]> {
  const name = APPROVALS_FILE;
  const path = join(loaded.stateDir, APPROVALS_FILE);
  if (!existsSync(path) && !isSymlink(path))
    return [{ name, state: "ok", message: "does not exist; the host tightens nothing" }];
  const checks: Check[] = [];
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat && process.platform !== "win32" && (stat.mode & 0o077) !== 0) {
    if (fix) chmodSync(path, 0o600);
    checks.push({
      name,
      state: fix ? "fixed" : "error",
      message: fix ? "only you may read it now" : `others may read or write it; run: chmod 600 ${path}`,
    });
  }
  const file = await openApprovalsFile({ path, clock: systemClock, newId: randomUUID });
  const damage = file.damage();
  if (damage !== undefined) {
    const good = lastGood(path);
    if (!fix || good === undefined) return [...checks, { name, state: "error", message: damage }];
    const aside = await file.setAside();
    await file.update(() => good);
    return [
      ...checks,
      { name, state: "fixed", message: `went back to the last readable content; the damaged file is ${aside}` },
    ];
  }
  const { document } = file.snapshot();
  const inactive = scopesOf(document).flatMap((scope) =>
    rulesOf(document, scope).filter((rule) => rule.source === "allow-always" && !isGrant(rule)),
  );
  if (inactive.length > 0) {
    if (fix) {
      await file.update((current) =>
        scopesOf(current).reduce(
          (next, scope) =>
            removeRules(next, scope, (rule) => rule.source === "allow-always" && !isGrant(rule)).document,
          current,
        ),
      );
    }
    checks.push({
      name,
      state: fix ? "fixed" : "warning",
      message: `${inactive.length} stored grants without their arguments are not used${fix ? " and were removed" : "; --fix removes them"}`,
    });
  }
  return checks.length > 0 ? checks : [{ name, state: "ok", message: path }];
}

function lastGood(path: string) {
  const copy = `${path}${LAST_GOOD_SUFFIX}`;
  if (!existsSync(copy) || isSymlink(copy)) return undefined;
  const result = readDocument(readFileSync(copy, "utf8"));
  return result.ok ? result.document : undefined;
}

async function safeBins({ cli, fix }: Visit, loaded: LoadedConfig): Promise<Check[]> {
  const name = "safe bins";
  const { safeBins: bins = DEFAULT_SAFE_BINS, safeBinProfiles, safeBinTrustedDirs } = loaded.config.tools.exec;
  const checks: Check[] = [];
  const dirs = [...SYSTEM_BIN_DIRS, ...safeBinTrustedDirs];
  for (const bin of bins) {
    if (isNeverSafe(bin) || nameIn([bin], INTERPRETERS) || nameIn([bin], SHELLS)) {
      checks.push({
        name,
        state: "warning",
        message: `${bin} is no filter and never runs as one; take it out of tools.exec.safeBins`,
      });
      continue;
    }
    const found = onPath(cli, bin);
    if (found !== undefined && !dirs.includes(join(found, ".."))) {
      checks.push({
        name,
        state: "warning",
        message: `${bin} is ${found}, outside the trusted directories, and is not used as a safe bin`,
      });
    }
    if (hasBuiltinProfile(bin) || Object.hasOwn(safeBinProfiles, bin)) continue;
    if (fix) {
      // Nothing but its input: a person widens it knowingly.
      await editConfig(loaded, {
        kind: "set",
        path: ["tools", "exec", "safeBinProfiles", bin],
        value: { maxPositional: 0 },
      });
    }
    checks.push({
      name,
      state: fix ? "fixed" : "warning",
      message: fix
        ? `${bin} now has a profile that accepts no arguments; widen it in tools.exec.safeBinProfiles.${bin}`
        : `${bin} has no profile and is not used; --fix adds one that accepts no arguments`,
    });
  }
  return checks.length > 0 ? checks : [{ name, state: "ok", message: bins.join(" ") || "none" }];
}

/** Who decides on each connected chat: the setting that is most often missing (channels.md section 5.1). */
function approvers({ config }: LoadedConfig): Check[] {
  return (["slack", "discord", "telegram"] as const).flatMap((channel) => {
    const accounts: Readonly<Record<string, Pick<SlackAccountConfig, "enabled" | "execApprovals">>> =
      config.channels[channel]?.accounts ?? {};
    return Object.entries(accounts).map(([id, account]): Check => {
      const name = `approvals on ${id === "default" ? channel : `${channel}/${id}`}`;
      const { enabled, target } = account.execApprovals;
      if (!account.enabled) return { name, state: "ok", message: "this account is switched off" };
      if (enabled === false) return { name, state: "ok", message: "off: requests go to the web chat" };
      const who = approverNames(config, channel, id);
      if (target === "dm" && who.length > 0 && approversOf(config, channel, id).length === 0) {
        return {
          name,
          state: "warning",
          message: `${who.join(", ")} may decide, but no card can be sent to people who are looked up: requests go to the web chat; set channels.${channel}.execApprovals.target to "channel", or name people by id besides`,
        };
      }
      return who.length > 0
        ? {
            name,
            state: "ok",
            message: `${who.join(", ")} decide; cards go to ${CARDS_GO_TO[target]}${buttonsNote(config, channel, id)}`,
          }
        : {
            name,
            state: "warning",
            message: `nobody may decide here, so requests go to the web chat; name people in channels.${channel}.execApprovals.approvers or commands.ownerAllowFrom`,
          };
    });
  });
}

/** Where buttons are not shown although the platform has them. */
function buttonsNote({ channels }: LoadedConfig["config"], channel: string, id: string): string {
  const account = channel === "telegram" ? channels.telegram?.accounts[id] : undefined;
  const where = account ? BUTTONS_WHERE[account.capabilities.inlineButtons] : "yes";
  return where === "yes" ? "" : `; buttons: ${where}`;
}

const CARDS_GO_TO = {
  dm: "them directly",
  channel: "the chat that asked",
  both: "them and the chat that asked",
} as const;

/** For each agent that has sandboxed sessions: is one really made? Tried, not guessed. */
async function sandbox({ cli }: Visit, loaded: LoadedConfig): Promise<Check[]> {
  const { config, stateDir } = loaded;
  const agents = [...new Set([defaultAgentId(config), ...config.agents.list.map(({ id }) => id)])];
  const modes = agents.map((id) => sandboxSettings(config, id, stateDir)).filter(({ mode }) => mode !== "off");
  if (modes.length === 0) return [{ name: "sandbox", state: "ok", message: "off" }];
  const sandboxes = sandboxesOf(cli, loaded);
  const checks: Check[] = [];
  for (const { agentId, backend, mode } of modes) {
    const name = config.agents.list.length > 1 ? `sandbox of ${agentId}` : "sandbox";
    const problem = await sandboxProblem(sandboxes, agentId);
    checks.push(
      problem === undefined
        ? { name, state: "ok", message: `${backend} works here; mode ${mode}` }
        : { name, state: "error", message: `sandboxed sessions refuse every command: ${problem}` },
    );
  }
  return checks;
}

async function sandboxProblem(sandboxes: Sandboxes, agentId: string): Promise<string | undefined> {
  try {
    const why = await sandboxes.problem(sandboxes.outline(agentId, `agent:${agentId}:doctor`));
    return why === undefined ? undefined : inEnglish(why);
  } catch (error) {
    if (error instanceof ExecError) return error.message;
    throw error;
  }
}
