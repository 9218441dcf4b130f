/**
 * A connection from a terminal to a running gateway: finds it, speaks the protocol, comes back by itself. Tokens come
 * from the environment, the configuration or a private file, never from the command line, where others can read them.
 */
import { EventEmitter } from "node:events";
import { type RawData, WebSocket } from "ws";
import { systemClock } from "../core/clock.ts";
import { loadConfig } from "../core/config/load.ts";
import { type ErrorCode, ExecError } from "../core/errors.ts";
import { findRunningGateway } from "../gateway/state-lock.ts";
import { findGatewayToken, readTokenFile } from "../gateway/token.ts";
import {
  CLOSE_CODES,
  type EventFrame,
  type MethodName,
  type MethodParams,
  type MethodResults,
  PROTOCOL_VERSION,
  type ServerFrame,
  TICK_MS,
} from "../protocol/frames.ts";
import type { CliIo } from "./io.ts";
import { version } from "./version.ts";

const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 10_000;
/** Share of a wait that is left to chance, so that clients of a restarted gateway do not come all at once. */
const JITTER = 0.3;
const CONNECT_TIMEOUT_MS = 10_000;
export const URL_ENV = "OPENCLAW_GATEWAY_URL";

export interface GatewayAddress {
  readonly url: string;
  readonly token: string | undefined;
}

export interface AddressFlags {
  readonly url?: string;
  readonly tokenFile?: string;
}

/** Rejects with `gateway-unreachable` when no address is given and no gateway runs on the state directory. */
export async function findGateway(io: CliIo, flags: AddressFlags = {}): Promise<GatewayAddress> {
  const loaded = await loadConfig({ env: io.env, workingDir: io.cwd });
  const url = flags.url ?? io.env[URL_ENV] ?? findRunningGateway(loaded.stateDir, systemClock.now())?.url;
  if (url === undefined) {
    throw new ExecError(
      "gateway-unreachable",
      `No gateway is running on ${loaded.stateDir}. Start it with: openclaw-exec gateway`,
    );
  }
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new ExecError("invalid-argument", `${JSON.stringify(url)} is not an address like http://127.0.0.1:18789.`);
  }
  return { url: url.replace(/\/+$/, ""), token: await findToken(io, flags, loaded) };
}

async function findToken(
  io: CliIo,
  flags: AddressFlags,
  loaded: Awaited<ReturnType<typeof loadConfig>>,
): Promise<string | undefined> {
  if (flags.tokenFile !== undefined) {
    const token = await readTokenFile(flags.tokenFile);
    if (token === undefined) throw new ExecError("invalid-argument", `There is no file ${flags.tokenFile}.`);
    return token;
  }
  const configured = loaded.ok ? loaded.secrets.gatewayToken : undefined;
  return (await findGatewayToken({ stateDir: loaded.stateDir, configured, env: io.env }))?.token;
}

export interface ClientOptions {
  readonly address: GatewayAddress;
  readonly kind: "terminal" | "cli";
  /** Of the person who reads the answers. Absent: a program. */
  readonly locale?: string;
  /** Come back after a lost connection; otherwise it ends the client. */
  readonly reconnect: boolean;
}

interface ClientEvents {
  event: [EventFrame];
  /** Connected, `again` when it is not the first time. */
  up: [{ readonly again: boolean }];
  down: [{ readonly retryInMs: number }];
  /** For good: a wrong token, or no reconnect wanted. */
  end: [Error];
}

export class GatewayClient extends EventEmitter<ClientEvents> {
  readonly #options: ClientOptions;
  readonly #waiting = new Map<string, { resolve(payload: unknown): void; reject(error: Error): void }>();
  #socket: WebSocket | undefined;
  #connected = false;
  #everConnected = false;
  #stopped = false;
  #attempt = 0;
  #nextId = 0;
  #tickMs = TICK_MS;
  #silence: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: ClientOptions) {
    super();
    this.#options = options;
  }

  /** Resolves once connected; rejects when that can not succeed (or, without `reconnect`, did not). */
  start(): Promise<void> {
    const up = this.#nextUp();
    this.#open();
    return up;
  }

  /** Rejects with the gateway's error, or with `gateway-unreachable` when the connection is or gets lost. */
  request<M extends MethodName>(method: M, params: MethodParams[M]): Promise<MethodResults[M]> {
    if (!this.#connected) return Promise.reject(lost());
    return this.#send(method, params) as Promise<MethodResults[M]>;
  }

  /** Resolves at once when connected, otherwise at the next connection; rejects when there will be none. */
  connected(): Promise<void> {
    if (this.#connected) return Promise.resolve();
    return this.#stopped ? Promise.reject(lost()) : this.#nextUp();
  }

  #nextUp(): Promise<void> {
    return new Promise((resolve, reject) => {
      const up = () => {
        this.off("end", end);
        resolve();
      };
      const end = (error: Error) => {
        this.off("up", up);
        reject(error);
      };
      this.once("up", up);
      this.once("end", end);
    });
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#retry);
    clearTimeout(this.#silence);
    this.#socket?.close(1000);
    this.#failAll(lost());
  }

  #open(): void {
    const { url } = this.#options.address;
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}/ws`, { handshakeTimeout: CONNECT_TIMEOUT_MS });
    this.#socket = socket;
    let failure: Error | undefined;
    socket.on("open", () => {
      this.#hello().then(
        () => {
          const again = this.#everConnected;
          this.#connected = true;
          this.#everConnected = true;
          this.#attempt = 0;
          this.emit("up", { again });
        },
        (error: Error) => {
          failure = error;
          socket.close();
        },
      );
    });
    socket.on("message", (data) => this.#message(data));
    socket.on("error", (error) => {
      failure ??= unreachable(url, error);
    });
    socket.on("close", (code) => this.#closed(code, failure));
  }

  async #hello(): Promise<void> {
    const { address, kind, locale } = this.#options;
    const answer = (await this.#send("connect", {
      protocol: PROTOCOL_VERSION,
      client: { id: `${kind}-${process.pid}`, kind, version: version() },
      ...(locale === undefined ? {} : { locale }),
      ...(address.token === undefined ? {} : { token: address.token }),
    })) as MethodResults["connect"];
    this.#tickMs = answer.policy.tickMs;
  }

  #send(method: string, params: unknown): Promise<unknown> {
    this.#nextId += 1;
    const id = String(this.#nextId);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket?.send(JSON.stringify({ type: "req", id, method, params }));
    });
  }

  #message(data: RawData): void {
    this.#heard();
    const frame = JSON.parse(String(data)) as ServerFrame;
    if (frame.type === "event") {
      this.emit("event", frame);
      return;
    }
    const waiting = this.#waiting.get(frame.id);
    this.#waiting.delete(frame.id);
    if (frame.ok) waiting?.resolve(frame.payload);
    else {
      const { code, message, details, retryAfterMs } = frame.error;
      waiting?.reject(
        new ExecError(code as ErrorCode, message, {
          ...details,
          ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        }),
      );
    }
  }

  /** Two ticks without a word: the gateway or the way to it is gone, whatever TCP says. */
  #heard(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#socket?.terminate(), this.#tickMs * 2.5).unref();
  }

  #closed(code: number, failure: Error | undefined): void {
    clearTimeout(this.#silence);
    this.#connected = false;
    this.#failAll(failure ?? lost());
    if (this.#stopped) return;
    const hopeless = code === CLOSE_CODES.unauthorized || code === CLOSE_CODES.protocol;
    if (hopeless || !this.#options.reconnect || !this.#everConnected) {
      this.#stopped = true;
      this.emit("end", failure ?? lost());
      return;
    }
    const wait = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#attempt);
    const retryInMs = Math.round(wait * (1 - JITTER * Math.random()));
    this.#attempt += 1;
    this.emit("down", { retryInMs });
    this.#retry = setTimeout(() => this.#open(), retryInMs);
  }

  #failAll(error: Error): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }
}

function lost(): ExecError {
  return new ExecError("gateway-unreachable", "The connection to the gateway is lost.");
}

function unreachable(url: string, error: Error): ExecError {
  return new ExecError(
    "gateway-unreachable",
    `No gateway answers at ${url} (${(error as NodeJS.ErrnoException).code ?? error.message}). ` +
      "Start it with: openclaw-exec gateway",
  );
}
