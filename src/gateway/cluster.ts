/**
 * Several gateways on one Redis: who is alive, what becomes of the runs of one that is gone, and questions from one to
 * another. Liveness is a lease per gateway; a gateway that has lost its own starts no command, since others may have
 * reported its runs as lost.
 */
import type { Clock, NewId } from "../core/clock.ts";
import { ExecError } from "../core/errors.ts";
import { Leases } from "../core/store/lease.ts";
import { LeaseKeeper } from "../core/store/lease-keeper.ts";
import type { Store } from "../core/store/store.ts";
import { LEASE_MS } from "./leases.ts";

/** How long a gateway may be gone before its runs are reported: a restart knows more about them than anybody else. */
const GONE_GRACE_MS = 15_000;
/** How long a question waits for the other gateway. */
export const ASK_TIMEOUT_MS = 5_000;
const JOIN_LIMIT_MS = 3 * LEASE_MS;
/** How long a command waits for a lease that ran out, as it does in an outage; one try takes milliseconds. */
const REGAIN_LIMIT_MS = LEASE_MS;
const NS = "gateway";

export type Answers = Readonly<Record<string, (params: unknown) => Promise<unknown>>>;

export interface ClusterOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly gatewayId: string;
  /** Gateways that have left something to be reported. */
  readonly leftBy: () => Promise<ReadonlySet<string>>;
  readonly onGone: (gatewayId: string) => Promise<void>;
  readonly onTrouble: (error: unknown, what: string) => void;
  readonly goneGraceMs?: number;
}

interface Ask {
  readonly id: string;
  readonly from: string;
  readonly method: string;
  readonly params: unknown;
}

interface Reply {
  readonly id: string;
  readonly ok: boolean;
  readonly value?: unknown;
  readonly code?: string;
  readonly message?: string;
}

export class Cluster {
  /** For the leases of chat accounts. */
  readonly leases: Leases;
  readonly #options: ClusterOptions;
  readonly #waiting = new Map<string, (reply: Reply) => void>();
  readonly #goneSince = new Map<string, number>();
  readonly #unsubscribe: (() => Promise<void>)[] = [];
  #keeper: LeaseKeeper | undefined;
  #looking: NodeJS.Timeout | undefined;
  #look: Promise<void> = Promise.resolve();
  #stopped = false;
  #size = 1;

  constructor(options: ClusterOptions) {
    this.#options = options;
    const { store, clock, gatewayId } = options;
    // The state directory is locked, so a gateway id is one living process: after a crash it has its leases back at once.
    this.leases = new Leases({ store, clock, holder: gatewayId, ttlMs: LEASE_MS });
  }

  /** Takes the gateway's own lease and begins to answer; resolves when it may start commands. */
  async join(answers: Answers): Promise<void> {
    const { store, gatewayId } = this.#options;
    this.#unsubscribe.push(
      await store.subscribe(topic(gatewayId), (message) => void this.#answer(answers, message as Ask)),
      await store.subscribe(replyTopic(gatewayId), (message) =>
        this.#waiting.get((message as Reply).id)?.(message as Reply),
      ),
    );
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(
        () =>
          reject(new ExecError("state-unavailable", "The lease of this gateway could not be had: another has its id.")),
        JOIN_LIMIT_MS,
      );
      this.#keeper = new LeaseKeeper({
        leases: this.leases,
        name: `gateway:${gatewayId}`,
        ttlMs: LEASE_MS,
        onHeld: () => {
          clearTimeout(late);
          resolve();
        },
        onTrouble: (what, error) => this.#options.onTrouble(error, what),
      });
    });
    await this.#beSeen();
    this.#size = 1 + (await this.others()).length;
    this.#nextLook();
  }

  /** Gateways that were alive at the last look, this one included. */
  get size(): number {
    return this.#size;
  }

  /** May this gateway start commands now? */
  get isMember(): boolean {
    return this.#keeper?.lease !== undefined;
  }

  /** For a lease that ran out: tries to have it back now. False when others may go on to report the runs of this gateway. */
  async regain(): Promise<boolean> {
    return (await this.#keeper?.held(REGAIN_LIMIT_MS)) ?? false;
  }

  /** Rejects while this gateway is cut off from the others. */
  async health(): Promise<void> {
    if (!this.isMember) throw new Error("This gateway has lost touch with the state it shares and starts no commands.");
  }

  /** The other gateways that were seen within the last lease times. */
  async others(): Promise<readonly string[]> {
    const found = await this.#options.store.list<true>(NS);
    return found.map(({ key }) => key).filter((id) => id !== this.#options.gatewayId);
  }

  /** Rejects with the other's error, or with `gateway-unreachable` when it does not answer in time. */
  async ask<T>(gatewayId: string, method: string, params: unknown, timeoutMs = ASK_TIMEOUT_MS): Promise<T> {
    const { store, newId } = this.#options;
    const id = newId();
    let timer: NodeJS.Timeout | undefined;
    try {
      const reply = new Promise<Reply>((resolve, reject) => {
        this.#waiting.set(id, resolve);
        timer = setTimeout(
          () => reject(new ExecError("gateway-unreachable", `The gateway ${gatewayId} did not answer in time.`)),
          timeoutMs,
        );
      });
      reply.catch(() => {});
      await store.publish(topic(gatewayId), { id, from: this.#options.gatewayId, method, params } satisfies Ask);
      const { ok, value, code, message } = await reply;
      if (ok) return value as T;
      throw new ExecError((code ?? "internal") as ExecError["code"], message ?? "It failed there.");
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  async leave(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#looking);
    await this.#look;
    for (const stop of this.#unsubscribe) await stop();
    await this.#options.store.delete(NS, this.#options.gatewayId).catch(() => false);
    await this.#keeper?.stop();
  }

  async #answer(answers: Answers, { id, from, method, params }: Ask): Promise<void> {
    const answer = Object.hasOwn(answers, method) ? answers[method] : undefined;
    let reply: Reply;
    try {
      if (!answer)
        throw new ExecError("not-found", `This gateway knows no "${method}"; it may be of an older version.`);
      reply = { id, ok: true, value: await answer(params) };
    } catch (error) {
      const known = error instanceof ExecError;
      if (!known) this.#options.onTrouble(error, `answering ${method} for gateway ${from}`);
      reply = {
        id,
        ok: false,
        code: known ? error.code : "internal",
        message: known ? error.message : "It failed there.",
      };
    }
    await this.#options.store
      .publish(replyTopic(from), reply)
      .catch((error) => this.#options.onTrouble(error, `answering gateway ${from}`));
  }

  async #beSeen(): Promise<void> {
    await this.#options.store.put(NS, this.#options.gatewayId, true, { ttlMs: 2 * LEASE_MS });
  }

  #nextLook(): void {
    if (this.#stopped) return;
    this.#looking = setTimeout(() => {
      this.#look = this.#lookAround()
        .catch((error) => this.#options.onTrouble(error, "looking after the other gateways"))
        .finally(() => this.#nextLook());
    }, LEASE_MS / 2);
  }

  async #lookAround(): Promise<void> {
    const { gatewayId, clock, leftBy, onGone, goneGraceMs = GONE_GRACE_MS } = this.#options;
    await this.#beSeen();
    this.#size = 1 + (await this.others()).length;
    const left = [...(await leftBy())].filter((id) => id !== gatewayId);
    for (const id of this.#goneSince.keys()) if (!left.includes(id)) this.#goneSince.delete(id);
    for (const id of left) {
      const lease = await this.leases.acquire(`gateway:${id}`);
      if (!lease) {
        this.#goneSince.delete(id);
        continue;
      }
      try {
        const since = this.#goneSince.get(id) ?? clock.monotonic();
        this.#goneSince.set(id, since);
        if (clock.monotonic() - since >= goneGraceMs && lease.isHeld()) await onGone(id);
      } finally {
        // Never kept: a gateway that comes back must get its own at once.
        await lease.release();
      }
    }
  }
}

const topic = (gatewayId: string) => `gateway-ask:${gatewayId}`;
const replyTopic = (gatewayId: string) => `gateway-reply:${gatewayId}`;
