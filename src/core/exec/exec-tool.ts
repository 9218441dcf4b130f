/**
 * The one exec pipeline. Every command takes it, whoever asks: parse → route → policy → deny, run, or ask. Agents and
 * API callers use `call` and get the seeds' result shapes; chats use `begin` and get cards.
 */

import { createHash } from "node:crypto";
import type { ApprovalReach } from "../access/approval-reach.ts";
import type { Approvals } from "../approvals/approvals.ts";
import type { ApprovalRecord } from "../approvals/record.ts";
import type { Audit } from "../audit/audit.ts";
import { ExecError } from "../errors.ts";
import { fallbackFor } from "../policy/decide.ts";
import type { Decision } from "../policy/decision.ts";
import { innerCommands } from "../policy/inner-command.ts";
import type { RunConsent } from "../policy/node-target.ts";
import { layerPhrase, reasonPhrase } from "../policy/reasons.ts";
import type { ReviewInput, ReviewVerdict } from "../policy/reviewer.ts";
import type { EffectivePolicy } from "../policy/types.ts";
import type { Route } from "../route.ts";
import { inEnglish, phrase, type Wording } from "../words/phrase.ts";
import { answerOf } from "./exec-answer.ts";
import { type Caller, createJudge, type Judged, type JudgeOptions } from "./exec-judge.ts";
import { failedResult, pendingResult, type ToolResult } from "./results.ts";
import type { RunRecord, RunSpec, Runs } from "./runs.ts";
import { type AgentSettings, agentSettings } from "./settings.ts";
import { isToolAllowed } from "./tool-policy.ts";

export interface ExecContext extends Caller {
  /** The same id never starts a second command or asks a second time: a redelivered event is harmless. */
  readonly requestId: string;
  /** Where cards and completions go. Absent: nobody watches (API). */
  readonly route?: Route;
  readonly signal?: AbortSignal;
  /** Default true: an agent is woken, a chat gets a message. A program over the API has to look for the end itself. */
  readonly isTold?: boolean;
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

export interface ExecToolOptions extends JudgeOptions {
  readonly approvals: Approvals;
  readonly runs: Runs;
  readonly audit: Audit;
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
  /** Lines that warn whoever decides, and that the tool result repeats. */
  readonly warningsFor: (decision: Decision, policy: EffectivePolicy) => readonly Wording[];
}

interface Admitted {
  readonly judged: Judged;
  /** Settles once the request and its decision are in the audit trail; nothing starts before. */
  readonly recorded: Promise<unknown>;
  /** Somebody has to be asked first. */
  readonly approval?: ApprovalRecord;
}

export function createExecTool(options: ExecToolOptions): ExecTool {
  const { approvals, runs, audit } = options;
  const judge = createJudge(options);

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
      notify: {
        notifyOnExit: settings.exec.notifyOnExit,
        notifyOnExitEmptySuccess: settings.exec.notifyOnExitEmptySuccess,
      },
      ...(timeoutMs > 0 ? { timeoutMs } : {}),
      ...(judged.node ? { node: judged.node } : {}),
      // Launched without an approval although the policy asks: the reviewer has said yes.
      ...(judged.node && decision.kind === "ask" ? { consent: { decision: "reviewed" } } : {}),
      ...(context.route ? { route: context.route } : {}),
      ...(context.cardAfterMs !== undefined ? { cardAfterMs: context.cardAfterMs } : {}),
    };
  }

  /** Shared by `call` and `begin`: audit, refuse, ask, or hand back what may run. */
  async function admit(input: unknown, context: ExecContext): Promise<Admitted> {
    const requestId = idFrom(context.requestId, "run");
    const judged = await judge(input, { ...context, runId: requestId });
    const { decision, policy, args, settings } = judged;
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
      // Rules that let it run on a node are the node's.
      if (judged.host !== "node") options.noteUse(decision, args.command, settings.agentId);
      return { judged, recorded };
    }
    await recorded;
    if (decision.kind === "deny") throw denied(decision, judged.node?.name);
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
    const inner = innerCommands(decision.segments);
    const fallback = onlyPerson ? "denied" : fallbackFor(decision, policy.askFallback.value);
    const record = await approvals.request(
      {
        command: args.command,
        ...(inner.length > 0 ? { inner } : {}),
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
        ...(judged.node ? { node: judged.node } : {}),
        route: context.route ?? options.defaultRoute,
        ...(fallback && fallback !== "denied" ? { fallback } : {}),
      },
      { id: idFrom(context.requestId, "approval"), runId: spec.runId, timeoutMs: config.approvals.timeoutSec * 1000 },
    );
    await options.announce(record);
    return record;
  }

  function denied(decision: Extract<Decision, { kind: "deny" }>, node: string | undefined): ExecError {
    const [first] = decision.reasons;
    const why = first ? reasonPhrase(first) : phrase("error.exec.policy");
    if (first?.code === "control-command") {
      return new ExecError("control-command", phrase("error.exec.control", { why }), { reasons: decision.reasons });
    }
    const layer = layerPhrase(decision.layer);
    const wording =
      node === undefined
        ? phrase("error.exec.denied", { why, layer })
        : phrase("error.exec.deniedOnNode", { why, layer, node });
    return new ExecError("exec-denied", wording, {
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
    return answerOf(launched, {
      cwd,
      warnings,
      canBackground,
      isTold: context.isTold ?? true,
      yieldMs: !canBackground ? undefined : args.background ? 0 : (args.yieldMs ?? options.yieldMs(settings)),
      ...(context.signal ? { signal: context.signal } : {}),
    });
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
        const warnings = approval.request.warnings.map(inEnglish);
        return pendingResult(approval, warnings, options.reach(approval), { isTold: context.isTold ?? true });
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
        ...(request.node ? { node: request.node, consent: consentOf(record) } : {}),
        ...(request.route ? { route: request.route } : {}),
      });
    },
  };
}

/** What a node is told of who said yes. */
function consentOf(record: ApprovalRecord): RunConsent {
  const decision = record.decision === "allow-always" && !record.revoked ? "allow-always" : "allow-once";
  return { approvalId: record.id, decision: record.status === "expired" ? "fallback" : decision };
}

/** A UUID made from the event that asked, so that a redelivery finds the same run and the same approval. */
export function idFrom(requestId: string, purpose: "run" | "approval"): string {
  const hex = createHash("sha256").update(`${purpose}\0${requestId}`).digest("hex");
  const variant = ((Number.parseInt(hex[16] ?? "0", 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
