/**
 * The text form of a decision: `/approve <id> <decision>` or the other way round. Strict on purpose: a decision is
 * never assumed and trailing text is never ignored (bug case approve-command-with-junk).
 */
import type { ApprovalDecision } from "../policy/types.ts";

/** `revoke` takes back what `allow-always` stored. */
export type ApproveWish = ApprovalDecision | "revoke";

const WORDS: Readonly<Record<string, ApproveWish>> = {
  allow: "allow-once",
  once: "allow-once",
  "allow-once": "allow-once",
  allowonce: "allow-once",
  always: "allow-always",
  "allow-always": "allow-always",
  allowalways: "allow-always",
  deny: "deny",
  reject: "deny",
  block: "deny",
  revoke: "revoke",
  forget: "revoke",
};

const ID = /^[0-9a-f-]{1,36}$/i;

export function parseApprove(text: string): { readonly id: string; readonly decision: ApproveWish } | undefined {
  const words = wordsOf(text);
  const [first, second] = words;
  if (words.length !== 2 || first === undefined || second === undefined) return undefined;
  const decisionFirst = WORDS[first.toLowerCase()];
  const decisionSecond = WORDS[second.toLowerCase()];
  if (decisionSecond && ID.test(first)) return { id: first, decision: decisionSecond };
  if (decisionFirst && ID.test(second)) return { id: second, decision: decisionFirst };
  return undefined;
}

/** Half of it, or nothing: what is there asks for the rest. `undefined` for anything that is neither an id nor a decision. */
export function parseAskedApprove(
  text: string,
): { readonly id?: string; readonly decision?: Exclude<ApproveWish, "revoke"> } | undefined {
  const [word, ...more] = wordsOf(text);
  if (more.length > 0) return undefined;
  if (word === undefined) return {};
  const decision = WORDS[word.toLowerCase()];
  if (decision !== undefined) return decision === "revoke" ? undefined : { decision };
  return ID.test(word) ? { id: word } : undefined;
}

function wordsOf(text: string): string[] {
  return text
    .trim()
    .split(/\s+/)
    .map((word) => word.replace(/^[`'"<]+|[`'">]+$/g, ""))
    .filter((word) => word !== "");
}
