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

const ruleSchema = z.union([z.string(), z.looseObject({ pattern: z.string(), argPattern: z.string().optional() })]);
const requestSchema = z.looseObject({
  command: z.string(),
  policy: z
    .looseObject({
      allowlist: z.array(ruleSchema).default([]),
      safeBins: z.array(z.string()).optional(),
      safeBinTrustedDirs: z.array(z.string()).optional(),
      strictInlineEval: z.boolean().optional(),
      argumentGuard: z.boolean().optional(),
      mode: z.enum(EXEC_MODES).optional(),
      security: z.enum(SECURITY_LEVELS).optional(),
      ask: z.enum(ASK_LEVELS).optional(),
    })
    .default({ allowlist: [] }),
  cwd: z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
});

interface StreamContext {
  readonly cli: Cli;
  readonly facts: FileFacts;
}

/** Answers in order, one line each; a line that is not understood is answered too, and the next one goes on. */
export async function explainStream(cli: Cli): Promise<number> {
  const decoder = new StringDecoder("utf8");
  let pending = "";
  let skipping = false;
  const answer = (lines: readonly string[]): void => {
    // Facts are shared within what arrived together, so a caller that waits for each answer is never told old news.
    const context = { cli, facts: cachedFileFacts(systemClock) };
    const answers = lines.filter((line) => line.trim() !== "").map((line) => explainLine(line, context));
    if (answers.length > 0) cli.out(answers.join("\n"));
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

const errorLine = (message: string): string =>
  JSON.stringify({ decision: "error", error: message, reasons: [{ code: "invalid-request", message }], segments: [] });

function explainLine(line: string, context: StreamContext): string {
  try {
    const parsed = requestSchema.safeParse(JSON.parse(line));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      return errorLine(`${issue?.path.join(".") || "The line"}: ${issue?.message ?? "not understood"}`);
    }
    const { command, policy, cwd, env } = parsed.data;
    const { allowlist, mode, security, ask, safeBins, safeBinTrustedDirs, strictInlineEval, argumentGuard } = policy;
    const layer = mode === undefined ? { security: security ?? "allowlist", ask: ask ?? "on-miss" } : { mode };
    const variables = env ?? context.cli.env;
    const home = variables.HOME ?? context.cli.env.HOME ?? "/";
    const decision = decide({
      command,
      cwd: workdir(context.cli.cwd, cwd ?? "."),
      host: "gateway",
      agentId: "main",
      env: {},
      policy: resolvePolicy({
        host: "gateway",
        config: {
          ...layer,
          ...(safeBins === undefined ? {} : { safeBins }),
          ...(safeBinTrustedDirs === undefined ? {} : { safeBinTrustedDirs }),
          ...(strictInlineEval === undefined ? {} : { strictInlineEval }),
          ...(argumentGuard === undefined ? {} : { argumentGuard }),
        },
        hostFile: {
          allowlist: allowlist.map((rule) =>
            typeof rule === "string"
              ? { pattern: rule }
              : { pattern: rule.pattern, ...(rule.argPattern === undefined ? {} : { argPattern: rule.argPattern }) },
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
