/** A decision as JSON and as lines for people: what would happen, why, what matched, what would run. Pure. */
import { quote } from "shell-quote";
import { inEnglish, phrase, type Wording } from "../words/phrase.ts";
import type { Decision, Plan, Reason, Segment } from "./decision.ts";
import { explainLayer, explainReason } from "./reasons.ts";
import type { AllowlistEntry } from "./types.ts";

export interface ExplainedReason {
  readonly code: Reason["code"];
  readonly message: string;
  readonly subject?: string;
  readonly span?: Reason["span"];
}

export interface ExplainedSegment {
  readonly text: string;
  readonly argv: readonly string[];
  readonly next?: Segment["next"];
  readonly resolvedPath?: string;
  readonly realPath?: string;
  readonly satisfiedBy: Segment["satisfiedBy"];
  readonly rule?: { readonly pattern: string; readonly argPattern?: string };
  readonly reasons: readonly ExplainedReason[];
}

export interface Explanation {
  readonly decision: Decision["kind"];
  readonly reasons: readonly ExplainedReason[];
  readonly segments: readonly ExplainedSegment[];
  /** Absent when it is denied. */
  readonly plan?: Plan;
  readonly offered?: readonly string[];
  /** What "Allow always" would store. */
  readonly alwaysStores?: readonly AllowlistEntry[];
  /** The layer that denies. */
  readonly deniedBy?: string;
}

const explained = (reason: Reason): ExplainedReason => ({
  code: reason.code,
  message: explainReason(reason),
  ...(reason.subject === undefined ? {} : { subject: reason.subject }),
  ...(reason.span === undefined ? {} : { span: reason.span }),
});

export function explainDecision(decision: Decision): Explanation {
  return {
    decision: decision.kind,
    reasons: decision.reasons.map(explained),
    segments: decision.segments.map(({ entry, reasons, executableSpan: _, ...segment }) => ({
      ...segment,
      ...(entry
        ? {
            rule: {
              pattern: entry.pattern,
              ...(entry.argPattern === undefined ? {} : { argPattern: entry.argPattern }),
            },
          }
        : {}),
      reasons: reasons.map(explained),
    })),
    ...(decision.kind === "deny" ? { deniedBy: explainLayer(decision.layer) } : { plan: decision.plan }),
    ...(decision.kind === "ask" ? { offered: decision.offered, alwaysStores: decision.alwaysStores } : {}),
  };
}

/** Characters that could move the cursor or hide text, made visible. */
export function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|(?! )\p{Zs}/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`,
  );
}

const VERDICTS: Readonly<Record<Decision["kind"], string>> = {
  allow: "It would run without asking.",
  ask: "It would ask a person first.",
  deny: "It would be refused.",
};

export function planText(plan: Plan): Wording {
  switch (plan.kind) {
    case "argv":
      // For people to read and copy, never to be run or parsed by us (decisions.md D7).
      return quote([plan.file, ...plan.args]);
    case "rebuilt":
      return plan.text;
    case "verbatim":
      return phrase("explain.verbatim");
  }
}

export function explainLines(decision: Decision): string[] {
  const lines = [VERDICTS[decision.kind]];
  if (decision.kind === "deny") lines.push(`  decided by ${explainLayer(decision.layer)}`);
  const inSegments = new Set(
    decision.segments.flatMap((segment) => segment.reasons.map((reason) => explainReason(reason))),
  );
  for (const reason of decision.reasons) {
    const sentence = explainReason(reason);
    if (!inSegments.has(sentence)) lines.push(`  because ${visible(sentence)}`);
  }
  for (const [index, segment] of decision.segments.entries()) {
    lines.push(`${index + 1}. ${visible(segment.text)}`);
    if (segment.resolvedPath !== undefined) {
      const link = segment.realPath !== segment.resolvedPath ? ` -> ${segment.realPath}` : "";
      lines.push(`     program  ${visible(segment.resolvedPath + link)}`);
    }
    if (segment.entry) {
      const args = segment.entry.argPattern === undefined ? "" : ` with arguments ${segment.entry.argPattern}`;
      lines.push(`     matched  allowlist rule ${visible(segment.entry.pattern + args)}`);
    } else if (segment.satisfiedBy !== "none") lines.push(`     matched  ${segment.satisfiedBy}`);
    for (const reason of segment.reasons) lines.push(`     asks     ${visible(explainReason(reason))}`);
  }
  if (decision.kind !== "deny") lines.push(`would run: ${visible(inEnglish(planText(decision.plan)))}`);
  if (decision.kind === "ask") {
    lines.push(
      decision.alwaysStores.length === 0
        ? "“Allow always” is not offered: this can only be allowed once."
        : `“Allow always” would store, for this directory and these arguments only: ${decision.alwaysStores.map((rule) => visible(rule.pattern)).join(", ")}`,
    );
  }
  return lines;
}
