/**
 * Process sessions and runs wherever they live: what is not here is asked of the gateway that has it. Without other
 * gateways every call stays here.
 */
import { MAX_POLL_MS } from "../core/exec/process-tool.ts";
import type { ToolResult } from "../core/exec/results.ts";
import type { RunRecord, Runs } from "../core/exec/runs.ts";
import type { ProcessSessions } from "../core/process/registry.ts";
import { inEnglish, phrase, type Wording } from "../core/words/phrase.ts";
import type { MethodResults } from "../protocol/frames.ts";
import { type Answers, ASK_TIMEOUT_MS, type Cluster } from "./cluster.ts";
import type { RunLog } from "./run-log.ts";
import type { ToolsOptions } from "./tools.ts";

type ProcessArgs = Readonly<Record<string, unknown>>;
type CallProcess = ToolsOptions["process"];
type LogRequest = Parameters<RunLog["page"]>[0];

export interface ElsewhereOptions {
  readonly gatewayId: string;
  /** Absent: this gateway is alone. */
  readonly cluster: Cluster | undefined;
  readonly runs: Runs;
  readonly sessions: ProcessSessions;
  readonly process: CallProcess;
  readonly runLog: () => RunLog;
  readonly onTrouble: (error: unknown, what: string) => void;
}

export interface StopWish {
  /** Absent: every conversation. */
  readonly sessionKey?: string;
}

export interface Elsewhere {
  readonly process: CallProcess;
  runLog(request: LogRequest): Promise<MethodResults["run.log"]>;
  /** True when it was waiting or running somewhere. */
  stopRun(runId: string): Promise<boolean>;
  /** Stops what waits or runs in a conversation; resolves to how many. */
  stopAll(wish: StopWish): Promise<number>;
  /** What this gateway answers to others. */
  readonly answers: Answers;
}

export function createElsewhere(options: ElsewhereOptions): Elsewhere {
  const { cluster, runs, sessions, gatewayId } = options;
  const scopeOf = (agentId: string) => `agent:${agentId}`;
  const has = (sessionId: string, agentId: string) => sessions.find(sessionId, scopeOf(agentId)) !== undefined;

  /** The answers of those that gave one. */
  async function everywhere<T>(
    method: string,
    params: unknown,
  ): Promise<readonly { readonly id: string; readonly value: T }[]> {
    if (!cluster) return [];
    const ids = await cluster.others();
    const asked = await Promise.allSettled(
      ids.map(async (id) => ({ id, value: await cluster.ask<T>(id, method, params) })),
    );
    return asked.flatMap((one) => {
      if (one.status === "fulfilled") return [one.value];
      options.onTrouble(one.reason, `asking another gateway for ${method}`);
      return [];
    });
  }

  function stopHere({ sessionKey }: StopWish): number {
    const found = [...runs.queued(), ...runs.active()].filter(
      (run) => sessionKey === undefined || run.sessionKey === sessionKey,
    );
    for (const run of found) runs.stop(run.runId);
    return found.length;
  }

  async function processCall(args: ProcessArgs, agentId: string, signal?: AbortSignal): Promise<ToolResult> {
    if (!cluster) return options.process(args, agentId, signal);
    const action = String(args.action ?? "")
      .trim()
      .toLowerCase();
    const sessionId = typeof args.sessionId === "string" ? args.sessionId.trim() : "";
    if (action === "list") {
      const here = await options.process(args, agentId);
      const there = await everywhere<ToolResult>("process", { args, agentId });
      return mergeLists(here, there);
    }
    if (sessionId === "" || has(sessionId, agentId)) return options.process(args, agentId, signal);
    const owner = (await everywhere<boolean>("process-has", { sessionId, agentId })).find((one) => one.value);
    if (!owner) return options.process(args, agentId);
    return cluster.ask<ToolResult>(owner.id, "process", { args, agentId }, MAX_POLL_MS + ASK_TIMEOUT_MS);
  }

  /** The gateway that has more of this run than its record, when that is another one. */
  async function ownerOf(runId: string): Promise<{ readonly record: RunRecord | undefined; readonly other?: string }> {
    const record = await runs.get(runId);
    const isOther = cluster && record && record.gatewayId !== gatewayId;
    return isOther && (await cluster.others()).includes(record.gatewayId)
      ? { record, other: record.gatewayId }
      : { record };
  }

  return {
    process: processCall,

    async runLog(request) {
      const { other } = await ownerOf(request.runId);
      if (!other || !cluster) return options.runLog().page(request);
      try {
        return await cluster.ask<MethodResults["run.log"]>(other, "run-log", request);
      } catch (error) {
        options.onTrouble(error, `asking gateway ${other} for the log of ${request.runId}`);
        return options.runLog().page(request);
      }
    },

    async stopRun(runId) {
      if (runs.stop(runId)) return true;
      const { record, other } = await ownerOf(runId);
      if (!other || !cluster || record?.state === "finished") return false;
      return cluster.ask<boolean>(other, "run-stop", { runId });
    },

    async stopAll(wish) {
      const there = await everywhere<number>("runs-stop", wish);
      return stopHere(wish) + there.reduce((sum, one) => sum + one.value, 0);
    },

    answers: {
      process: async (params) => {
        const { args, agentId } = params as { args: ProcessArgs; agentId: string };
        const { content, said, details } = await options.process(args, agentId);
        return { content, details, ...(said === undefined ? {} : { said }) };
      },
      "process-has": async (params) => {
        const { sessionId, agentId } = params as { sessionId: string; agentId: string };
        return has(sessionId, agentId);
      },
      "run-log": (params) => options.runLog().page(params as LogRequest),
      "run-stop": async (params) => runs.stop((params as { runId: string }).runId),
      "runs-stop": async (params) => stopHere(params as StopWish),
    },
  };
}

function mergeLists(
  here: ToolResult,
  there: readonly { readonly id: string; readonly value: ToolResult }[],
): ToolResult {
  const rows = (result: ToolResult) => (result.details.sessions ?? []) as readonly unknown[];
  const full = there.filter(({ value }) => rows(value).length > 0);
  if (full.length === 0) return here;
  const said = {
    lines: [
      ...(rows(here).length > 0 ? [saidIn(here)] : []),
      ...full.flatMap(({ id, value }) => [phrase("session.onGateway", { gateway: id }), saidIn(value)]),
    ],
  };
  return {
    content: [{ type: "text", text: inEnglish(said) }],
    said,
    details: {
      ...here.details,
      sessions: [
        ...rows(here),
        ...full.flatMap(({ id, value }) => rows(value).map((row) => ({ ...(row as object), gatewayId: id }))),
      ],
    },
  };
}

function saidIn(result: ToolResult): Wording {
  return result.said ?? result.content.map((part) => part.text).join("\n");
}
