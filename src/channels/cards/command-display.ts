/** How a command is shown to a person who must decide about it: secrets masked, nothing invisible. Pure. */
import { createHash } from "node:crypto";
import { MASK, type Redactor } from "../text/redact.ts";
import { disguisedWords, showInvisible } from "../text/visible.ts";

export interface CommandDisplay {
  /** Secrets masked, invisible characters as `\u{…}`; still to be escaped by the platform. */
  readonly text: string;
  /** Masked places, also those masked before the card came here. */
  readonly masked: number;
  /** Words with look-alike letters of another alphabet. */
  readonly disguised: readonly string[];
  /** UTF-16 units of the original. */
  readonly characters: number;
  /**
   * First 12 hex digits over the command's UTF-8 bytes: lets a person compare card, file and audit log. Says nothing when
   * something was masked before.
   */
  readonly sha256: string;
}

const FINGERPRINT_DIGITS = 12;

export function displayCommand(command: string, redactor: Redactor): CommandDisplay {
  const { text } = redactor.redact(command);
  return {
    text: showInvisible(text),
    masked: text.split(MASK).length - 1,
    disguised: disguisedWords(command),
    characters: command.length,
    sha256: createHash("sha256").update(command, "utf8").digest("hex").slice(0, FINGERPRINT_DIGITS),
  };
}
