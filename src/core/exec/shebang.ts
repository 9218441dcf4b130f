/** A script pasted as a command: to a shell its first line is a comment, and the rest would be run as shell text. */
import { type Phrase, phrase } from "../words/phrase.ts";

const SHELLS = new Set(["sh", "bash", "dash", "zsh", "ksh", "ash"]);

/** The sentence to refuse with when `command` starts with a `#!` line for something that is not a shell. */
export function foreignShebang(command: string): Phrase | undefined {
  const line = /^#![ \t]*([^\n\r]*)/.exec(command)?.[1];
  if (line === undefined) return undefined;
  const words = line.trim().split(/[ \t]+/);
  const program = words[0]?.split("/").at(-1) ?? "";
  const interpreter =
    program === "env" ? (words.slice(1).find((word) => !word.startsWith("-") && !word.includes("=")) ?? "") : program;
  if (interpreter === "" || SHELLS.has(interpreter)) return undefined;
  return phrase("error.preflight.shebang", { interpreter });
}
