/**
 * Commands that would let an agent answer its own approval or change its own rules. Refused always, even under
 * security=full, also inside chains, wrappers, `bash -c` and package runners (spec: policy.md section 3.2). A guard
 * rail, not a wall: under `full` an agent can build the words at run time; the approvals store has its own checks.
 */
import { posix } from "node:path";
import type { Reason } from "./decision.ts";
import { nameIn, SHELLS } from "./program-kinds.ts";
import { mentionedCommands } from "./shell/parse.ts";
import { Payloads } from "./shell/payloads.ts";

const OWN_NAMES: ReadonlySet<string> = new Set(["openclaw", "openclaw-exec"]);

/** First words after our own name that decide, change rules or sign in. */
const CONTROL: Readonly<Record<string, (rest: readonly string[]) => boolean>> = {
  approve: () => true,
  approvals: ([verb]) => verb !== "get" && verb !== "pending",
  "exec-policy": ([verb]) => verb !== "show",
  channels: ([verb]) => verb === "login" || verb === "logout" || verb === "add",
  pairing: ([verb]) => verb !== "list",
  doctor: (rest) => rest.includes("--fix"),
};

const APPROVE = /^\/approve(?:@\S+)?$/i;
const DECISION = /^(?:allow|once|allow-?once|always|allow-?always|deny|reject|block)$/i;

/** Cheap look that can not miss: quoting and escapes inside the words are dropped first. */
const MAY_MENTION = /approve|openclaw/i;

/** Words that can begin a control command or carry one. */
const INTERESTING = /approve|openclaw|sh$|^eval$|fish$|\bnu$|^(?:elvish|xonsh|rc|es|ion|murex|cmd|powershell|pwsh)/i;

const MAX_NESTING = 4;
/** Words after a name in which its subcommand must stand. */
const MAX_LOOKED_AT = 64;

export function controlCommand(command: string): Reason | undefined {
  // Encoded characters could spell the words, so those texts always get the full look.
  if (!MAY_MENTION.test(command.replace(/["'\\]/g, "")) && !command.includes("$'")) return undefined;
  return search(command, 0, new Payloads());
}

function search(text: string, depth: number, payloads: Payloads): Reason | undefined {
  const look = payloads.take(text);
  if (look === "seen") return undefined;
  if (look === "too-much") return { code: "control-command", subject: "eval" };
  const { commands, complete } = mentionedCommands(text);
  for (const { words } of commands) {
    const hit = inWords(words, depth, payloads);
    if (hit) return hit;
  }
  if (complete) return undefined;
  // Not readable as bash; another shell may still read it. Look at what stands where a command would begin.
  for (const piece of text.split(/[\n;|&(){}`]/)) {
    const hit = inWords(piece.trim().split(/\s+/), MAX_NESTING, payloads);
    if (hit) return hit;
  }
  return undefined;
}

function inWords(words: readonly (string | undefined)[], depth: number, payloads: Payloads): Reason | undefined {
  let evaluated = false;
  if (words[0] !== undefined && /^(?:echo|printf|grep|rg|git|cat|man)$/.test(words[0])) return undefined;
  for (const [at, word] of words.entries()) {
    if (word === undefined) continue;
    if (!INTERESTING.test(word)) continue;
    const rest = words.slice(at + 1);
    const known = rest.slice(0, MAX_LOOKED_AT).map((item) => item ?? "");
    if (APPROVE.test(word) && (at === 0 || startsCommand(words, at)) && isApproval(rest)) {
      return { code: "control-command", subject: "/approve" };
    }
    const name = posix.basename(word);
    if (OWN_NAMES.has(name)) {
      const verbs = known.filter((item) => !item.startsWith("-"));
      const check = Object.hasOwn(CONTROL, verbs[0] ?? "") ? CONTROL[verbs[0] as string] : undefined;
      if (check?.([...verbs.slice(1), ...known.filter((item) => item.startsWith("--"))])) {
        return { code: "control-command", subject: `${name} ${verbs.slice(0, 2).join(" ")}` };
      }
    }
    // What the first `eval` runs holds every later one.
    const evaluates: boolean = name === "eval" && !evaluated;
    evaluated ||= evaluates;
    if (depth < MAX_NESTING && (evaluates || nameIn([name], SHELLS))) {
      const payload = evaluates
        ? rest.map((item) => item ?? "").join(" ")
        : known[known.findIndex((arg) => /^-[a-zA-Z]*c$/.test(arg)) + 1];
      // Without a character that means something to a shell its words are those that stand here already.
      const inner =
        evaluates && payload !== undefined && !/[^\w \t./:@%+=,-]/.test(payload)
          ? inWords(rest, depth + 1, payloads)
          : payload
            ? search(payload, depth + 1, payloads)
            : undefined;
      if (inner) return inner;
    }
  }
  return undefined;
}

/** After a wrapper and its options; an argument of an ordinary program is only text. */
function startsCommand(words: readonly (string | undefined)[], at: number): boolean {
  const first = posix.basename(words[0] ?? "");
  return (
    /^(?:sudo|doas|env|nice|nohup|timeout|stdbuf|time|command|builtin|exec|xargs|npx|pnpm|yarn|bunx|npm)$/.test(
      first,
    ) && at > 0
  );
}

/** `/approve <id> <decision>` in either order; a word that is not literal could be either. */
function isApproval(rest: readonly (string | undefined)[]): boolean {
  if (rest.length < 2) return false;
  return rest.slice(0, 2).some((word) => word === undefined || DECISION.test(word));
}
