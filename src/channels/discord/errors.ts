/** What a failed Discord call means. Codes: discord.com/developers/docs/topics/opcodes-and-status-codes. */
import { DiscordAPIError, HTTPError, RateLimitError } from "discord.js";
import { DEFAULT_RATE_LIMIT_MS } from "./limits.ts";

export type Failure =
  | { readonly kind: "rate-limited"; readonly afterMs: number }
  | { readonly kind: "bad-token" }
  /** The interaction's token is dead or its first answer came too late. */
  | { readonly kind: "interaction-gone" }
  /** Somebody (another instance, a replay) answered first. */
  | { readonly kind: "already-answered" }
  /** The message to edit was deleted. */
  | { readonly kind: "message-gone" }
  /** No such person or channel under this id. */
  | { readonly kind: "not-a-recipient" }
  /** The bot is not let in; an interaction's own token may still be. */
  | { readonly kind: "no-access" }
  /** The upload is larger than this place takes. */
  | { readonly kind: "file-refused" }
  /** Trying again can not help. */
  | { readonly kind: "refused" }
  /** Not worked, or safe to repeat by its nonce. */
  | { readonly kind: "unreachable" };

const BY_CODE: Readonly<Record<number, Exclude<Failure["kind"], "rate-limited">>> = {
  10003: "not-a-recipient",
  10008: "message-gone",
  10013: "not-a-recipient",
  10015: "interaction-gone",
  10062: "interaction-gone",
  40005: "file-refused",
  40060: "already-answered",
  50001: "no-access",
  50013: "no-access",
  50027: "interaction-gone",
  50033: "not-a-recipient",
};

export function failureOf(error: unknown): Failure {
  if (error instanceof RateLimitError) {
    const wait = Math.max(error.retryAfter, error.sublimitTimeout, 0);
    return { kind: "rate-limited", afterMs: wait > 0 ? Math.ceil(wait) : DEFAULT_RATE_LIMIT_MS };
  }
  if (error instanceof DiscordAPIError) {
    const known = BY_CODE[Number(error.code)];
    if (known !== undefined) return { kind: known };
    if (error.status === 401) return { kind: "bad-token" };
    if (error.status === 413) return { kind: "file-refused" };
    return { kind: error.status >= 500 ? "unreachable" : "refused" };
  }
  if (error instanceof HTTPError) return { kind: error.status === 413 ? "file-refused" : "unreachable" };
  return { kind: "unreachable" };
}

/** Close codes after which connecting again with the same settings can not help. */
export const FATAL_CLOSE = {
  authenticationFailed: 4004,
  invalidIntents: 4013,
  disallowedIntents: 4014,
} as const;
