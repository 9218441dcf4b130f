/**
 * The one exec pipeline. Every command takes it, whoever asks: parse → route → policy → deny, run, or ask. Agents and
 * API callers use `call` and get the seeds' result shapes; chats use `begin` and get cards.
 */

import { createHash } from "node:crypto";
import type { ApprovalReach } from "../access/approval-reach.ts";
import type { Approvals } from "../approvals/approvals.ts";
import type { ApprovalRecord } from "../approvals/record.ts";
import type { Audit } from "../audit/audit.ts";
import type { Config } from "../config/schema.ts";
import { ExecError } from "../errors.ts";
import { fallbackFor } from "../policy/decide.ts";
import type { Decision } from "../policy/decision.ts";
import { layerPhrase, reasonPhrase } from "../policy/reasons.ts";
import type { ReviewInput, ReviewVerdict } from "../policy/reviewer.ts";
import type { Ask, EffectiveHost, EffectivePolicy } from "../policy/types.ts";
import type { ProcessSession } from "../process/session.ts";
import type { Actor, Route } from "../route.ts";
import type { SessionOverrides, Sessions } from "../sessions/sessions.ts";
import { inEnglish, phrase, type Wording } from "../words/phrase.ts";
import { type ExecArgs, parseExecArgs } from "./exec-args.ts";
import { endedResult, failedResult, pendingResult, queuedResult, runningResult, type ToolResult } from "./results.ts";
import { resolveHost } from "./routing.ts";
import { type Launch, type LiveRun, type RunRecord, type RunSpec, type Runs, waitSentence } from "./runs.ts";
import { type AgentSettings, agentSettings } from "./settings.ts";
import { isToolAllowed } from "./tool-policy.ts";
import { resolveWorkdir } from "./workdir.ts";

/** Short tail in `status: "running"` (exec.md section 2). */
const RUNNING_TAIL_CHARS = 2_000;

export interface ExecContext {
  /** The same id never starts a second command or asks a second time: a redelivered event is harmless. */
  readonly requestId: string;
  readonly agentId: string;
  readonly sessionKey: string;
  readonly actor: Actor;
  /** Where cards and completions go. Absent: nobody watches (API). */
  readonly route?: Route;
  /** A chat message, or an agent turn that one started (policy.md 2.3). */
  readonly fromChannel: boolean;
  readonly signal?: AbortSignal;
  /** A command that ends within this shows its end alone, no running card (`commands.bashForegroundMs`). */
  readonly cardAfterMs?: number;
}

export type Begun =
  | { readonly kind: "run"; readonly record: RunRecord }
  | { readonly kind: "approval"; readonly record: ApprovalRecord };

export interface ExecTool {
  /** The tool as an agent or the API calls it. Rejects with an `ExecError` when the call itself is not acceptable. */
  call(input: unknown, context: ExecContext): Promise<ToolResult>;
  /** As a person in a chat: never waits for the command; its card tells the rest. */
  begin(input: unknown, context: ExecContext): Promise<Begun>;
  /** What the policy says of a call, without asking or running anything. */
  judge(input: unknown, context: ExecContext): Promise<Judged>;
  /**
   * Starts what was approved or, when nobody answered, what `askFallback` lets run. Idempotent through the run's
   * once-marker.
   */
  runApproved(record: ApprovalRecord): Promise<void>;
}

export interface Judged {
  readonly args: ExecArgs;
  readonly cwd: string;
  readonly host: EffectiveHost;
  readonly policy: EffectivePolicy;
  readonly decision: Decision;
  readonly settings: AgentSettings;
}

export interface ExecToolOptions {
  readonly config: () => Config;
  readonly stateDir: string;
  readonly sessions: Sessions;
  readonly approvals: Approvals;
  readonly runs: Runs;
  readonly audit: Audit;
  /** Layers → effective policy, for the host the call goes to. */
  readonly resolvePolicy: (query: PolicyQuery) => Promise<EffectivePolicy>;
  readonly decide: (query: DecideQuery) => Decision;
  /** Refuses forbidden names with `env-forbidden` or `env-invalid`. */
  readonly checkEnv: (env: Readonly<Record<string, string>>, host: EffectiveHost) => void;
  /** Throws when a script operand can not be what was meant (exec.md 9.2). */
  readonly preflight: (command: string, cwd: string) => Promise<void>;
  readonly sandboxActive: (sessionKey: string, agentId: string) => boolean;
  /** Elevated access of this actor, or the sentence that says which gate is closed. */
  readonly elevated: (
    query: PolicyQuery & { readonly actor: Actor },
  ) => Promise<{ full: boolean } | { refused: Wording }>;
  /** Rules that let a command run are marked as used; never in its way. */
  readonly noteUse: (decision: Decision, command: string, agentId: string) => void;
  /** Mode `auto`: the model's opinion. Never rejects; anything but a clear "allow" is "ask". */
  readonly review: (
    decision: Extract<Decision, { kind: "ask" }>,
    input: ReviewInput,
    settings: AgentSettings,
  ) => Promise<ReviewVerdict>;
  /** Yield window of the environment (`OPENCLAW_BASH_YIELD_MS`) or the default. */
  readonly yieldMs: (settings: AgentSettings) => number;
  /** Shows a new request where it belongs; resolves once that is durably queued. */
  readonly announce: (record: ApprovalRecord) => Promise<void>;
  /** Who sees it. */
  readonly reach: (record: ApprovalRecord) => ApprovalReach;
  /** Where a request is shown that comes from no chat. */
  readonly defaultRoute: Route;
  /** A foreground run leaves no session behind (exec.md section 3). */
  readonly forget: (session: ProcessSession) => void;
  /** Lines that warn whoever decides, and that the tool result repeats. */
  readonly warningsFor: (decision: Decision, policy: EffectivePolicy) => readonly Wording[];
}

export interface PolicyQuery {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly host: EffectiveHost;
  readonly callAsk?: Ask;
  readonly fromChannel: boolean;
  /** What is set for the conversation, where it has been read already: one call is judged by one reading. */
  readonly overrides?: SessionOverrides;
  readonly elevatedFull?: boolean;
}

export interface DecideQuery {
  readonly command: string;
  readonly cwd: string;
  readonly host: EffectiveHost;
  readonly agentId: string;
  readonly env: Readonly<Record<string, string>>;
  readonly policy: EffectivePolicy;
}

interface Admitted {
  readonly judged: Judged;
  /** Settles once the request and its decision are in the audit trail; nothing starts before. */
  readonly recorded: Promise<unknown>;
  /** Somebody has to be asked first. */
  readonly approval?: ApprovalRecord;
}

export function createExecTool(options: ExecToolOptions): ExecTool {
  const { sessions, approvals, runs, audit } = options;

  async function judge(input: unknown, context: ExecContext): Promise<Judged> {
    const settings = agentSettings(options.config(), context.agentId, options.stateDir);
    if (!isToolAllowed("exec", settings.toolLayers)) {
      throw new ExecError("tool-denied", phrase("error.tool.denied"));
    }
    const args = parseExecArgs(input, { maxCommandChars: options.config().limits.maxCommandChars });
    const overrides = await sessions.overrides(context.sessionKey);
    const base = {
      agentId: settings.agentId,
      sessionKey: context.sessionKey,
      fromChannel: context.fromChannel,
      overrides,
      ...(args.ask ? { callAsk: args.ask } : {}),
    };
    let elevatedFull = false;
    if (args.elevated) {
      const granted = await options.elevated({ ...base, host: "gateway", actor: context.actor });
      if ("refused" in granted) throw new ExecError("elevated-unavailable", granted.refused);
      elevatedFull = granted.full;
    }
    const host = resolveHost({
      configured: overrides.host ?? settings.exec.host ?? "auto",
      sandboxActive: options.sandboxActive(context.sessionKey, settings.agentId),
      elevated: args.elevated,
      nodeFromSandbox: settings.exec.nodeFromSandbox,
      ...(args.host ? { requested: args.host } : {}),
    });
    const policy = await options.resolvePolicy({ ...base, host, elevatedFull });
    if (policy.security.value === "deny") {
      throw new ExecError(
        "exec-denied",
        phrase("error.exec.securityDeny", { host, layer: layerPhrase(policy.security.from) }),
        { layer: policy.security.from },
      );
    }
    const cwd = resolveWorkdir(args.workdir, settings.workspace);
    options.checkEnv(args.env, host);
    const decision = options.decide({
      command: args.command,
      cwd,
      host,
      agentId: settings.agentId,
      env: args.env,
      policy,
    });
    if (decision.kind === "ask" || !(policy.security.value === "full" && policy.ask.value === "off")) {
      if (decision.kind !== "deny") await options.preflight(args.command, cwd);
    }
    return { args, cwd, host, policy, decision, settings };
  }

  function specOf(judged: Judged, context: ExecContext, report: RunRecord["report"]): RunSpec {
    const { args, settings, decision } = judged;
    if (decision.kind === "deny") throw new ExecError("internal", "A denied command has no run.");
    const timeoutMs = args.timeoutMs ?? settings.exec.timeoutSec * 1000;
    return {
      runId: idFrom(context.requestId, "run"),
      command: args.command,
      plan: decision.plan,
      binding: decision.binding,
      cwd: judged.cwd,
      host: judged.host,
      env: args.env,
      pathPrepend: settings.exec.pathPrepend,
      pty: args.pty,
      stdin: args.stdin,
      agentId: settings.agentId,
      sessionKey: context.sessionKey,
      requester: context.actor,
      report,
      background: report === "card",
      ...(timeoutMs > 0 ? { timeoutMs } : {}),
      ...(args.node ? { node: args.node } : {}),
      ...(context.route ? { route: context.route } : {}),
      ...(context.cardAfterMs !== undefined ? { cardAfterMs: context.cardAfterMs } : {}),
    };
  }

  /** Shared by `call` and `begin`: audit, refuse, ask, or hand back what may run. */
  async function admit(input: unknown, context: ExecContext): Promise<Admitted> {
    const judged = await judge(input, context);
    const { decision, policy, args, settings } = judged;
    const requestId = idFrom(context.requestId, "run");
    // Begun in this order and together, so that the trail takes them in one go.
    const recorded = Promise.all([
      audit.record({
        type: "request",
        requestId,
        actor: context.actor,
        agentId: settings.agentId,
        sessionKey: context.sessionKey,
        tool: "exec",
        command: args.command,
        cwd: judged.cwd,
        host: judged.host,
        envKeys: Object.keys(args.env).sort(),
        ...(context.route ? { route: context.route } : {}),
      }),
      audit.record({
        type: "decision",
        requestId,
        outcome: decision.kind,
        reasons: decision.reasons.map((reason) => reason.code),
        security: policy.security.value,
        ask: policy.ask.value,
        by: "policy",
      }),
    ]);
    // Whoever launches waits for it; when that never comes to pass, its failure is nobody's.
    recorded.catch(() => {});
    if (decision.kind === "allow") {
      options.noteUse(decision, args.command, settings.agentId);
      return { judged, recorded };
    }
    await recorded;
    if (decision.kind === "deny") throw denied(decision);
    if (!policy.autoReview) return { judged, recorded, approval: await ask(judged, context, decision) };
    const verdict = await options.review(decision, { ...args, cwd: judged.cwd, host: judged.host }, settings);
    if (verdict.verdict === "allow") {
      await audit.record({ type: "decision", requestId, outcome: "allow", reasons: [], by: "reviewer" });
      return { judged, recorded };
    }
    // A reviewer that did not allow it wants a person, and only a person, to answer.
    return { judged, recorded, approval: await ask(judged, context, decision, { onlyPerson: true }) };
  }

  async function ask(
    judged: Judged,
    context: ExecContext,
    decision: Extract<Decision, { kind: "ask" }>,
    { onlyPerson = false }: { readonly onlyPerson?: boolean } = {},
  ): Promise<ApprovalRecord> {
    const config = options.config();
    const limit = config.limits.maxPendingApprovals;
    if ((await approvals.pending()).length >= limit) {
      throw new ExecError("rate-limited", phrase("error.approvals.many", { limit }));
    }
    const { args, settings, policy } = judged;
    const spec = specOf(judged, context, "none");
    const fallback = onlyPerson ? "denied" : fallbackFor(decision, policy.askFallback.value);
    const record = await approvals.request(
      {
        command: args.command,
        cwd: judged.cwd,
        host: judged.host,
        env: args.env,
        plan: decision.plan,
        binding: decision.binding,
        reasons: decision.reasons,
        highlights: settings.exec.commandHighlighting
          ? decision.segments.flatMap((segment) => (segment.executableSpan ? [segment.executableSpan] : []))
          : [],
        warnings: options.warningsFor(decision, policy),
        offered: decision.offered,
        alwaysStores: decision.alwaysStores,
        security: policy.security.value,
        ask: policy.ask.value,
        agentId: settings.agentId,
        sessionKey: context.sessionKey,
        requester: context.actor,
        pty: args.pty,
        stdin: args.stdin,
        notifyOnExit: settings.exec.notifyOnExit,
        ...(spec.timeoutMs !== undefined ? { timeoutMs: spec.timeoutMs } : {}),
        ...(args.node ? { node: args.node } : {}),
        route: context.route ?? options.defaultRoute,
        ...(fallback && fallback !== "denied" ? { fallback } : {}),
      },
      { id: idFrom(context.requestId, "approval"), runId: spec.runId, timeoutMs: config.approvals.timeoutSec * 1000 },
    );
    await options.announce(record);
    return record;
  }

  function denied(decision: Extract<Decision, { kind: "deny" }>): ExecError {
    const [first] = decision.reasons;
    const why = first ? reasonPhrase(first) : phrase("error.exec.policy");
    if (first?.code === "control-command") {
      return new ExecError("control-command", phrase("error.exec.control", { why }), { reasons: decision.reasons });
    }
    return new ExecError("exec-denied", phrase("error.exec.denied", { why, layer: layerPhrase(decision.layer) }), {
      reasons: decision.reasons,
      layer: decision.layer,
    });
  }

  async function launchForCall({ judged, recorded }: Admitted, context: ExecContext): Promise<ToolResult> {
    const { args, settings, cwd } = judged;
    const canBackground = isToolAllowed("process", settings.toolLayers);
    const warnings =
      canBackground || (!args.background && args.yieldMs === undefined)
        ? []
        : ["The process tool is not allowed here: the command ran synchronously, yieldMs and background were ignored."];
    const launched = await runs.launch(specOf(judged, context, "event"), recorded);
    if (launched.kind === "duplicate") {
      return failedResult("runtime-error", "This call was made before; it is not run a second time.", {
        sessionId: launched.record.sessionId,
      });
    }
    const yieldMs = !canBackground ? undefined : args.background ? 0 : (args.yieldMs ?? options.yieldMs(settings));
    const { session, record } = launched.kind === "queued" ? launched : launched.run;
    const abort = () => session.stop("manual-cancel");
    context.signal?.addEventListener("abort", abort, { once: true });
    try {
      if (context.signal?.aborted) abort();
      const begunAt = performance.now();
      const run = await raceStart(launched, yieldMs);
      if (run === "waits") return queuedResult({ sessionId: session.id, cwd, why: waitWhy(record), warnings });
      if (run === "left") return failedResult("aborted", "It was stopped while it waited in line and never ran.");
      const allWarnings = [...warnings, ...run.handle.warnings];
      const ended = await raceEnd(run, yieldMs && Math.max(1, yieldMs - (performance.now() - begunAt)));
      if (!ended) {
        return runningResult({
          sessionId: run.session.id,
          pid: run.handle.pid,
          startedAtMs: run.record.startedAtMs,
          cwd,
          tail: run.session.tail(RUNNING_TAIL_CHARS),
          warnings: allWarnings,
        });
      }
      const result = endedResult({
        end: ended.end,
        output: run.session.aggregated(),
        lost: run.session.lost,
        cwd,
        sessionId: run.session.id,
        warnings: allWarnings,
        canBackground,
        ...(ended.record.timeoutMs !== undefined ? { timeoutMs: ended.record.timeoutMs } : {}),
      });
      if (context.signal?.aborted)
        throw new DOMException("The call was aborted; the command was stopped.", "AbortError");
      return result;
    } finally {
      context.signal?.removeEventListener("abort", abort);
    }
  }

  return {
    judge,

    async call(input, context) {
      let admitted: Admitted;
      try {
        admitted = await admit(input, context);
      } catch (error) {
        if (error instanceof ExecError && error.code === "workdir-unavailable") {
          return failedResult("workdir-unavailable", error.message);
        }
        throw error;
      }
      if (admitted.approval) {
        const { approval } = admitted;
        return pendingResult(approval, approval.request.warnings.map(inEnglish), options.reach(approval));
      }
      return launchForCall(admitted, context);
    },

    async begin(input, context) {
      const { judged, recorded, approval } = await admit(input, context);
      if (approval) return { kind: "approval", record: approval };
      const launched = await runs.launch(specOf(judged, context, "card"), recorded);
      return { kind: "run", record: launched.kind === "started" ? launched.run.record : launched.record };
    },

    async runApproved(record) {
      const { request } = record;
      const { plan, binding } = record.status === "expired" ? (request.fallback ?? request) : request;
      await runs.launch({
        runId: record.runId,
        approvalId: record.id,
        command: request.command,
        plan,
        binding,
        cwd: request.cwd,
        host: request.host,
        env: request.env,
        pathPrepend: agentSettings(options.config(), request.agentId, options.stateDir).exec.pathPrepend,
        pty: request.pty,
        stdin: request.stdin,
        agentId: request.agentId,
        sessionKey: request.sessionKey,
        requester: request.requester,
        report: "card",
        background: true,
        ...(request.timeoutMs !== undefined ? { timeoutMs: request.timeoutMs } : {}),
        ...(request.node ? { node: request.node } : {}),
        ...(request.route ? { route: request.route } : {}),
      });
    },
  };
}

/** The run once it has its place within the yield window; else it waits on in the background. */
async function raceStart(
  launched: Exclude<Launch, { kind: "duplicate" }>,
  yieldMs: number | undefined,
): Promise<LiveRun | "waits" | "left"> {
  if (launched.kind === "started") return launched.run;
  const { started, session } = launched;
  if (yieldMs === undefined) return (await started) ?? "left";
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<"waits">((resolve) => {
    timer = setTimeout(resolve, yieldMs, "waits");
  });
  try {
    const first = await Promise.race([started.then((run) => run ?? ("left" as const)), timeUp]);
    if (first !== "waits" || session.background()) return first;
    return (await started) ?? "left";
  } finally {
    clearTimeout(timer);
  }
}

function waitWhy(record: RunRecord): string {
  return record.waitsFor ? waitSentence(record.waitsFor).text : "It is about to start.";
}

/** The end of the run when it comes within the yield window; `undefined` once the run is in the background. */
async function raceEnd(run: LiveRun, yieldMs: number | undefined): Promise<Awaited<LiveRun["ended"]> | undefined> {
  if (yieldMs === undefined) {
    return run.ended;
  }
  if (yieldMs === 0) {
    run.session.background();
    return undefined;
  }
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), yieldMs);
  });
  try {
    const first = await Promise.race([run.ended, timeUp]);
    // The session decides which of the two came first: a run that is finalising is not sent to the background.
    if (first || !run.session.background()) return await run.ended;
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** A UUID made from the event that asked, so that a redelivery finds the same run and the same approval. */
export function idFrom(requestId: string, purpose: "run" | "approval"): string {
  const hex = createHash("sha256").update(`${purpose}\0${requestId}`).digest("hex");
  const variant = ((Number.parseInt(hex[16] ?? "0", 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
