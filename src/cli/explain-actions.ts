/** The work behind `openclaw-exec explain`. */
import { realpathSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { z } from "zod";
import { APPROVALS_FILE, openApprovalsFile } from "../core/approvals/approvals-file.ts";
import { systemClock } from "../core/clock.ts";
import { loadConfig, renderProblems } from "../core/config/load.ts";
import { cachedFileFacts } from "../core/exec/file-facts.ts";
import { agentSettings, defaultAgentId, findAgent } from "../core/exec/settings.ts";
import { decide } from "../core/policy/decide.ts";
import { explainDecision, explainLines } from "../core/policy/explain.ts";
import { resolvePolicy } from "../core/policy/resolve.ts";
import { ASK_LEVELS, EXEC_MODES, type FileFacts, SECURITY_LEVELS } from "../core/policy/types.ts";
import { type Cli, EXIT } from "./io.ts";

/** One line of input; longer ones are answered with an error and skipped. */
const MAX_LINE_CHARS = 4 * 1024 * 1024;

/** An empty element is kept: it means the directory the command runs in. */
const pathFolders = (path: string | undefined): string[] => (path ?? "").split(delimiter);

/** Real path of a directory; what can not be resolved stays as it is named, and simply holds no files. */
function workdir(base: string, named: string): string {
  const path = resolve(base, named);
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

export async function explainOne(
  cli: Cli,
  command: string | undefined,
  options: { json?: boolean; cwd?: string; agent?: string },
): Promise<number> {
  if (command === undefined) {
    cli.err("Give a command, in quotes: openclaw-exec explain 'git status'");
    return EXIT.usage;
  }
  const loaded = await loadConfig({ env: cli.env, workingDir: cli.cwd });
  if (!loaded.ok) {
    cli.err(renderProblems(loaded.file.path, loaded.problems));
    return EXIT.failed;
  }
  const { config, stateDir, home } = loaded;
  const agentId = options.agent ?? defaultAgentId(config);
  const settings = agentSettings(config, agentId, stateDir);
  const file = await openApprovalsFile({
    path: join(stateDir, APPROVALS_FILE),
    clock: systemClock,
    newId: () => crypto.randomUUID(),
  });
  const damage = file.damage();
  if (damage !== undefined) cli.err(damage);
  const host = "gateway";
  const policy = resolvePolicy({
    host,
    config: config.tools.exec,
    agent: findAgent(config, agentId)?.tools?.exec ?? {},
    hostFile: file.policyFor(agentId),
  });
  const decision = decide({
    command,
    cwd: options.cwd === undefined ? workdir(cli.cwd, settings.workspace) : workdir(cli.cwd, options.cwd),
    host,
    agentId,
    env: {},
    policy,
    path: pathFolders(cli.env.PATH),
    home,
    facts: cachedFileFacts(systemClock),
  });
  cli.out(options.json ? JSON.stringify(explainDecision(decision), null, 2) : explainLines(decision).join("\n"));
  return EXIT.ok;
}

/** Words of the policy are read as everywhere: blanks around them and case do not count (policy.md section 1). */
const word = <const T extends readonly [string, ...string[]]>(words: T) =>
  z.preprocess(
    (value) => (typeof value === "string" ? value.trim().toLowerCase() : (value ?? undefined)),
    z.enum(words).optional(),
  );

const ruleSchema = z.union([z.string(), z.looseObject({ pattern: z.string(), argPattern: z.string().nullish() })]);
const requestSchema = z.looseObject({
  command: z.string(),
  policy: z
    .looseObject({
      allowlist: z.array(ruleSchema).nullish(),
      safeBins: z.array(z.string()).nullish(),
      safeBinTrustedDirs: z.array(z.string()).nullish(),
      strictInlineEval: z.boolean().nullish(),
      argumentGuard: z.boolean().nullish(),
      mode: word(EXEC_MODES),
      security: word(SECURITY_LEVELS),
      ask: word(ASK_LEVELS),
    })
    .refine((policy) => policy.mode === undefined || (policy.security === undefined && policy.ask === undefined), {
      error: "give mode, or security and ask, not both",
    })
    .nullish(),
  cwd: z.string().nullish(),
  env: z.record(z.string(), z.string()).nullish(),
});

interface StreamContext {
  readonly cli: Cli;
  readonly facts: FileFacts;
  /** Real paths of the directories named so far. */
  readonly workdirs: Map<string, string>;
}

const newContext = (cli: Cli): StreamContext => ({ cli, facts: cachedFileFacts(systemClock), workdirs: new Map() });

function workdirOf({ cli, workdirs }: StreamContext, named: string): string {
  const known = workdirs.get(named);
  if (known !== undefined) return known;
  const found = workdir(cli.cwd, named);
  workdirs.set(named, found);
  return found;
}

/** Answers in order, one line each; a line that is not understood is answered too, and the next one goes on. */
export async function explainStream(cli: Cli): Promise<number> {
  const decoder = new StringDecoder("utf8");
  let pending = "";
  let skipping = false;
  let context = newContext(cli);
  const answer = (lines: readonly string[]): void => {
    const answers = lines.filter((line) => line.trim() !== "").map((line) => explainLine(line, context));
    if (answers.length > 0) cli.out(answers.join("\n"));
    // Facts are shared while more is waiting: a caller that waits for each answer is never told old news.
    if (!hasMore(cli.stdin)) context = newContext(cli);
  };
  for await (const chunk of cli.stdin) {
    pending += typeof chunk === "string" ? chunk : decoder.write(chunk as Buffer);
    const lines = pending.split("\n");
    pending = lines.pop() ?? "";
    if (skipping && lines.length > 0) {
      lines.shift();
      skipping = false;
    }
    answer(lines);
    if (pending.length > MAX_LINE_CHARS) {
      if (!skipping) cli.out(errorLine(`The line is longer than ${MAX_LINE_CHARS} characters.`));
      skipping = true;
      pending = "";
    }
  }
  pending += decoder.end();
  if (!skipping) answer([pending]);
  return EXIT.ok;
}

const hasMore = (stream: Cli["stdin"]): boolean => stream.readableLength > 0;

const errorLine = (message: string): string =>
  JSON.stringify({ decision: "error", error: message, reasons: [{ code: "invalid-request", message }], segments: [] });

function explainLine(line: string, context: StreamContext): string {
  try {
    const parsed = requestSchema.safeParse(JSON.parse(line));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      return errorLine(`${issue?.path.join(".") || "The line"}: ${issue?.message ?? "not understood"}`);
    }
    const { command, cwd, env } = parsed.data;
    const policy = parsed.data.policy ?? {};
    const { mode, security, ask, safeBins, safeBinTrustedDirs, strictInlineEval, argumentGuard } = policy;
    const allowlist = policy.allowlist ?? [];
    const layer = mode === undefined ? { security: security ?? "allowlist", ask: ask ?? "on-miss" } : { mode };
    const variables = env ?? context.cli.env;
    const home = variables.HOME ?? context.cli.env.HOME ?? "/";
    const decision = decide({
      command,
      cwd: workdirOf(context, cwd ?? "."),
      host: "gateway",
      agentId: "main",
      env: {},
      policy: resolvePolicy({
        host: "gateway",
        config: {
          ...layer,
          ...(safeBins ? { safeBins } : {}),
          ...(safeBinTrustedDirs ? { safeBinTrustedDirs } : {}),
          ...(strictInlineEval == null ? {} : { strictInlineEval }),
          ...(argumentGuard == null ? {} : { argumentGuard }),
        },
        hostFile: {
          allowlist: allowlist.map((rule) =>
            typeof rule === "string"
              ? { pattern: rule }
              : { pattern: rule.pattern, ...(rule.argPattern == null ? {} : { argPattern: rule.argPattern }) },
          ),
        },
      }),
      path: pathFolders(variables.PATH ?? context.cli.env.PATH),
      home,
      facts: context.facts,
    });
    return JSON.stringify(explainDecision(decision));
  } catch (error) {
    return errorLine(error instanceof SyntaxError ? `Not valid JSON: ${error.message}` : String(error));
  }
}
