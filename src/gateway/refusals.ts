/**
 * Writes down who was refused before they reached anything. Counted always; logged and audited only so often, or
 * somebody without a token could push everything else out of the log and the audit trail.
 */
import { RateLimiterMemory } from "rate-limiter-flexible";
import type { ErrorCode } from "../core/errors.ts";
import { limiterKey, type Peer } from "./peer.ts";
import type { ServerDeps } from "./server-deps.ts";

const WINDOW_SECONDS = 60;
const PER_ADDRESS = 10;
const IN_ALL = 60;
const ALL = "all";

export interface Refusal {
  readonly surface: "http" | "websocket";
  readonly reason: ErrorCode;
  readonly peer: Peer;
}

export class Refusals {
  readonly #deps: Pick<ServerDeps, "metrics" | "logger" | "audit">;
  readonly #perAddress = new RateLimiterMemory({ points: PER_ADDRESS, duration: WINDOW_SECONDS });
  readonly #inAll = new RateLimiterMemory({ points: IN_ALL, duration: WINDOW_SECONDS });

  constructor(deps: Pick<ServerDeps, "metrics" | "logger" | "audit">) {
    this.#deps = deps;
  }

  /** Never rejects: a refusal stands even when it can not be written down. */
  async note({ surface, reason, peer: { address } }: Refusal): Promise<void> {
    const { metrics, logger, audit } = this.#deps;
    metrics.refused.inc({ surface, reason });
    if (!(await this.#mayWrite(address))) return;
    logger.warn({ surface, address, reason }, "refused");
    try {
      await audit.record({ type: "access-refused", surface, reason, address });
    } catch (error) {
      logger.error({ err: error }, "the audit trail could not be written");
    }
  }

  async #mayWrite(address: string): Promise<boolean> {
    try {
      await this.#perAddress.consume(limiterKey(address));
      await this.#inAll.consume(ALL);
      return true;
    } catch {
      return false;
    }
  }
}
