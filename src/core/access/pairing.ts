/**
 * Pairing: a stranger who writes to the bot gets a code, an owner approves it, and from then on the two talk in direct
 * messages. Never more than that: no room, no approver rights (channels.md section 2.2).
 *
 * A request is one durable record with one compare-and-set out of `pending`, as an approval is: first answer wins,
 * whether it is a button, `/pair` or the command line. The order is decide → store → grant → job, and the person's own
 * key is deleted last, so that a kill in between is made good by `start`.
 */
import { randomInt, timingSafeEqual } from "node:crypto";
import type { Clock, NewId } from "../clock.ts";
import { ExecError } from "../errors.ts";
import type { Queue } from "../events/queue.ts";
import { type Actor, actorLabel, type ChannelId, type Route } from "../route.ts";
import type { Store } from "../store/store.ts";
import { phrase } from "../words/phrase.ts";

/** 32 symbols without 0 O 1 I, which are misread on a phone. */
const CODE_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
export const PAIRING_CODE_LENGTH = 8;
export const CODE_TTL_MS = 3_600_000;
/** How long a settled request still answers "already let in by …". */
const SETTLED_RETENTION_MS = 24 * 3_600_000;
/** Requests waiting per bot account; further strangers are not answered. */
const MAX_PENDING = 3;
/** Wrong codes before approving is closed for a while. */
const MAX_WRONG_CODES = 5;
const LOCK_MS = 10 * 60_000;

/** Requests by their id. */
const REQUESTS = "pairing-request";
/** The id of a person's request, while it waits or what it decided is not passed on yet. */
const ASKING = "pairing-asking";
const PAIRED = "paired";
const WRONG = "pairing-wrong";
const EXPIRE_JOB = "pairing-expire";
const SETTLED_JOB = "pairing-settled";

export type PairingDecision = "approve" | "dismiss";

export interface PairingRequest {
  readonly id: string;
  readonly code: string;
  readonly channel: ChannelId;
  readonly accountId: string;
  readonly actor: Actor;
  readonly route: Route;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly status: "pending" | "approved" | "dismissed" | "expired";
  readonly decidedBy?: Actor;
  readonly decidedAtMs?: number;
  /** The message that asked: coming again after a kill, it is answered as if for the first time. */
  readonly askedBy?: string;
  /** Where its card was sent. */
  readonly shownAt: readonly Route[];
}

export type PairingAnswer = {
  /** False when the same had been decided already. */
  readonly applied: boolean;
  readonly request: PairingRequest;
};

export interface PairingOptions {
  readonly store: Store;
  readonly queue: Queue;
  readonly clock: Pick<Clock, "now">;
  readonly newId: NewId;
  /** Whoever should see the card of a new request. */
  readonly askers: (request: Pick<PairingRequest, "channel" | "accountId">) => readonly Route[];
  /** Recorded before anybody is told; may come twice after a kill. */
  readonly onDecided: (request: PairingRequest) => Promise<void>;
}

export interface Pairing {
  /** Passes on what was decided before a kill. `onSettled` runs at least once per settled request. */
  start(onSettled: (request: PairingRequest) => Promise<void>): Promise<void>;
  isPaired(channel: ChannelId, accountId: string, actorId: string): Promise<boolean>;
  /** `created`: tell the person; `known`: they were told within the hour; `full`: nobody is told. */
  request(
    actor: Actor,
    route: Route,
    askedBy?: string,
  ): Promise<{ readonly kind: "created" | "known"; readonly request: PairingRequest } | { readonly kind: "full" }>;
  /** Those that wait, oldest first. */
  list(channel?: ChannelId): Promise<readonly PairingRequest[]>;
  /**
   * By code. Throws `not-found` for a code nobody has, `rate-limited` after too many wrong ones, `already-decided` or
   * `expired` when it was answered differently before.
   */
  decide(code: string, decision: PairingDecision, by: Actor): Promise<PairingAnswer>;
  /** By the request's id, which a button carries. Throws `not-found` and the same for what was answered before. */
  answer(id: string, decision: PairingDecision, by: Actor): Promise<PairingAnswer>;
  revoke(channel: ChannelId, accountId: string, actorId: string): Promise<boolean>;
}

export function createPairing(options: PairingOptions): Pairing {
  const { store, queue, clock } = options;
  const account = (channel: string, accountId: string) => `${channel}:${accountId}:`;
  const personKey = ({ channel, accountId, actor }: Pick<PairingRequest, "channel" | "accountId" | "actor">) =>
    `${account(channel, accountId)}${actor.id}`;

  /** Past its time it is expired, whether or not the job has run. */
  const isLive = (request: PairingRequest) => request.status === "pending" && clock.now() < request.expiresAtMs;
  const read = async (id: string) => (await store.get<PairingRequest>(REQUESTS, id))?.value;

  async function all(): Promise<PairingRequest[]> {
    return (await store.list<PairingRequest>(REQUESTS)).map((listed) => listed.value);
  }

  /** What was decided becomes effect. Each step may be done again; the person's key says that all are done. */
  async function passOn(request: PairingRequest): Promise<void> {
    if (request.status === "approved") {
      await store.put(PAIRED, personKey(request), { display: request.actor.display ?? null, atMs: clock.now() });
    }
    await options.onDecided(request);
    await queue.add({
      name: SETTLED_JOB,
      id: `pairing-settled:${request.id}`,
      data: { id: request.id },
      attempts: 8,
      backoff: { type: "exponential", baseMs: 250, maxMs: 30_000 },
    });
    const asking = await store.get<string>(ASKING, personKey(request));
    if (asking?.value === request.id) await store.delete(ASKING, personKey(request), asking.version);
  }

  async function settle(
    id: string,
    change: Pick<PairingRequest, "status" | "decidedBy">,
    may: (request: PairingRequest) => boolean,
  ): Promise<PairingAnswer | undefined> {
    for (;;) {
      const found = await store.get<PairingRequest>(REQUESTS, id);
      if (!found) return undefined;
      if (!may(found.value)) return { applied: false, request: found.value };
      const next: PairingRequest = { ...found.value, ...change, decidedAtMs: clock.now() };
      const version = await store.compareAndSet(REQUESTS, id, found.version, next, { ttlMs: SETTLED_RETENTION_MS });
      if (version === undefined) continue;
      await passOn(next);
      return { applied: true, request: next };
    }
  }

  const expire = (id: string) =>
    settle(id, { status: "expired" }, (one) => one.status === "pending" && clock.now() >= one.expiresAtMs);

  async function answer(id: string, decision: PairingDecision, by: Actor): Promise<PairingAnswer> {
    const status = decision === "approve" ? "approved" : "dismissed";
    await expire(id);
    const done = await settle(id, { status, decidedBy: by }, isLive);
    if (!done) throw new ExecError("not-found", phrase("error.pairing.gone"));
    if (done.applied || done.request.status === status) return done;
    throw settledError(done.request);
  }

  async function byCode(code: string): Promise<PairingRequest> {
    const wrong = (await store.get<number>(WRONG, "count"))?.value ?? 0;
    if (wrong >= MAX_WRONG_CODES) {
      throw new ExecError("rate-limited", phrase("error.pairing.locked"));
    }
    const wanted = normalise(code);
    const found = (await all()).find((request) => sameCode(request.code, wanted));
    if (found) return found;
    await store.put(WRONG, "count", wrong + 1, { ttlMs: LOCK_MS });
    throw new ExecError("not-found", phrase("error.pairing.unknown"));
  }

  const expireLater = (request: PairingRequest) =>
    queue.add({
      name: EXPIRE_JOB,
      id: `pairing-expire:${request.id}`,
      data: { id: request.id },
      delayMs: Math.max(0, request.expiresAtMs - clock.now()),
      attempts: 5,
    });

  /** Whose request is settled, past its time or gone has no request: a new one can be made. */
  async function makeRoom(key: string): Promise<void> {
    const asking = await store.get<string>(ASKING, key);
    if (!asking) return;
    const request = await read(asking.value);
    if (!request) await store.delete(ASKING, key, asking.version);
    else if (request.status !== "pending") await passOn(request);
    else if (!isLive(request)) await expire(request.id);
  }

  return {
    async start(onSettled) {
      await queue.process<{ id: string }>(
        SETTLED_JOB,
        async (job) => {
          const request = await read(job.data.id);
          if (request && request.status !== "pending") await onSettled(request);
        },
        { concurrency: 4 },
      );
      await queue.process<{ id: string }>(EXPIRE_JOB, async (job) => {
        await expire(job.data.id);
      });
      for (const request of await all()) {
        const asking = (await store.get<string>(ASKING, personKey(request)))?.value === request.id;
        if (request.status === "pending") await expireLater(request);
        else if (asking) await passOn(request);
      }
    },

    async isPaired(channel, accountId, actorId) {
      return (await store.get(PAIRED, `${account(channel, accountId)}${actorId}`)) !== undefined;
    },

    async request(actor, route, askedBy) {
      const { channel, accountId } = route;
      const key = personKey({ channel, accountId, actor });
      await makeRoom(key);
      const others = await all();
      const waiting = others.filter((one) => isLive(one) && one.channel === channel && one.accountId === accountId);
      const known = waiting.find((one) => one.actor.id === actor.id);
      if (known) {
        const again = askedBy !== undefined && known.askedBy === askedBy;
        if (again) await expireLater(known);
        return { kind: again ? "created" : "known", request: known };
      }
      if (waiting.length >= MAX_PENDING) return { kind: "full" };
      const now = clock.now();
      const request: PairingRequest = {
        id: options.newId(),
        code: newCode(new Set(others.map((one) => one.code))),
        channel,
        accountId,
        actor,
        route,
        createdAtMs: now,
        expiresAtMs: now + CODE_TTL_MS,
        status: "pending",
        ...(askedBy === undefined ? {} : { askedBy }),
        shownAt: options.askers({ channel, accountId }),
      };
      const ttlMs = CODE_TTL_MS + SETTLED_RETENTION_MS;
      await store.put(REQUESTS, request.id, request, { ttlMs });
      if (!(await store.setIfAbsent(ASKING, key, request.id, { ttlMs }))) {
        await store.delete(REQUESTS, request.id);
        const first = (await store.get<string>(ASKING, key))?.value;
        const raced = first === undefined ? undefined : await read(first);
        return raced ? { kind: "known", request: raced } : { kind: "full" };
      }
      await expireLater(request);
      return { kind: "created", request };
    },

    async list(channel) {
      return (await all())
        .filter((request) => isLive(request) && (channel === undefined || request.channel === channel))
        .sort((a, b) => a.createdAtMs - b.createdAtMs);
    },

    async decide(code, decision, by) {
      const { id } = await byCode(code);
      const done = await answer(id, decision, by);
      await store.delete(WRONG, "count");
      return done;
    },

    answer,

    revoke: (channel, accountId, actorId) => store.delete(PAIRED, `${account(channel, accountId)}${actorId}`),
  };
}

/** The same words wherever a late answer arrives. */
function settledError({ status, actor, decidedBy }: PairingRequest): ExecError {
  const who = actorLabel(actor);
  const by = decidedBy ? actorLabel(decidedBy) : phrase("request.somebody");
  switch (status) {
    case "approved":
      return new ExecError("approval-already-decided", phrase("error.pairing.approved", { who, by }));
    case "dismissed":
      return new ExecError("approval-already-decided", phrase("error.pairing.dismissed", { who, by }));
    case "expired":
    case "pending":
      return new ExecError("approval-expired", phrase("error.pairing.expired", { who }));
  }
}

function newCode(taken: ReadonlySet<string>): string {
  for (;;) {
    const code = Array.from({ length: PAIRING_CODE_LENGTH }, () => CODE_ALPHABET[randomInt(CODE_ALPHABET.length)]).join(
      "",
    );
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
