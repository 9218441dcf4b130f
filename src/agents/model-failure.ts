/**
 * Why a model gave no answer, as a closed union, and the one sentence people read. Made from the kind of the failure
 * alone: what a provider writes may repeat the request, and with it a key.
 */

import { phrase, type Wording } from "../core/words/phrase.ts";

export type ModelFailure =
  | { readonly kind: "misconfigured"; readonly detail: string }
  | { readonly kind: "unauthorized" }
  | { readonly kind: "unknown-model" }
  | { readonly kind: "rate-limited" }
  | { readonly kind: "refused"; readonly status: number }
  | { readonly kind: "provider-error"; readonly status: number }
  | { readonly kind: "unreachable" }
  | { readonly kind: "timed-out" }
  | { readonly kind: "bad-answer" };

/** What of the AI SDK's errors is read; their classes are not loaded for it. */
interface SdkError {
  readonly name?: unknown;
  readonly statusCode?: unknown;
  readonly lastError?: unknown;
  readonly cause?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
}

export function classifyFailure(error: unknown): ModelFailure {
  const { name, statusCode, lastError, code, message } = (error ?? {}) as SdkError;
  if (name === "AI_RetryError" && lastError !== undefined) return classifyFailure(lastError);
  if (name === "TimeoutError" || name === "AbortError") return { kind: "timed-out" };
  if (code === "invalid-argument") return { kind: "misconfigured", detail: String(message) };
  if (typeof statusCode === "number") {
    if (statusCode === 401 || statusCode === 403) return { kind: "unauthorized" };
    if (statusCode === 404) return { kind: "unknown-model" };
    if (statusCode === 429) return { kind: "rate-limited" };
    if (statusCode >= 500) return { kind: "provider-error", status: statusCode };
    // A 200 whose body is not the protocol comes as an error too.
    if (statusCode >= 400) return { kind: "refused", status: statusCode };
    return { kind: "bad-answer" };
  }
  return name === "AI_APICallError" ? { kind: "unreachable" } : { kind: "bad-answer" };
}

/** `model` is `provider/model`. */
export function failureSentence(error: unknown, model: string): Wording {
  const failure = classifyFailure(error);
  switch (failure.kind) {
    case "misconfigured":
      return failure.detail;
    case "unauthorized":
      return phrase("model.unauthorized", { model });
    case "unknown-model":
      return phrase("model.unknown-model", { model });
    case "rate-limited":
      return phrase("model.rate-limited", { model });
    case "refused":
      return phrase("model.refused", { model, status: failure.status });
    case "provider-error":
      return phrase("model.provider-error", { model, status: failure.status });
    case "unreachable":
      return phrase("model.unreachable", { model });
    case "timed-out":
      return phrase("model.timed-out", { model });
    case "bad-answer":
      return phrase("model.bad-answer", { model });
  }
}
