/** Carries one tool call to the gateway that runs, or runs it here when none does. */
import { systemClock } from "../core/clock.ts";
import { openConfig, renderProblems } from "../core/config/load.ts";
import { statePaths } from "../core/config/paths.ts";
import { ExecError } from "../core/errors.ts";
import { MAX_YIELD_MS } from "../core/exec/exec-args.ts";
import type { Actor } from "../core/route.ts";
import { errorBody } from "../gateway/error-body.ts";
import { createGateway } from "../gateway/gateway.ts";
import { createLogger } from "../gateway/logging.ts";
import type { ToolResult } from "../gateway/server-deps.ts";
import { acquireStateLock, findRunningGateway } from "../gateway/state-lock.ts";
import { type AddressFlags, URL_ENV } from "./client.ts";
import { type Cli, EXIT, readStdin } from "./io.ts";
import { type CallText, parseToolCall } from "./tool-call.ts";
import { version } from "./version.ts";
import { withGateway } from "./with-gateway.ts";

const EXIT_WAITS_FOR_APPROVAL = 3;
/** One poll waits so long for news of a command that runs here. */
const POLL_MS = 30_000;
const STOP_MS = 2_000;
const OPERATOR_HERE: Actor = { kind: "person", channel: "cli", accountId: "default", id: "operator" };

export async function runTool(cli: Cli, json: string | undefined, flags: AddressFlags): Promise<number> {
  let call: CallText;
  try {
    call = parseToolCall(json ?? (await readStdin(cli)));
  } catch (error) {
    return failed(cli, error, EXIT.usage);
  }
  try {
    const result = runsSomewhere(cli, flags) ? await viaGateway(cli, flags, call) : await here(cli, call);
    cli.out(JSON.stringify({ ok: true, result }, null, 2));
    return exitCodeOf(result);
  } catch (error) {
    return failed(cli, error, EXIT.failed);
  }
}

function exitCodeOf({ details }: ToolResult): number {
  const { status, exitCode, exitSignal } = (details ?? {}) as Readonly<Record<string, unknown>>;
  if (status === "approval-pending") return EXIT_WAITS_FOR_APPROVAL;
  const ranWell = (exitCode ?? 0) === 0 && (exitSignal ?? null) === null;
  return status === "failed" || !ranWell ? EXIT.failed : EXIT.ok;
}

/** The answer is the same JSON for programs on stdout; people read the sentence on stderr. */
function failed(cli: Cli, error: unknown, code: number): number {
  const body = errorBody(error);
  if (!body) throw error;
  cli.out(JSON.stringify({ ok: false, error: body }, null, 2));
  cli.err(body.message);
  return code;
}

function runsSomewhere(cli: Cli, flags: AddressFlags): boolean {
  if (flags.url !== undefined || cli.env[URL_ENV] !== undefined) return true;
  return findRunningGateway(statePaths(cli.env).stateDir, systemClock.now()) !== undefined;
}

function viaGateway(cli: Cli, flags: AddressFlags, call: CallText): Promise<ToolResult> {
  return withGateway(cli, flags, async (client) => (await client.request("tools.invoke", call)) as ToolResult);
}

async function here(cli: Cli, call: CallText): Promise<ToolResult> {
  if (toolName(call) === "process") {
    throw new ExecError(
      "gateway-unreachable",
      `${call.tool} needs a running gateway: it keeps what runs in the background. Start it with: openclaw-exec gateway`,
    );
  }
  const opened = await openConfig({ env: cli.env, workingDir: cli.cwd });
  if (!opened.ok) throw new ExecError("invalid-argument", renderProblems(opened.file.path, opened.problems));
  if (opened.starterWritten)
    cli.err(`Wrote ${opened.file.path}: commands ask before they run (tools.exec.mode: "ask").`);
  const { stateDir, config } = opened;
  const lock = await acquireStateLock({ stateDir, clock: systemClock, version: version() });
  try {
    const gateway = await createGateway({
      loaded: opened,
      config: () => config,
      token: undefined,
      version: version(),
      logger: createLogger({
        level: "error",
        destination: { write: (line) => void process.stderr.write(line) },
        pretty: process.stderr.isTTY === true,
      }),
      host: "127.0.0.1",
      port: 0,
    });
    try {
      await gateway.start({ listen: false });
      const stop = () => void gateway.stop({ drainMs: STOP_MS, reason: "Stopped by SIGINT." });
      process.once("SIGINT", stop);
      const result = await toItsEnd(gateway.invokeTool, call);
      process.off("SIGINT", stop);
      if (exitCodeOf(result) === EXIT_WAITS_FOR_APPROVAL) {
        cli.err("Start the gateway to decide about it: openclaw-exec gateway");
      }
      return result;
    } finally {
      await gateway.stop({ drainMs: STOP_MS, reason: "The call is done." });
    }
  } finally {
    lock.release();
  }
}

/** Names are taken as the gateway takes them: whatever the case. */
function toolName({ tool }: CallText): string {
  return tool.trim().toLowerCase();
}

type Invoke = Awaited<ReturnType<typeof createGateway>>["invokeTool"];

/** Nothing stays behind when this process ends, so a command that went to the background is waited for. */
async function toItsEnd(invoke: Invoke, call: CallText): Promise<ToolResult> {
  if (toolName(call) !== "exec") return invoke({ ...call, actor: OPERATOR_HERE });
  const args = { ...call.args, background: false, yieldMs: MAX_YIELD_MS };
  let result: ToolResult = await invoke({ ...call, args, actor: OPERATOR_HERE });
  for (;;) {
    const { status, sessionId } = result.details as { status?: string; sessionId?: string };
    if (status !== "running" || sessionId === undefined) return result;
    result = await invoke({
      tool: "process",
      args: { action: "poll", sessionId, timeout: POLL_MS },
      actor: OPERATOR_HERE,
      ...(call.agentId === undefined ? {} : { agentId: call.agentId }),
    });
  }
}
