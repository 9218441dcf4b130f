/**
 * The parameters of the `exec` tool, parsed once at the edge (exec.md section 1). Everything behind it trusts the
 * result. A wrong value is an error that names the parameter and what is allowed, before anybody is asked.
 */
import { z } from "zod";
import { ExecError } from "../errors.ts";
import { nearestOf } from "../nearest.ts";
import { ASK_LEVELS, type Ask, EXEC_HOSTS, type ExecHost } from "../policy/types.ts";
import { issueWording } from "../words/issues.ts";
import { phrase } from "../words/phrase.ts";

/** Linux refuses one argument above 128 KiB (`E2BIG`); a longer command could be approved but never start. */
export const MAX_COMMAND_BYTES = 128 * 1024 - 1;
const MIN_YIELD_MS = 10;
export const MAX_YIELD_MS = 120_000;
/** Node's largest timer, about 24.8 days. */
export const MAX_TIMEOUT_MS = 2_147_483_647;

export interface ExecArgs {
  readonly command: string;
  readonly workdir?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly yieldMs?: number;
  readonly background: boolean;
  /** Milliseconds; 0 means no limit. */
  readonly timeoutMs?: number;
  readonly pty: boolean;
  readonly stdin: "closed" | "open";
  readonly host?: ExecHost;
  readonly ask?: Ask;
  readonly node?: string;
  readonly elevated: boolean;
}

/** Models send numbers as text, too; what they are told is a number. */
const number = (about: string) =>
  z
    .union([
      z.number(),
      z
        .string()
        .regex(/^-?\d+(\.\d+)?$/)
        .transform(Number),
    ])
    .optional()
    .describe(about);

const shape = {
  command: z.string().describe("Shell command to run, as it stands."),
  workdir: z.string().optional().describe("Directory to run in; default the agent's workspace. Taken literally."),
  env: z
    .record(z.string(), z.string())
    .optional()
    .describe("Variables on top of the inherited ones. PATH can not be set."),
  yieldMs: number("Milliseconds after which a command that still runs goes on in the background (10 to 120000)."),
  background: z.boolean().optional().describe("Run in the background at once."),
  timeout: number("Seconds after which the command is ended; 0: never. Default tools.exec.timeoutSec."),
  timeoutSeconds: number("The same as timeout."),
  pty: z.boolean().optional().describe("Run in a terminal: for programs that need one."),
  stdin: z.enum(["closed", "open"]).optional().describe("open: process write can feed it."),
  host: z.unknown().optional().meta({ type: "string", enum: EXEC_HOSTS, description: "Where to run; default auto." }),
  /** Accepted and ignored for ordinary calls (seed 000). */
  security: z.unknown().optional().describe("Ignored."),
  ask: z
    .unknown()
    .optional()
    .meta({ type: "string", enum: ASK_LEVELS, description: "Ask a person more strictly than configured." }),
  node: z.string().optional().describe("Which node, with host=node."),
  elevated: z.boolean().optional().describe("Leave the sandbox, where that is allowed."),
};

const EXEC_PARAMETERS = Object.keys(shape) as readonly (keyof typeof shape)[];

/** The tool's parameters as they are accepted; what a model is told of them is derived from it. */
export const execInput = z.strictObject(shape);

/** `maxCommandChars`: `limits.maxCommandChars`, on top of what the system takes. */
export function parseExecArgs(input: unknown, limits: { readonly maxCommandChars?: number } = {}): ExecArgs {
  const parsed = execInput.safeParse(input);
  if (!parsed.success) throw argumentError("exec", parsed.error, EXEC_PARAMETERS);
  const args = parsed.data;
  const host = parseHost(args.host);
  const timeoutMs = parseTimeout(args.timeout, args.timeoutSeconds);
  for (const [name, value] of Object.entries({ workdir: args.workdir, node: args.node })) {
    if (value?.includes("\0")) throw nul(name);
  }
  for (const [name, value] of Object.entries(args.env ?? {})) {
    if (name.includes("\0") || value.includes("\0")) throw nul(`env.${name.replaceAll("\0", "\\0")}`);
  }
  const ask = typeof args.ask === "string" ? (args.ask.trim().toLowerCase() as Ask) : undefined;
  return {
    command: checkCommand(args.command, limits.maxCommandChars),
    env: args.env ?? {},
    background: args.background === true,
    pty: args.pty === true,
    stdin: args.stdin ?? "closed",
    elevated: args.elevated === true,
    ...(args.workdir !== undefined && args.workdir !== "" ? { workdir: args.workdir } : {}),
    ...(args.yieldMs !== undefined && Number.isFinite(args.yieldMs)
      ? { yieldMs: Math.min(MAX_YIELD_MS, Math.max(MIN_YIELD_MS, args.yieldMs)) }
      : {}),
    ...(timeoutMs !== undefined ? { timeoutMs } : {}),
    ...(host ? { host } : {}),
    ...(ask && ASK_LEVELS.includes(ask) ? { ask } : {}),
    ...(args.node?.trim() ? { node: args.node.trim() } : {}),
  };
}

/** Also used by `/exec`, so that chat and tool answer with the same words. */
function checkCommand(command: string, maxChars?: number): string {
  if (command.trim() === "") throw new ExecError("command-empty", phrase("error.command.none"));
  if (command.includes("\0")) {
    throw new ExecError("command-has-nul", phrase("error.command.nul"));
  }
  if (maxChars !== undefined && command.length > maxChars) {
    throw new ExecError(
      "command-too-long",
      phrase("error.command.characters", { characters: command.length, most: maxChars }),
    );
  }
  const bytes = Buffer.byteLength(command);
  if (bytes > MAX_COMMAND_BYTES) {
    throw new ExecError("command-too-long", phrase("error.command.bytes", { bytes, most: MAX_COMMAND_BYTES }));
  }
  return command;
}

export function parseHost(value: unknown): ExecHost | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") {
    throw new ExecError("host-invalid", phrase("error.host.type", { type: typeof value, allowed: EXEC_HOSTS }));
  }
  const host = value.trim().toLowerCase();
  if ((EXEC_HOSTS as readonly string[]).includes(host)) return host as ExecHost;
  throw new ExecError("host-invalid", phrase("error.host.value", { value: value.slice(0, 80), allowed: EXEC_HOSTS }));
}

function parseTimeout(timeout: number | undefined, alias: number | undefined): number | undefined {
  if (timeout !== undefined && alias !== undefined && timeout !== alias) {
    throw new ExecError("invalid-argument", phrase("error.timeout.two"));
  }
  const seconds = timeout ?? alias;
  if (seconds === undefined) return undefined;
  if (!Number.isFinite(seconds) || seconds < 0) {
    throw new ExecError("invalid-argument", phrase("error.timeout", { value: seconds }));
  }
  return Math.min(MAX_TIMEOUT_MS, Math.round(seconds * 1000));
}

function nul(parameter: string): ExecError {
  return new ExecError("invalid-argument", phrase("error.nul", { parameter }));
}

/** One sentence for the first thing wrong, naming the parameter and, for an unknown one, the nearest that exists. */
function argumentError(tool: string, error: z.ZodError, known: readonly string[]): ExecError {
  const issue = error.issues[0];
  if (issue?.code === "unrecognized_keys") {
    const key = issue.keys[0] ?? "";
    const near = nearestOf(key, known);
    const told = { parameter: key, tool, known };
    return new ExecError(
      "invalid-argument",
      near === undefined ? phrase("error.argument.unknown", told) : phrase("error.argument.near", { ...told, near }),
      { parameter: key },
    );
  }
  const path = issue?.path.join(".") || undefined;
  return new ExecError(
    "invalid-argument",
    phrase("error.argument.invalid", {
      parameter: path ?? phrase("error.argument.all"),
      tool,
      why: issue === undefined ? phrase("error.argument.notAcceptable") : issueWording(issue),
    }),
    { parameter: path ?? "arguments" },
  );
}
