/**
 * The only producer of decisions (spec: policy.md section 3). Pure: the same input gives the same answer. Every
 * branch that is not provably fine ends in a question or a denial.
 */

import { posix } from "node:path";
import { type Assessed, assess, type BoundFile, type Place } from "./assess.ts";
import { type BoundRun, makeBinding } from "./binding.ts";
import { controlCommand } from "./control-commands.ts";
import type { DecideInput, Decision, Plan, Reason, ReasonCode, Segment } from "./decision.ts";
import { isPlainLocalPath } from "./guard/options.ts";
import { inlineCodeAnywhere } from "./inline-eval.ts";
import { pinPlan } from "./pin.ts";
import { type ParsedCommand, type ParsedList, parseCommand } from "./shell/parse.ts";
import { rawGate } from "./shell/raw-gate.ts";
import type { AllowlistEntry, PolicyLayer } from "./types.ts";
import { isHarmlessVariable } from "./wrappers.ts";

/** Reasons that only a person's answer settles: no fallback, and no automatic reviewer for the second group. */
const EXPLICIT_ONLY: ReadonlySet<ReasonCode> = new Set([
  "inline-eval",
  "heredoc",
  "cannot-pin",
  "glob",
  "brace-expansion",
  "tilde",
]);
const HUMAN_ONLY: ReadonlySet<ReasonCode> = new Set(["audit-suppression", "login-shell", "ask-always"]);

/** Reasons of the whole call, which a rule for its segments would not cover. */
const NEVER_GRANTED: ReadonlySet<ReasonCode> = new Set(["cannot-pin", "audit-suppression", "env-prefix"]);

interface Analysis {
  readonly ok: boolean;
  readonly segments: readonly Segment[];
  /** Reasons of the text and of every segment, in order. */
  readonly reasons: readonly Reason[];
  readonly satisfied: boolean;
  readonly pinned: Plan | undefined;
  readonly files: readonly BoundFile[];
  readonly grants: readonly AllowlistEntry[] | undefined;
}

export function decide(input: DecideInput): Decision {
  const { policy } = input;
  const control = controlCommand(input.command);
  if (control) return deny([control], "default");
  if (policy.security.from === "host-file:damaged") {
    return deny([{ code: "approvals-file-damaged" }], policy.security.from);
  }
  if (policy.security.value === "deny") return deny([{ code: "security-deny" }], policy.security.from);
  if (policy.bypass || input.host === "sandbox") return allow(input, { kind: "verbatim", text: input.command }, [], []);
  return policy.security.value === "full" ? decideFull(input) : decideAllowlist(input);
}

function decideFull(input: DecideInput): Decision {
  const { policy, command } = input;
  const reasons: Reason[] = [];
  if (policy.ask.value === "always") reasons.push({ code: "ask-always" });
  const inline = policy.strictInlineEval ? inlineCodeAnywhere(command) : undefined;
  if (inline) reasons.push(inline);
  if (policy.ask.value !== "off" && touchesAuditSuppressions(command)) reasons.push({ code: "audit-suppression" });
  const plan: Plan = { kind: "verbatim", text: command };
  if (reasons.length === 0) return allow(input, plan, [], []);
  // What the text would run is still worth binding: a person approves what is on disk now.
  const analysis = analyse(input);
  return ask(input, analysis, reasons, { pinnable: false });
}

function decideAllowlist(input: DecideInput): Decision {
  const { policy } = input;
  const analysis = analyse(input);
  const reasons: Reason[] = [...analysis.reasons, ...unusualVariables(input.env)];
  if (analysis.satisfied && !analysis.pinned) reasons.push({ code: "cannot-pin" });
  if (touchesAuditSuppressions(input.command)) reasons.push({ code: "audit-suppression" });
  const clean = analysis.satisfied && reasons.length === 0;
  if (policy.ask.value === "always")
    return ask(input, analysis, [{ code: "ask-always" }, ...reasons], { pinnable: clean });
  if (clean && analysis.pinned) return allow(input, analysis.pinned, analysis.segments, analysis.files);
  // strictInlineEval asks even where nothing else does; everything else is a plain miss under ask=off (D12).
  const onlyInline = reasons.length > 0 && reasons.every((reason) => reason.code === "inline-eval");
  if (policy.ask.value === "off" && !onlyInline) {
    return { kind: "deny", reasons, segments: analysis.segments, layer: policy.security.from };
  }
  if (policy.strictBinding && !analysis.ok) {
    return { kind: "deny", reasons, segments: analysis.segments, layer: policy.security.from };
  }
  return ask(input, analysis, reasons, { pinnable: false });
}

function analyse(input: DecideInput): Analysis {
  const gate = rawGate(input.command);
  const parsed = gate ? ({ ok: false, reasons: [gate] } as const) : parseCommand(input.command);
  if (!parsed.ok) {
    return {
      ok: false,
      segments: [],
      reasons: parsed.reasons,
      satisfied: false,
      pinned: undefined,
      files: [],
      grants: undefined,
    };
  }
  const opened = openShellPayload(parsed.list);
  const list = opened ?? parsed.list;
  const assessed = assessAll(list, input);
  const flat = assessed.flat();
  const satisfied = flat.every((one) => one.segment.satisfiedBy !== "none");
  const reasons = flat.flatMap((one) => one.segment.reasons);
  const missing = flat.filter((one) => one.segment.satisfiedBy === "none");
  const grants = missing.map((one) => one.grant);
  return {
    ok: true,
    segments: segmentsOf(list, assessed, opened !== undefined),
    reasons: opened
      ? reasons.map(({ code, subject }) => ({ code, ...(subject === undefined ? {} : { subject }) }))
      : reasons,
    satisfied,
    pinned: satisfied ? pinPlan(list, assessed) : undefined,
    files: flat.flatMap((one) => one.files),
    grants: grants.every((grant) => grant !== undefined) ? grants : undefined,
  };
}

/** `bash -c '…'` alone: the payload is what runs, so the payload is what is judged (policy.md 6.2). */
function openShellPayload(list: ParsedList): ParsedList | undefined {
  const [pipeline] = list.pipelines;
  const [command] = pipeline?.commands ?? [];
  if (list.pipelines.length !== 1 || pipeline?.commands.length !== 1 || pipeline.prefixes.length > 0 || !command)
    return undefined;
  const [shell, option, payload, ...extra] = command.words.map((word) => word.value);
  if (shell !== "bash" && shell !== "sh") return undefined;
  if (
    option !== "-c" ||
    payload === undefined ||
    payload.startsWith("-") ||
    payload.startsWith("+") ||
    extra.length > 0
  )
    return undefined;
  if (command.assignments.length > 0 || command.redirects.length > 0 || rawGate(payload)) return undefined;
  const inner = parseCommand(payload);
  return inner.ok ? inner.list : undefined;
}

function assessAll(list: ParsedList, input: DecideInput): Assessed[][] {
  let place: Place = { cwd: input.cwd, afterCd: false, outside: false };
  return list.pipelines.map((pipeline) => {
    const here = pipeline.commands.map((command) => assess(command, place, input));
    for (const command of pipeline.commands) place = placeAfter(command, place, input);
    return here;
  });
}

function placeAfter(command: ParsedCommand, place: Place, input: DecideInput): Place {
  const [name, target, ...rest] = command.words.map((word) => word.value);
  if (name !== "cd") return place;
  // A second `cd` may or may not follow a first that failed.
  const certain = !place.afterCd && place.cwd !== undefined && target !== undefined && rest.length === 0;
  const cwd = certain ? posix.resolve(place.cwd, target) : undefined;
  return { cwd, afterCd: true, outside: place.outside || target === undefined || !staysInside(target, cwd, input) };
}

/** Below the working directory and in no directory that programs obey (`.git/hooks`, `.ssh`); symlinks followed. */
function staysInside(target: string, resolved: string | undefined, { cwd, facts }: DecideInput): boolean {
  if (resolved === undefined) return isPlainLocalPath(target);
  const below = posix.relative(cwd, facts.realpath(resolved) ?? resolved);
  return below === "" || isPlainLocalPath(below);
}

function segmentsOf(list: ParsedList, assessed: readonly (readonly Assessed[])[], opened: boolean): Segment[] {
  const segments: Segment[] = [];
  for (const [p, pipeline] of list.pipelines.entries()) {
    for (const c of pipeline.commands.keys()) {
      const one = assessed[p]?.[c];
      if (!one) continue;
      const next = pipeline.operators[c] ?? list.joins[p];
      // Spans of an opened payload do not point into the command a person sees.
      const { executableSpan, ...rest } = one.segment;
      segments.push({
        ...rest,
        ...(executableSpan && !opened ? { executableSpan } : {}),
        ...(next === undefined ? {} : { next }),
      });
    }
  }
  return segments;
}

function boundRun(input: DecideInput, plan: Plan): BoundRun {
  const { command, cwd, host, agentId, env } = input;
  return { plan, command, cwd, host, agentId, env };
}

function allow(input: DecideInput, plan: Plan, segments: readonly Segment[], files: readonly BoundFile[]): Decision {
  return {
    kind: "allow",
    plan,
    binding: makeBinding(boundRun(input, plan), files, input.facts),
    segments,
    reasons: [],
  };
}

function deny(reasons: readonly Reason[], layer: PolicyLayer): Decision {
  return { kind: "deny", reasons, segments: [], layer };
}

function ask(
  input: DecideInput,
  analysis: Analysis,
  reasons: readonly Reason[],
  options: { readonly pinnable: boolean },
): Decision {
  const { policy } = input;
  const plan: Plan = { kind: "verbatim", text: input.command };
  const oneShot =
    policy.ask.value === "always" ||
    policy.security.value !== "allowlist" ||
    !analysis.ok ||
    reasons.some((reason) => NEVER_GRANTED.has(reason.code));
  const alwaysStores = oneShot ? [] : (analysis.grants ?? []);
  const pinned = options.pinnable ? analysis.pinned : undefined;
  return {
    kind: "ask",
    plan,
    binding: makeBinding(boundRun(input, plan), analysis.files, input.facts),
    segments: analysis.segments,
    reasons,
    offered: alwaysStores.length > 0 ? ["allow-once", "allow-always", "deny"] : ["allow-once", "deny"],
    alwaysStores,
    reviewable:
      policy.autoReview &&
      policy.ask.value !== "always" &&
      analysis.ok &&
      analysis.segments.length === 1 &&
      !reasons.some((reason) => HUMAN_ONLY.has(reason.code)),
    explicitOnly: reasons.some((reason) => EXPLICIT_ONLY.has(reason.code)),
    ...(pinned
      ? { pinned: { plan: pinned, binding: makeBinding(boundRun(input, pinned), analysis.files, input.facts) } }
      : {}),
  };
}

/** A variable given with the call is the same as one written in front of the command. */
function unusualVariables(env: DecideInput["env"]): Reason[] {
  return Object.entries(env)
    .filter(([name, value]) => !isHarmlessVariable(name, value))
    .map(([name]) => ({ code: "env-prefix", subject: name }));
}

/** A command that could silence the security audit is looked at by a person; reading the setting is fine. */
function touchesAuditSuppressions(command: string): boolean {
  if (!/security\.audit\.suppressions/.test(command)) return false;
  return !/^\s*openclaw(?:-exec)?\s+config\s+(?:get|schema|validate)\s/.test(command);
}

/**
 * What `askFallback` lets run when nobody can answer or the time is up (policy.md 2.4): a plan, or why not.
 */
export function fallbackFor(
  decision: Extract<Decision, { kind: "ask" }>,
  fallback: DecideInput["policy"]["askFallback"]["value"],
): Extract<Decision, { kind: "ask" }>["pinned"] | "denied" {
  if (fallback === "deny" || decision.explicitOnly) return "denied";
  if (fallback === "full") return { plan: decision.plan, binding: decision.binding };
  return decision.pinned ?? "denied";
}
