/** What a failed Web API call means for the message: the one place that reads Slack's errors. */
import { webApi } from "@slack/bolt";
import { type Phrase, phrase } from "../../core/words/phrase.ts";

export type Failure =
  | { readonly kind: "retry"; readonly afterMs: number; readonly why: string }
  | { readonly kind: "unknown"; readonly why: string }
  | { readonly kind: "permanent"; readonly why: string; readonly code: string };

/** Network errors that prove the request never reached Slack. */
const NEVER_SENT = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Slack says: nothing happened, come back. */
const TRY_LATER = new Set([
  "ratelimited",
  "rate_limited",
  "service_unavailable",
  "team_added_to_org",
  "message_limit_exceeded",
]);

/** Slack says itself that part of it may have been done. */
const MAYBE_DONE = new Set(["fatal_error", "internal_error", "request_timeout"]);

/** The blocks were refused, not the message: plain text may still go. */
export const REFUSED_BLOCKS: ReadonlySet<string> = new Set([
  "invalid_blocks",
  "invalid_blocks_format",
  "msg_blocks_too_long",
  "invalid_attachments",
]);

/** The bot can not write there, but a private answer to a press or command still can. */
export const NO_ACCESS: ReadonlySet<string> = new Set([
  "channel_not_found",
  "not_in_channel",
  "user_not_in_channel",
  "is_archived",
]);

/** A token that will not work again without a person. */
export const AUTH_ERRORS: ReadonlySet<string> = new Set([
  "not_authed",
  "invalid_auth",
  "account_inactive",
  "token_revoked",
  "token_expired",
  "no_permission",
  "missing_scope",
  "not_allowed_token_type",
  "user_removed_from_team",
  "team_disabled",
  "org_login_required",
]);

const ADVICE: Readonly<Record<string, string>> = {
  not_in_channel: "the bot is not in that channel; invite it with /invite",
  channel_not_found: "the channel does not exist or the bot may not see it; invite it with /invite",
  is_archived: "the channel is archived",
  message_not_found: "the message is gone",
  cant_update_message: "the message can not be edited any more",
  thread_not_found: "the thread is gone",
};

/** What a refused token needs, by Slack's own code. */
const AUTH_ADVICE = [
  "missing_scope",
  "invalid_auth",
  "token_revoked",
  "account_inactive",
  "not_allowed_token_type",
] as const;

const isAuthAdvice = (code: string): code is (typeof AUTH_ADVICE)[number] =>
  (AUTH_ADVICE as readonly string[]).includes(code);

/** Why Slack does not take the account, for whoever can set it right. */
export function refusal(code: string): Phrase {
  return isAuthAdvice(code) ? phrase(`channel.slack.${code}`, { code }) : phrase("channel.slack.answered", { code });
}

const DEFAULT_RETRY_MS = 30_000;
const NETWORK_RETRY_MS = 2000;

export function platformError(error: unknown): string | undefined {
  return error instanceof webApi.WebAPIPlatformError ? error.data.error : undefined;
}

export function failureOf(error: unknown): Failure {
  if (error instanceof webApi.WebAPIRateLimitedError) {
    return { kind: "retry", afterMs: Math.max(error.retryAfter, 1) * 1000, why: "Slack asks to slow down" };
  }
  if (error instanceof webApi.WebAPIPlatformError) return platformFailure(error.data.error);
  if (error instanceof webApi.WebAPIHTTPError) {
    return error.statusCode >= 500
      ? { kind: "unknown", why: `Slack answered HTTP ${error.statusCode}` }
      : { kind: "permanent", why: `Slack answered HTTP ${error.statusCode}`, code: `http_${error.statusCode}` };
  }
  const code = networkCode(error);
  if (code !== undefined && NEVER_SENT.has(code))
    return { kind: "retry", afterMs: NETWORK_RETRY_MS, why: `Slack can not be reached (${code})` };
  return { kind: "unknown", why: `the connection to Slack broke (${code ?? "no answer"})` };
}

function platformFailure(code: string): Failure {
  if (TRY_LATER.has(code)) return { kind: "retry", afterMs: DEFAULT_RETRY_MS, why: `Slack answered ${code}` };
  if (MAYBE_DONE.has(code)) return { kind: "unknown", why: `Slack answered ${code}` };
  if (isAuthAdvice(code)) return { kind: "permanent", why: refusal(code).text, code };
  const advice = ADVICE[code];
  return { kind: "permanent", why: advice === undefined ? `Slack answered ${code}` : `${advice} (${code})`, code };
}

function networkCode(error: unknown): string | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; depth++) {
    const { code } = at as NodeJS.ErrnoException;
    if (typeof code === "string" && !code.startsWith("slack_")) return code;
    at =
      at instanceof AggregateError && at.errors.length > 0
        ? at.errors[0]
        : ((at as { original?: unknown }).original ?? at.cause);
  }
  return undefined;
}
