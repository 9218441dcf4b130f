/**
 * How an error leaves the gateway: the same code and words over HTTP, WebSocket and in the terminal. Only a client that
 * names the language of its person gets them in that one.
 */
import { ZodError } from "zod";
import { type ErrorCode, ExecError } from "../core/errors.ts";
import type { Language } from "../core/words/languages.ts";
import { inLanguage } from "../core/words/say.ts";
import type { ErrorBody } from "../protocol/frames.ts";

/** `undefined` when the error was not meant for a caller: log it and answer `internalError`. */
export function errorBody(error: unknown, language: Language = "en"): ErrorBody | undefined {
  if (error instanceof ZodError) return { code: "invalid-argument", message: zodSentence(error) };
  if (!(error instanceof ExecError)) return undefined;
  const { retryAfterMs, ...details } = error.details ?? {};
  return {
    code: error.code,
    message: inLanguage(error.wording, language),
    ...(Object.keys(details).length > 0 ? { details } : {}),
    ...(typeof retryAfterMs === "number" ? { retryAfterMs } : {}),
  };
}

/** What a caller learns of a fault of ours: a reference to find it in the log, nothing else. */
export function internalError(reference: string): ErrorBody {
  return {
    code: "internal",
    message: `The gateway failed to answer. Its log tells why, under ${reference}.`,
    details: { reference },
  };
}

export function zodSentence(error: ZodError): string {
  return error.issues
    .map((issue) => {
      const path = issue.path.map(String).join(".");
      const text = issue.code === "unrecognized_keys" ? `unknown key ${issue.keys.join(", ")}` : issue.message;
      return path === "" ? text : `${path}: ${text}`;
    })
    .join("; ");
}

export function httpStatus(code: ErrorCode): 400 | 401 | 403 | 404 | 409 | 410 | 413 | 422 | 429 | 500 | 503 {
  switch (code) {
    case "invalid-argument":
    case "command-empty":
    case "command-too-long":
    case "command-has-nul":
    case "host-invalid":
    case "env-forbidden":
    case "env-invalid":
    case "malformed-json":
      return 400;
    case "unauthorized":
      return 401;
    case "not-authorized":
    case "host-not-allowed":
    case "control-command":
    case "exec-denied":
    case "tool-denied":
    case "elevated-unavailable":
    case "approval-not-offered":
      return 403;
    case "tool-unknown":
    case "approval-unknown":
    case "session-unknown":
    case "not-found":
      return 404;
    case "approval-ambiguous":
    case "approval-already-decided":
    case "approval-changed":
    case "gateway-running":
    case "address-in-use":
      return 409;
    case "approval-expired":
      return 410;
    case "payload-too-large":
      return 413;
    case "workdir-unavailable":
    case "spawn-failed":
    case "bind-refused":
      return 422;
    case "rate-limited":
      return 429;
    case "host-unavailable":
    case "draining":
    case "state-unavailable":
    case "gateway-unreachable":
      return 503;
    case "state-damaged":
    case "internal":
      return 500;
  }
}
