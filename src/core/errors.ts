/**
 * Errors of a call that was not acceptable. The code is a closed set and is what programs look at; the message
 * says what happened, why, and what to do, and is the same in chat, CLI, web and HTTP. What can reach a person is
 * a phrase, so that chat and web say it in their language; `message` is always its English.
 */
import { inEnglish, type Wording } from "./words/phrase.ts";

export type ErrorCode =
  | "invalid-argument"
  | "command-empty"
  | "command-too-long"
  | "command-has-nul"
  | "host-invalid"
  | "host-not-allowed"
  | "host-unavailable"
  | "workdir-unavailable"
  | "env-forbidden"
  | "env-invalid"
  | "control-command"
  | "exec-denied"
  | "tool-denied"
  | "tool-unknown"
  | "elevated-unavailable"
  | "spawn-failed"
  | "approval-unknown"
  | "approval-ambiguous"
  | "approval-expired"
  | "approval-already-decided"
  | "approval-not-offered"
  | "approval-changed"
  | "not-authorized"
  | "session-unknown"
  | "draining"
  | "unauthorized"
  | "rate-limited"
  | "payload-too-large"
  | "malformed-json"
  | "not-found"
  /** The state file or Redis can not be opened, reached or written just now. */
  | "state-unavailable"
  /** The state file is damaged, or is not ours; nothing was changed. */
  | "state-damaged"
  | "gateway-running"
  | "gateway-unreachable"
  | "address-in-use"
  | "bind-refused"
  | "internal";

export class ExecError extends Error {
  override readonly name = "ExecError";
  readonly code: ErrorCode;
  /** For whoever reads it in a language of their own. */
  readonly wording: Wording;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  constructor(code: ErrorCode, wording: Wording, details?: Readonly<Record<string, unknown>>) {
    super(inEnglish(wording));
    this.code = code;
    this.wording = wording;
    this.details = details;
  }
}
