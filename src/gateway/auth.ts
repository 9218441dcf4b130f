/** Who may use the gateway: holders of the token; wrong tokens are counted per address and slowed down. */
import { createHash, timingSafeEqual } from "node:crypto";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { ExecError } from "../core/errors.ts";
import { limiterKey, type Peer } from "./peer.ts";
import { UNGUESSABLE_TOKEN_CHARS } from "./token.ts";

const WINDOW_SECONDS = 60;

export interface TokenGateOptions {
  /** Absent: programs on this machine need none. */
  readonly token: string | undefined;
  /** Wrong tokens from one address within a minute before it has to wait. */
  readonly maxFailures: number;
  readonly lockoutSec: number;
}

export class TokenGate {
  readonly #digest: Buffer | undefined;
  readonly #unguessable: boolean;
  readonly #wrong: RateLimiterMemory;
  readonly #lockoutSec: number;

  constructor(options: TokenGateOptions) {
    const { token, maxFailures } = options;
    this.#lockoutSec = options.lockoutSec;
    this.#digest = token === undefined ? undefined : sha256(token);
    this.#unguessable = token !== undefined && token.length >= UNGUESSABLE_TOKEN_CHARS;
    this.#wrong = new RateLimiterMemory({ points: maxFailures, duration: WINDOW_SECONDS });
  }

  /**
   * Rejects with `unauthorized` or, after too many wrong tokens from one address, `rate-limited` with
   * `details.retryAfterMs`. While an address waits, its right token waits too, or the answer would tell a guesser
   * which guess was right; a token that can not be guessed passes, so that nobody can lock its holder out.
   */
  async check(presented: string | undefined, peer: Peer): Promise<void> {
    if (this.#digest === undefined) {
      if (peer.local) return;
      throw new ExecError("unauthorized", "Without a token this gateway serves programs on its own machine only.");
    }
    if (presented === undefined) throw new ExecError("unauthorized", MISSING);
    // Equal length by hashing: the comparison tells neither content nor length by its time.
    const right = timingSafeEqual(this.#digest, sha256(presented));
    if (right && this.#unguessable) return;

    const key = limiterKey(peer.address);
    const seen = await this.#wrong.get(key);
    if (seen && seen.remainingPoints <= 0) throw tooMany(seen.msBeforeNext);
    if (right) return;
    const { remainingPoints } = await this.#wrong.penalty(key);
    if (remainingPoints <= 0) await this.#wrong.block(key, this.#lockoutSec);
    throw new ExecError("unauthorized", WRONG);
  }
}

const HOW = "Print the link again with: openclaw-exec gateway --print-link";
const MISSING = `The gateway token is missing. ${HOW}`;
const WRONG = `The gateway token is wrong. ${HOW}`;

function tooMany(waitMs: number): ExecError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new ExecError("rate-limited", `Too many wrong tokens from this address. Try again in ${seconds} s.`, {
    retryAfterMs: seconds * 1000,
  });
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** The token of `Authorization: Bearer …`; the scheme's case does not matter (RFC 9110 11.1). */
export function bearerToken(header: string | undefined): string | undefined {
  return /^bearer +([\x21-\x7e]+) *$/i.exec(header ?? "")?.[1];
}

/** The same, or the token as the password of `Authorization: Basic …` (RFC 7617): a browser asks a person for it. */
export function bearerOrPassword(header: string | undefined): string | undefined {
  const basic = /^basic +([\w+/-]+={0,2}) *$/i.exec(header ?? "")?.[1];
  if (basic === undefined) return bearerToken(header);
  const [, password] = /^[^:]*:(.*)$/s.exec(Buffer.from(basic, "base64").toString()) ?? [];
  return password === "" ? undefined : password;
}
