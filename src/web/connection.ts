/**
 * One WebSocket to the gateway that comes back by itself. Knows frames, not chats: asks and gets answers, hands on
 * events, says where it stands. Runs in a browser and, for its tests, in Node.
 */
import type {
  CLOSE_CODES,
  EventFrame,
  MethodName,
  MethodParams,
  MethodResults,
  ServerFrame,
} from "../protocol/frames.ts";
import { RequestError } from "./request-error.ts";

/** What a socket tells. `close` comes once, also when opening failed. */
export interface SocketListener {
  open(): void;
  message(data: unknown): void;
  close(code: number, reason: string): void;
}

export interface Socket {
  send(text: string): void;
  close(code: number, reason: string): void;
}

export interface Surroundings {
  openSocket(listener: SocketListener): Socket;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls once after `ms`; gives the way to call it off. */
  later(ms: number, action: () => void): () => void;
  /** In [0, 1). */
  random(): number;
}

export interface ConnectionLimits {
  /** The first wait after a loss; each further one is twice as long, up to `maxRetryMs`. */
  readonly firstRetryMs: number;
  readonly maxRetryMs: number;
  /** A socket that neither opens nor fails is given up after this long. */
  readonly openTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** Used until the gateway has told its own. */
  readonly tickMs: number;
}

const DEFAULT_LIMITS: ConnectionLimits = {
  firstRetryMs: 500,
  maxRetryMs: 15_000,
  openTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  tickMs: 15_000,
};

// Values of protocol/frames.ts. Only its types are imported, to keep zod out of the page; the types hold these to it.
const PROTOCOL: MethodParams["connect"]["protocol"] = 1;
const CLOSE_TICKS_MISSED: (typeof CLOSE_CODES)["missedTicks"] = 4000;
const CLOSE_UNAUTHORIZED: (typeof CLOSE_CODES)["unauthorized"] = 4001;
const CLOSE_PROTOCOL: (typeof CLOSE_CODES)["protocol"] = 4002;

const MISSED_TICKS = 2;

export type ConnectionState =
  | { readonly kind: "connecting" }
  | { readonly kind: "connected" }
  /** `why`: in the gateway's words, when it said something. */
  | { readonly kind: "waiting"; readonly retryAtMs: number; readonly why?: string }
  /** The gateway wants a token. Nothing is tried until `signIn`. */
  | { readonly kind: "signed-out"; readonly tokenGiven: boolean; readonly message: string }
  /** The gateway does not speak with this page; only a new page or a new gateway helps. */
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "stopped" };

export interface ConnectionOptions {
  readonly client: MethodParams["connect"]["client"];
  /** The language that the page is in: answers come in the same one. */
  readonly locale: string;
  readonly token: string | undefined;
  readonly surroundings: Surroundings;
  readonly limits?: Partial<ConnectionLimits>;
  onState(state: ConnectionState): void;
  /** After each successful `connect`, the first one included. */
  onReady(welcome: MethodResults["connect"]): void;
  onEvent(event: EventFrame): void;
}

interface Waiter {
  resolve(payload: unknown): void;
  reject(error: RequestError): void;
  readonly cancelTimeout: () => void;
}

export class Connection {
  private readonly options: ConnectionOptions;
  private readonly limits: ConnectionLimits;
  private token: string | undefined;
  private socket: Socket | undefined;
  private generation = 0;
  private current: ConnectionState = { kind: "stopped" };
  private readonly waiters = new Map<string, Waiter>();
  private nextId = 1;
  private losses = 0;
  private retryAfterMs = 0;
  private shutdownReason: string | undefined;
  private tickMs: number;
  private lastHeardMs = 0;
  private cancelRetry = () => {};
  private cancelWatch = () => {};
  private cancelOpen = () => {};

  constructor(options: ConnectionOptions) {
    this.options = options;
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.token = options.token;
    this.tickMs = this.limits.tickMs;
  }

  get state(): ConnectionState {
    return this.current;
  }

  start(): void {
    if (this.current.kind === "stopped") this.open();
  }

  stop(): void {
    this.drop(1000, "the page is closing");
    this.move({ kind: "stopped" });
  }

  /** Tries at once instead of at the announced time. */
  retryNow(): void {
    if (this.current.kind === "waiting") this.open();
  }

  /** A new token; also the way out of `signed-out`. */
  signIn(token: string): void {
    this.token = token;
    this.drop(1000, "signing in again");
    this.losses = 0;
    this.open();
  }

  /** After a sleep, timers are late: finds out now whether the other side is still there. */
  wake(): void {
    if (this.current.kind === "waiting") this.open();
    else if (this.current.kind === "connected" && this.silenceMs() > MISSED_TICKS * this.tickMs) this.giveUpSilence();
  }

  /** Rejects with `RequestError`; `connection-lost` and `no-answer` mean that it may or may not have been done. */
  request<M extends MethodName>(method: M, params: MethodParams[M]): Promise<MethodResults[M]> {
    if (this.current.kind !== "connected") {
      return Promise.reject(new RequestError({ code: "connection-lost", message: "There is no connection." }));
    }
    return this.ask(method, params);
  }

  private ask<M extends MethodName>(method: M, params: MethodParams[M]): Promise<MethodResults[M]> {
    const socket = this.socket;
    if (socket === undefined) {
      return Promise.reject(new RequestError({ code: "connection-lost", message: "There is no connection." }));
    }
    const id = String(this.nextId++);
    return new Promise((resolve, reject) => {
      const cancelTimeout = this.options.surroundings.later(this.limits.requestTimeoutMs, () => {
        this.waiters.delete(id);
        reject(new RequestError({ code: "no-answer", message: "The gateway did not answer in time." }));
      });
      // The gateway answers a method with that method's result; frames.ts is the contract of both sides.
      this.waiters.set(id, { resolve: resolve as (payload: unknown) => void, reject, cancelTimeout });
      socket.send(JSON.stringify({ type: "req", id, method, params }));
    });
  }

  private open(): void {
    this.cancelRetry();
    this.move({ kind: "connecting" });
    // A socket that was left behind may still speak; only the current one is listened to.
    const generation = ++this.generation;
    const current = () => generation === this.generation;
    this.cancelOpen = this.options.surroundings.later(this.limits.openTimeoutMs, () => {
      this.drop(1000, "no answer");
      this.lost();
    });
    this.socket = this.options.surroundings.openSocket({
      open: () => {
        if (current()) this.handshake();
      },
      message: (data) => {
        if (current()) this.receive(data);
      },
      close: (code, reason) => {
        if (current()) this.closed(code, reason);
      },
    });
  }

  private closed(code: number, reason: string): void {
    this.forget("The connection was lost.");
    if (code === CLOSE_UNAUTHORIZED) this.signedOut(reason);
    else if (code === CLOSE_PROTOCOL) this.move({ kind: "refused", message: reason });
    else this.lost(this.shutdownReason ?? (reason === "" ? undefined : reason));
  }

  private handshake(): void {
    const token = this.token;
    this.ask("connect", {
      protocol: PROTOCOL,
      client: this.options.client,
      locale: this.options.locale,
      ...(token === undefined ? {} : { token }),
    }).then(
      (welcome) => this.welcomed(welcome),
      (error: RequestError) => this.turnedAway(error),
    );
  }

  private welcomed(welcome: MethodResults["connect"]): void {
    this.cancelOpen();
    this.losses = 0;
    this.shutdownReason = undefined;
    this.tickMs = welcome.policy.tickMs;
    this.heard();
    this.move({ kind: "connected" });
    this.options.onReady(welcome);
  }

  private turnedAway(error: RequestError): void {
    // The socket went first: its own handler has already said so.
    if (error.code === "connection-lost") return;
    this.drop(1000, "turned away");
    switch (error.code) {
      case "unauthorized":
        this.signedOut(error.message);
        return;
      case "invalid-argument":
        this.move({ kind: "refused", message: error.message });
        return;
      default:
        this.retryAfterMs = error.retryAfterMs ?? 0;
        this.lost(error.message);
    }
  }

  private signedOut(message: string): void {
    this.move({ kind: "signed-out", tokenGiven: this.token !== undefined, message });
  }

  private receive(data: unknown): void {
    this.heard();
    if (typeof data !== "string") return;
    const frame = JSON.parse(data) as ServerFrame;
    if (frame.type === "res") {
      const waiter = this.waiters.get(frame.id);
      if (waiter === undefined) return;
      this.waiters.delete(frame.id);
      waiter.cancelTimeout();
      if (frame.ok) waiter.resolve(frame.payload);
      else waiter.reject(new RequestError(frame.error));
      return;
    }
    if (frame.event === "shutdown") this.shutdownReason = frame.payload.reason;
    this.options.onEvent(frame);
  }

  private heard(): void {
    this.lastHeardMs = this.options.surroundings.now();
    this.cancelWatch();
    this.cancelWatch = this.options.surroundings.later(MISSED_TICKS * this.tickMs, () => this.giveUpSilence());
  }

  private silenceMs(): number {
    return this.options.surroundings.now() - this.lastHeardMs;
  }

  private giveUpSilence(): void {
    if (this.current.kind !== "connected") return;
    // A dead socket may take minutes to report its close: it is left behind, not waited for.
    this.drop(CLOSE_TICKS_MISSED, "ticks missed");
    this.lost();
  }

  private lost(why?: string): void {
    this.losses++;
    const ceiling = Math.min(this.limits.maxRetryMs, this.limits.firstRetryMs * 2 ** (this.losses - 1));
    // Half fixed, half random: browsers that lost the same gateway do not come back in one wave.
    const jittered = ceiling / 2 + (this.options.surroundings.random() * ceiling) / 2;
    const waitMs = Math.max(jittered, this.retryAfterMs);
    this.retryAfterMs = 0;
    this.cancelRetry = this.options.surroundings.later(waitMs, () => this.open());
    this.move({
      kind: "waiting",
      retryAtMs: this.options.surroundings.now() + waitMs,
      ...(why === undefined ? {} : { why }),
    });
  }

  private drop(code: number, reason: string): void {
    this.cancelRetry();
    const socket = this.socket;
    this.forget("The connection was closed.");
    socket?.close(code, reason);
  }

  private forget(message: string): void {
    this.cancelWatch();
    this.cancelOpen();
    this.generation++;
    this.socket = undefined;
    const waiting = [...this.waiters.values()];
    this.waiters.clear();
    for (const waiter of waiting) {
      waiter.cancelTimeout();
      waiter.reject(new RequestError({ code: "connection-lost", message }));
    }
  }

  private move(state: ConnectionState): void {
    this.current = state;
    this.options.onState(state);
  }
}
