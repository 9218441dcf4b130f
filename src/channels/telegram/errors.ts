/**
 * What a failed Bot API call means. Telegram tells many refusals apart by their text alone, so this one table reads it;
 * nothing else does. Source: core.telegram.org/bots/api#making-requests and tdlib/telegram-bot-api.
 */
import { GrammyError, HttpError } from "grammy";
import { NEVER_CONNECTED } from "./agent.ts";

export type Failure =
  | { readonly kind: "rate-limited"; readonly afterMs: number }
  | { readonly kind: "migrated"; readonly toChatId: string }
  /** Another program polls with this token, or a webhook is set. */
  | { readonly kind: "conflict"; readonly webhook: boolean }
  | { readonly kind: "bad-token" }
  | { readonly kind: "thread-gone" }
  | { readonly kind: "markup-refused" }
  | { readonly kind: "unchanged" }
  /** The message to edit was deleted. */
  | { readonly kind: "message-gone" }
  /** The message exists and can not be edited (too old, not ours). */
  | { readonly kind: "not-editable" }
  /** Trying again can not help. */
  | { readonly kind: "refused" }
  /** Proof that Telegram never saw the call. */
  | { readonly kind: "not-sent" }
  /** It may or may not have been worked. */
  | { readonly kind: "in-doubt" };

const REFUSALS: readonly (readonly [
  pattern: RegExp,
  kind: "thread-gone" | "markup-refused" | "unchanged" | "message-gone" | "not-editable",
])[] = [
  [/message thread not found|TOPIC_DELETED|TOPIC_CLOSED/i, "thread-gone"],
  [/can't parse entities/i, "markup-refused"],
  [/message is not modified/i, "unchanged"],
  [/message to (?:edit|delete|react) not found|MESSAGE_ID_INVALID/i, "message-gone"],
  [/message can't be edited|there is no text in the message to edit/i, "not-editable"],
];

/** Connection errors before a byte was written (openclaw PR 76989). */
const NOT_SENT = new Set([NEVER_CONNECTED, "ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ENETUNREACH", "EHOSTUNREACH"]);

const DEFAULT_RATE_LIMIT_MS = 5_000;

export function failureOf(error: unknown): Failure {
  if (error instanceof GrammyError) return refusal(error);
  if (error instanceof HttpError) {
    const code = (error.error as { code?: unknown } | null)?.code;
    return { kind: typeof code === "string" && NOT_SENT.has(code) ? "not-sent" : "in-doubt" };
  }
  return { kind: "in-doubt" };
}

function refusal(error: GrammyError): Failure {
  const { parameters, description } = error;
  if (error.error_code === 429) {
    return {
      kind: "rate-limited",
      afterMs: parameters.retry_after === undefined ? DEFAULT_RATE_LIMIT_MS : parameters.retry_after * 1000,
    };
  }
  if (parameters.migrate_to_chat_id !== undefined)
    return { kind: "migrated", toChatId: String(parameters.migrate_to_chat_id) };
  if (error.error_code === 401 || error.error_code === 404) return { kind: "bad-token" };
  if (error.error_code === 409) return { kind: "conflict", webhook: /webhook/i.test(description) };
  if (error.error_code >= 500) return { kind: "in-doubt" };
  const known = REFUSALS.find(([pattern]) => pattern.test(description));
  return { kind: known?.[1] ?? "refused" };
}
