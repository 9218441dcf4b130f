/**
 * Pairing: a stranger who writes to the bot gets a code, an owner approves it, and from then on the two talk in direct
 * messages. Never more than that: no room, no approver rights (channels.md section 2.2).
 */
import { randomInt, timingSafeEqual } from "node:crypto";
import type { Clock } from "../clock.ts";
import { ExecError } from "../errors.ts";
import type { Actor, ChannelId, Route } from "../route.ts";
import type { Store } from "../store/store.ts";
import { phrase } from "../words/phrase.ts";

/** 32 symbols without 0 O 1 I, which are misread on a phone. */
export const CODE_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
export const CODE_LENGTH = 8;
export const CODE_TTL_MS = 3_600_000;
/** Requests waiting per bot account; further strangers are not answered. */
export const MAX_PENDING = 3;
/** Wrong codes before approving is closed for a while. */
export const MAX_WRONG_CODES = 5;
export const LOCK_MS = 10 * 60_000;

const PENDING = "pairing";
const PAIRED = "paired";
const WRONG = "pairing-wrong";

export interface PairingRequest {
  readonly code: string;
  readonly channel: ChannelId;
  readonly accountId: string;
  readonly actor: Actor;
  readonly route: Route;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

export interface Pairing {
  isPaired(channel: ChannelId, accountId: string, actorId: string): Promise<boolean>;
  /** `created`: tell the person; `known`: they were told within the hour; `full`: nobody is told. */
  request(
    actor: Actor,
    route: Route,
  ): Promise<{ readonly kind: "created" | "known"; readonly request: PairingRequest } | { readonly kind: "full" }>;
  list(channel?: ChannelId): Promise<readonly PairingRequest[]>;
  /** Throws `not-found` for a code nobody has, `rate-limited` after too many wrong ones. */
  approve(code: string): Promise<PairingRequest>;
  dismiss(code: string): Promise<PairingRequest>;
  revoke(channel: ChannelId, accountId: string, actorId: string): Promise<boolean>;
}

export function createPairing(store: Store, clock: Clock): Pairing {
  const account = (channel: string, accountId: string) => `${channel}:${accountId}:`;

  async function pendingOf(prefix: string): Promise<PairingRequest[]> {
    return (await store.list<PairingRequest>(PENDING, { prefix })).map((listed) => listed.value);
  }

  async function take(code: string): Promise<PairingRequest> {
    const wrong = (await store.get<number>(WRONG, "count"))?.value ?? 0;
    if (wrong >= MAX_WRONG_CODES) {
      throw new ExecError("rate-limited", phrase("error.pairing.locked"));
    }
    const wanted = normalise(code);
    const found = (await pendingOf("")).find((request) => sameCode(request.code, wanted));
    if (!found) {
      await store.put(WRONG, "count", wrong + 1, { ttlMs: LOCK_MS });
      throw new ExecError("not-found", phrase("error.pairing.unknown"));
    }
    await store.delete(PENDING, `${account(found.channel, found.accountId)}${found.actor.id}`);
    return found;
  }

  return {
    async isPaired(channel, accountId, actorId) {
      return (await store.get(PAIRED, `${account(channel, accountId)}${actorId}`)) !== undefined;
    },

    async request(actor, route) {
      const prefix = account(route.channel, route.accountId);
      const pending = await pendingOf(prefix);
      const known = pending.find((request) => request.actor.id === actor.id);
      if (known) return { kind: "known", request: known };
      if (pending.length >= MAX_PENDING) return { kind: "full" };
      const now = clock.now();
      const request: PairingRequest = {
        code: newCode(new Set((await pendingOf("")).map((one) => one.code))),
        channel: route.channel,
        accountId: route.accountId,
        actor,
        route,
        createdAtMs: now,
        expiresAtMs: now + CODE_TTL_MS,
      };
      const created = await store.setIfAbsent(PENDING, `${prefix}${actor.id}`, request, { ttlMs: CODE_TTL_MS });
      if (created) return { kind: "created", request };
      const raced = await store.get<PairingRequest>(PENDING, `${prefix}${actor.id}`);
      return raced ? { kind: "known", request: raced.value } : { kind: "full" };
    },

    async list(channel) {
      return pendingOf(channel === undefined ? "" : `${channel}:`);
    },

    async approve(code) {
      const request = await take(code);
      await store.put(PAIRED, `${account(request.channel, request.accountId)}${request.actor.id}`, {
        display: request.actor.display ?? null,
        atMs: clock.now(),
      });
      await store.delete(WRONG, "count");
      return request;
    },

    dismiss: take,

    revoke: (channel, accountId, actorId) => store.delete(PAIRED, `${account(channel, accountId)}${actorId}`),
  };
}

function newCode(taken: ReadonlySet<string>): string {
  for (;;) {
    const code = Array.from({ length: CODE_LENGTH }, () => CODE_ALPHABET[randomInt(CODE_ALPHABET.length)]).join("");
    if (!taken.has(code)) return code;
  }
}

/** People type codes with blanks, dashes and small letters. */
function normalise(code: string): string {
  return code.replace(/[\s-]/g, "").toUpperCase();
}

function sameCode(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
