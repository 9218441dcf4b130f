/** Completion while typing `/`: command names first, then the option and value under the cursor. Pure. */
import { atLeast, type Rank } from "../core/access/rank.ts";
import { phrase, type Wording } from "../core/words/phrase.ts";
import type { CommandDefinition } from "./command.ts";

export interface Completion {
  /** Replaces the whole typed text. */
  readonly insert: string;
  readonly label: string;
  readonly detail: Wording;
}

/** Discord shows at most 25; nobody reads more. */
export const MAX_COMPLETIONS = 25;

export interface CompletionData {
  readonly commands: readonly CommandDefinition[];
  readonly rank: Rank;
  readonly sessions: readonly { readonly id: string; readonly label: string }[];
  /** Connected nodes. */
  readonly nodes: readonly { readonly id: string; readonly name: string }[];
  readonly approvals: readonly { readonly slug: string; readonly command: string }[];
}

export function complete(text: string, data: CompletionData): readonly Completion[] {
  const match = /^\/([a-z-]*)(\s[\s\S]*)?$/i.exec(text);
  if (!match) return [];
  const [, typed = "", rest] = match;
  const commands = data.commands.filter((command) => atLeast(data.rank, command.rank));
  if (rest === undefined) {
    return commands
      .filter((command) => command.name.startsWith(typed.toLowerCase()))
      .map((command) => ({ insert: `/${command.name} `, label: `/${command.name}`, detail: command.summary }));
  }
  const command = commands.find((one) => one.name === typed.toLowerCase());
  if (!command) return [];
  const last = /(\S*)$/.exec(rest)?.[1] ?? "";
  const before = text.slice(0, text.length - last.length);
  const words = rest
    .slice(0, rest.length - last.length)
    .trim()
    .split(/\s+/)
    .filter(Boolean);
  const items = candidates(command.name, words, last, command, data);
  return items
    .filter((item) => item.value.startsWith(last) && item.value !== last)
    .slice(0, MAX_COMPLETIONS)
    .map((item) => ({
      insert: `${before}${item.value}${item.more ? "" : " "}`,
      label: item.value,
      detail: item.detail,
    }));
}

/** What names this node and no other: its name where that is one word and its own, else the start of its id. */
export function nodeWord(node: CompletionData["nodes"][number], all: CompletionData["nodes"]): string {
  const plain = /^\S+$/.test(node.name) && all.filter((one) => one.name === node.name).length === 1;
  return plain ? node.name : node.id.slice(0, 12);
}

function nodeChoice(node: CompletionData["nodes"][number], all: CompletionData["nodes"]): Candidate {
  const word = nodeWord(node, all);
  return { value: `node=${word}`, detail: word === node.name ? node.id.slice(0, 12) : node.name };
}

interface Candidate {
  readonly value: string;
  readonly detail: Wording;
  /** Something follows directly (`host=`). */
  readonly more?: boolean;
}

function candidates(
  name: string,
  words: readonly string[],
  last: string,
  command: CommandDefinition,
  data: CompletionData,
): readonly Candidate[] {
  const choices = (option: string): readonly string[] =>
    command.options.find((one) => one.name === option)?.choices ?? [];
  switch (name) {
    case "exec": {
      // Once a word that is no option stands there, the rest belongs to the command: nothing of ours to offer.
      if (words.some((word) => !/^[A-Za-z]+[=:]/.test(word))) return [];
      const [option = "", value] = last.split("=");
      if (value !== undefined && option === "node") return data.nodes.map((node) => nodeChoice(node, data.nodes));
      if (value !== undefined) return choices(option).map((choice) => ({ value: `${option}=${choice}`, detail: "" }));
      return [
        ...command.options
          .filter((one) => one.name !== "command" && !words.some((word) => word.startsWith(`${one.name}=`)))
          .map((one) => ({ value: `${one.name}=`, detail: one.description, more: true })),
        { value: "explain", detail: phrase("option.explain") },
      ];
    }
    case "approve":
      if (words.length === 0) {
        return data.approvals.map((approval) => ({ value: approval.slug, detail: approval.command }));
      }
      return words.length === 1 ? choices("decision").map((value) => ({ value, detail: "" })) : [];
    case "process":
      if (words.length === 0) return choices("action").map((value) => ({ value, detail: "" }));
      return words.length === 1 && words[0] !== "list"
        ? data.sessions.map((session) => ({ value: session.id, detail: session.label }))
        : [];
    case "stop":
      return words.length === 0 ? choices("scope").map((value) => ({ value, detail: "" })) : [];
    case "help":
      return words.length === 0 ? data.commands.map((one) => ({ value: one.name, detail: one.summary })) : [];
    default:
      return [];
  }
}
