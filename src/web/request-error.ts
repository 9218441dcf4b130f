import type { ErrorBody } from "../protocol/frames.ts";

/** Codes beyond the gateway's own: the answer never came. */
export type LostCode = "connection-lost" | "no-answer";

/** The gateway's refusal, or the loss of its answer. `code` is what programs look at. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly code: string;
  readonly retryAfterMs: number | undefined;
  constructor(body: ErrorBody) {
    super(body.message);
    this.code = body.code;
    this.retryAfterMs = body.retryAfterMs;
  }
}
