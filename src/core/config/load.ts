/** Reads, checks and resolves the configuration: one call, one answer, nothing started on a doubtful one. */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import type * as z from "zod";
import { ExecError } from "../errors.ts";
import { asWritten, type Move, normaliseAliases } from "./aliases.ts";
import { duplicateMessage, locate, type ParsedDocument, parseDocument } from "./document.ts";
import { type Environment, type EnvVars, readEnvironment } from "./environment.ts";
import { valueAt } from "./key-path.ts";
import { distrust, ensureStateDir, expandHome, type StatePaths, statePaths } from "./paths.ts";
import { type Finding, findings, type Problem, problemAt, showValue } from "./problems.ts";
import { type Config, configSchema } from "./schema.ts";
import { resolveSecrets, type Secrets } from "./secrets.ts";
import { writeStarterConfig } from "./starter.ts";

export { type Problem, renderProblems } from "./problems.ts";

const MAX_CONFIG_BYTES = 4 * 1_048_576;

export interface LoadOptions {
  readonly env: EnvVars;
  /** Instead of `$OPENCLAW_STATE_DIR`. */
  readonly stateDir?: string;
  /** Where `.env` is looked for besides the state directory; the process's own when left out. */
  readonly workingDir?: string;
}

export interface ConfigFile {
  readonly path: string;
  /** Without a file everything has its default. */
  readonly exists: boolean;
  /** SHA-256 of the text, hex; of the empty text when there is no file. */
  readonly hash: string;
}

interface LoadBase {
  readonly file: ConfigFile;
  readonly stateDir: string;
  readonly home: string;
  /** Variables, for what is not configuration (`OPENCLAW_BASH_YIELD_MS` …), and where each came from. */
  readonly environment: Environment;
}

export interface LoadedConfig extends LoadBase {
  readonly ok: true;
  readonly config: Config;
  readonly secrets: Secrets;
  /** The file's content in the spelling of the schema, without defaults. */
  readonly document: unknown;
  readonly warnings: readonly string[];
}

export interface FailedConfig extends LoadBase {
  readonly ok: false;
  /** What could not be done: use the file at all, read it as JSON5, fit it to the schema, or find a secret. */
  readonly stage: "file" | "syntax" | "schema" | "secrets";
  readonly problems: readonly Problem[];
  /** As in `LoadedConfig`, when the file could be read. */
  readonly document?: unknown;
}

export type LoadResult = LoadedConfig | FailedConfig;

/**
 * What everything that can run a command starts with: a fresh installation gets the starter configuration first, so
 * that nothing ever runs on the open defaults of a missing file.
 */
export async function openConfig(options: LoadOptions): Promise<LoadResult & { readonly starterWritten: boolean }> {
  const paths = statePaths(options.env, options.stateDir);
  let starterWritten = false;
  try {
    ensureStateDir(paths.stateDir);
    starterWritten = writeStarterConfig(paths.configFile);
  } catch (error) {
    return { ...failed(paths, options.env, describeFailure(error, paths.configFile)), starterWritten };
  }
  return { ...(await loadConfig(options)), starterWritten };
}

function describeFailure(error: unknown, path: string): string {
  if (error instanceof ExecError) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return `${path} can not be written (${code}): ${message}`;
}

function failed(paths: StatePaths, env: EnvVars, message: string): FailedConfig {
  return {
    ok: false,
    stage: "file",
    environment: readEnvironment(env, paths.stateDir, paths.stateDir),
    file: { path: paths.configFile, exists: false, hash: hashText("") },
    stateDir: paths.stateDir,
    home: paths.home,
    problems: [{ path: "", message }],
  };
}

/** Makes the state directory when it is missing. Never throws for a wrong file; see `renderProblems`. */
export async function loadConfig(options: LoadOptions): Promise<LoadResult> {
  const paths = statePaths(options.env, options.stateDir);
  let stateDir: string;
  let text: string | undefined;
  try {
    stateDir = ensureStateDir(paths.stateDir);
    text = readConfigText(paths.configFile);
  } catch (error) {
    return failed(paths, options.env, describeFailure(error, paths.configFile));
  }
  const environment = readEnvironment(options.env, stateDir, options.workingDir ?? process.cwd());
  const base = {
    file: { path: paths.configFile, exists: text !== undefined, hash: hashText(text ?? "") },
    stateDir,
    home: paths.home,
    environment,
  };
  const checked = checkConfig(text ?? "", environment, paths);
  return { ...base, ...checked };
}

/** The text, or undefined when there is no file. */
function readConfigText(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return undefined;
  const refuse = (why: string) => new ExecError("invalid-argument", `${path} is not used: ${why}.`);
  const why = distrust(path);
  if (why !== undefined) throw refuse(why);
  if (stat.size > MAX_CONFIG_BYTES) throw refuse(`it is larger than ${MAX_CONFIG_BYTES} bytes`);
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw refuse(`it can not be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

export function hashText(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

export type CheckedConfig =
  | Pick<LoadedConfig, "ok" | "config" | "secrets" | "document" | "warnings">
  | Pick<FailedConfig, "ok" | "stage" | "problems" | "document">;

/** What a text would mean as configuration. Reads secret files, writes nothing. */
export function checkConfig(text: string, environment: Environment, paths: { readonly home: string }): CheckedConfig {
  const parsed = parseDocument(text);
  if (!parsed.ok) {
    const line = parsed.at === undefined ? {} : { line: parsed.at.line };
    const column = parsed.at === undefined ? "" : `, at column ${parsed.at.column}`;
    return {
      ok: false,
      stage: "syntax",
      problems: [{ path: "", message: `not valid JSON5: ${parsed.message}${column}`, ...line }],
    };
  }
  if (parsed.duplicates.length > 0) {
    const problems = parsed.duplicates.map((duplicate) => ({
      path: "",
      message: duplicateMessage(duplicate),
      line: duplicate.second.line,
    }));
    return { ok: false, stage: "schema", problems };
  }
  const { value: document, moves, conflicts } = normaliseAliases(parsed.value);
  const place = (finding: Finding) => toProblem(finding, parsed, moves);
  if (conflicts.length > 0) {
    return { ok: false, stage: "schema", problems: conflicts.map(({ path, message }) => place({ at: path, message })) };
  }
  const built = buildConfig(document, paths.home);
  if (!built.ok) return { ok: false, stage: "schema", document, problems: findings(built.error, document).map(place) };
  const { config } = built;
  const { secrets, problems } = resolveSecrets(config, environment, paths.home);
  if (problems.length > 0) {
    return {
      ok: false,
      stage: "secrets",
      document,
      problems: problems.map(({ at, message, value }) => {
        const shown = value === undefined ? undefined : showValue(value, at);
        return place({ at, message, ...(shown !== undefined && { value: shown }) });
      }),
    };
  }
  return {
    ok: true,
    config,
    secrets,
    document,
    warnings: [...environment.warnings, ...warnings(config, environment, document)],
  };
}

/** Defaults filled in, directories made absolute, frozen. */
export function buildConfig(
  document: unknown,
  home: string,
): { readonly ok: true; readonly config: Config } | { readonly ok: false; readonly error: z.ZodError } {
  const result = configSchema.safeParse(document);
  if (!result.success) return { ok: false, error: result.error };
  return { ok: true, config: deepFreeze(withHome(result.data, home)) as Config };
}

function toProblem(finding: Finding, parsed: ParsedDocument & { ok: true }, moves: readonly Move[]): Problem {
  const written = (path: readonly PropertyKey[]) => asWritten(path, moves);
  return problemAt(finding, written, locate(parsed.tree, written(finding.at))?.line);
}

/** Legal, but probably not meant. */
function warnings(config: Config, environment: Environment, document: unknown): string[] {
  const found: string[] = [];
  for (const [channel, variable] of [
    ["slack", "SLACK_BOT_TOKEN"],
    ["discord", "DISCORD_BOT_TOKEN"],
    ["telegram", "TELEGRAM_BOT_TOKEN"],
  ] as const) {
    if (environment.get(variable) !== undefined && valueAt(document, ["channels", channel]) === undefined) {
      found.push(`${variable} is set, but ${channel} stays off: add channels: { ${channel}: {} } to turn it on.`);
    }
  }
  const redis = environment.source("REDIS_URL");
  if (config.redis.url === undefined && redis !== undefined && redis !== "the environment") {
    found.push(`REDIS_URL comes from ${redis}: state and queue are kept in that Redis.`);
  }
  if (!config.commands.useAccessGroups) {
    found.push("commands.useAccessGroups is off: commands ignore the access rules of rooms.");
  }
  return found;
}

type MutableConfig = z.output<typeof configSchema>;

/** `~/` in directories means the home of whoever runs the gateway, wherever the value is used later. */
function withHome(config: MutableConfig, home: string): MutableConfig {
  const expand = (path: string) => expandHome(path, home);
  const agents = [config.agents.defaults, ...config.agents.list];
  for (const exec of [config.tools.exec, ...config.agents.list.map((agent) => agent.tools?.exec)]) {
    if (exec?.pathPrepend) exec.pathPrepend = exec.pathPrepend.map(expand);
    if (exec?.safeBinTrustedDirs) exec.safeBinTrustedDirs = exec.safeBinTrustedDirs.map(expand);
  }
  for (const agent of agents) {
    if (agent.workspace !== undefined) agent.workspace = expand(agent.workspace);
    const { sandbox } = agent;
    if (sandbox?.workspaceRoot !== undefined) sandbox.workspaceRoot = expand(sandbox.workspaceRoot);
    if (sandbox?.docker?.seccompProfile !== undefined)
      sandbox.docker.seccompProfile = expand(sandbox.docker.seccompProfile);
  }
  return config;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
