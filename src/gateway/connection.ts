/**
 * One WebSocket client: `connect` first, then requests that are each answered exactly once, and events. A client
 * that reads too slowly is closed instead of being buffered for without end; it comes back and asks for what came
 * after its last `seq`.
 */
import type { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import type { RawData, WebSocket } from "ws";
import { type ErrorCode, ExecError } from "../core/errors.ts";
import type { Actor } from "../core/route.ts";
import { languageOf } from "../core/words/languages.ts";
import {
  CLOSE_CODES,
  type ErrorBody,
  MAX_FRAME_BYTES,
  MAX_FRAME_BYTES_BEFORE_AUTH,
  type MethodName,
  methods,
  PROTOCOL_VERSION,
  type RequestFrame,
  requestFrame,
  type ServerFrame,
} from "../protocol/frames.ts";
import type { TokenGate } from "./auth.ts";
import { errorBody, internalError, zodSentence } from "./error-body.ts";
import { parseJson } from "./json-text.ts";
import type { ServerLimits } from "./limits.ts";
import { answer, isMethod } from "./methods.ts";
import type { Peer } from "./peer.ts";
import type { Refusals } from "./refusals.ts";
import type { ServerDeps } from "./server-deps.ts";
import { Watches } from "./watches.ts";
import type { Work } from "./work.ts";

/** A flood this many times over the limit is no mistake of a client any more. */
const FLOOD_FACTOR = 5;
/** How long a client may take to answer a close frame. */
const CLOSE_GRACE_MS = 2_000;
/** Bytes of a close reason (RFC 6455 5.5). */
const MAX_REASON_BYTES = 123;

export interface ConnectionParts {
  readonly deps: ServerDeps;
  readonly limits: ServerLimits;
  readonly gate: TokenGate;
  readonly work: Work;
  readonly rate: RateLimiterMemory;
  readonly refusals: Refusals;
  readonly draining: () => boolean;
}

type ClientKind = "web" | "terminal" | "cli";

export class Connection {
  readonly id: string;
  /** Settles when the socket is gone. */
  readonly gone: Promise<void>;
  readonly #socket: WebSocket;
  readonly #peer: Peer;
  readonly #parts: ConnectionParts;
  readonly #watches: Watches;
  readonly #inFlight = new Set<string>();
  #client: { readonly kind: ClientKind; readonly actor: Actor } | undefined;
  #connecting = false;
  #closing = false;
  #heardSinceTick = true;
  #deadline: NodeJS.Timeout | undefined;

  constructor(socket: WebSocket, peer: Peer, parts: ConnectionParts) {
    this.id = parts.deps.newId();
    this.#socket = socket;
    this.#peer = peer;
    this.#parts = parts;
    this.#watches = new Watches(parts.deps.webChats, parts.limits.maxWatchedChats, {
      entry: (chatId, entry) => this.#send({ type: "event", event: "chat.entry", payload: { chatId, entry } }),
      live: (chatId, messageId, card) => {
        if (socket.bufferedAmount > parts.limits.maxBufferedForLiveBytes) return;
        this.#send({ type: "event", event: "chat.live", payload: { chatId, messageId, card } });
      },
    });
    this.#deadline = setTimeout(() => {
      this.close(CLOSE_CODES.connectTimeout, "No connect frame came in time.");
    }, parts.limits.connectDeadlineMs);
    socket.on("message", (data, isBinary) => this.#message(data, isBinary));
    socket.on("pong", () => {
      this.#heardSinceTick = true;
    });
    // ws closes the socket itself (1009 for a frame that is too large); there is nothing to add.
    socket.on("error", (error) => parts.deps.logger.debug({ err: error, connection: this.id }, "websocket error"));
    this.gone = new Promise((resolve) => {
      socket.once("close", () => {
        this.#closed();
        resolve();
      });
    });
  }

  /** Called every `tickMs`: a peer that answered nothing since the last one is gone, whatever TCP says. */
  tick(atMs: number): void {
    if (!this.#heardSinceTick) {
      this.#socket.terminate();
      return;
    }
    this.#heardSinceTick = false;
    this.#socket.ping();
    if (this.#client) this.#send({ type: "event", event: "tick", payload: { atMs } });
  }

  shutdown(reason: string): void {
    if (this.#client) this.#send({ type: "event", event: "shutdown", payload: { reason } });
  }

  close(code: number, reason: string): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#socket.close(code, shortReason(reason));
    const timer = setTimeout(() => this.#socket.terminate(), CLOSE_GRACE_MS);
    this.#socket.once("close", () => clearTimeout(timer));
  }

  #closed(): void {
    this.#closing = true;
    clearTimeout(this.#deadline);
    if (this.#client) this.#parts.deps.metrics.ws.clients.dec({ kind: this.#client.kind });
    void this.#watches.stop();
    void this.#parts.rate.delete(this.id);
  }

  #send(frame: ServerFrame): void {
    if (this.#closing) return;
    if (this.#socket.bufferedAmount > this.#parts.limits.maxBufferedBytes) {
      this.#parts.deps.metrics.ws.closedSlow.inc();
      this.close(CLOSE_CODES.tooSlow, "You read too slowly. Reconnect and ask for what came after your last seq.");
      return;
    }
    this.#socket.send(JSON.stringify(frame));
  }

  #fail(id: string, error: ErrorBody): void {
    this.#send({ type: "res", id, ok: false, error });
  }

  #message(data: RawData, isBinary: boolean): void {
    this.#heardSinceTick = true;
    if (this.#closing) return;
    try {
      const frame = readFrame(data as Buffer, isBinary, this.#client !== undefined);
      if (this.#client) void this.#request(frame, this.#client.actor);
      else void this.#connect(frame);
    } catch (error) {
      // Without an id there is nobody to answer: only closing tells the client.
      this.close(CLOSE_CODES.protocol, error instanceof Error ? error.message : "The frame is not understood.");
    }
  }

  async #connect(frame: RequestFrame): Promise<void> {
    const { deps, gate, limits, draining } = this.#parts;
    if (this.#connecting) return this.close(CLOSE_CODES.protocol, "Wait for the answer to connect.");
    this.#connecting = true;
    try {
      if (frame.method !== "connect") throw new ExecError("unauthorized", "The first frame must be connect.");
      const { client, token, locale } = methods.connect.parse(frame.params);
      await gate.check(token, this.#peer);
      if (draining()) throw new ExecError("draining", "The gateway is stopping. Reconnect soon.");
      if (this.#closing) return;
      clearTimeout(this.#deadline);
      this.#client = { kind: client.kind, actor: actorFor(client.kind, locale) };
      deps.metrics.ws.clients.inc({ kind: client.kind });
      deps.logger.debug({ connection: this.id, client, address: this.#peer.address }, "client connected");
      this.#send({
        type: "res",
        id: frame.id,
        ok: true,
        payload: {
          protocol: PROTOCOL_VERSION,
          server: { version: deps.version, gatewayId: deps.gatewayId, startedAtMs: deps.startedAtMs },
          policy: { tickMs: limits.tickMs, maxFrameBytes: MAX_FRAME_BYTES },
        },
      });
    } catch (error) {
      const body = this.#body(error, "connect");
      this.#fail(frame.id, body);
      await this.#parts.refusals.note({
        surface: "websocket",
        reason: body.code as ErrorCode,
        peer: this.#peer,
      });
      this.close(closeCodeFor(body.code), body.message);
    }
  }

  async #request(frame: RequestFrame, actor: Actor): Promise<void> {
    const { id, method } = frame;
    const { limits, rate, draining, work } = this.#parts;
    if (this.#inFlight.has(id)) {
      return this.close(CLOSE_CODES.protocol, `Request id ${id} is still at work; every request needs its own.`);
    }
    this.#inFlight.add(id);
    try {
      await this.#withinRate(rate, limits);
      if (this.#inFlight.size > limits.maxInFlight) {
        throw new ExecError("rate-limited", `At most ${limits.maxInFlight} requests at a time.`, {
          retryAfterMs: 1000,
        });
      }
      if (method === "connect") throw new ExecError("invalid-argument", "This connection is connected already.");
      if (!isMethod(method)) throw new ExecError("not-found", unknownMethod(method));
      if (draining())
        throw new ExecError("draining", "The gateway is stopping and starts nothing new. Try again soon.");
      await work.run(async () => {
        const context = { deps: this.#parts.deps, actor, watches: this.#watches };
        const { payload, sent } = await answer(method, frame.params, context);
        this.#send({ type: "res", id, ok: true, payload });
        sent?.();
      });
      this.#count(method, "ok");
    } catch (error) {
      const body = this.#body(error, method);
      this.#fail(id, body);
      this.#count(isMethod(method) ? method : "unknown", body.code);
    } finally {
      this.#inFlight.delete(id);
    }
  }

  async #withinRate(rate: RateLimiterMemory, limits: ServerLimits): Promise<void> {
    try {
      await rate.consume(this.id);
    } catch (reason) {
      const { msBeforeNext, consumedPoints } = reason as RateLimiterRes;
      if (consumedPoints > limits.requestsPer10s * FLOOD_FACTOR) {
        this.close(CLOSE_CODES.rateLimited, "Far too many requests.");
      }
      throw new ExecError("rate-limited", `At most ${limits.requestsPer10s} requests in 10 s.`, {
        retryAfterMs: msBeforeNext,
      });
    }
  }

  #count(method: string, outcome: string): void {
    this.#parts.deps.metrics.ws.requests.inc({ method, outcome });
  }

  #body(error: unknown, method: string): ErrorBody {
    const body = errorBody(error, languageOf(this.#client?.actor.locale));
    if (body) return body;
    const reference = this.#parts.deps.newId();
    this.#parts.deps.logger.error({ err: error, reference, method }, "request failed");
    return internalError(reference);
  }
}

function readFrame(bytes: Buffer, isBinary: boolean, connected: boolean): RequestFrame {
  if (isBinary) throw new ExecError("invalid-argument", "Frames are JSON text.");
  if (!connected && bytes.length > MAX_FRAME_BYTES_BEFORE_AUTH) {
    throw new ExecError("payload-too-large", `The first frame may have ${MAX_FRAME_BYTES_BEFORE_AUTH} bytes.`);
  }
  const parsed = requestFrame.safeParse(parseJson(bytes.toString("utf8"), "The frame"));
  if (!parsed.success) throw new ExecError("invalid-argument", zodSentence(parsed.error));
  return parsed.data;
}

function actorFor(kind: ClientKind, locale: string | undefined): Actor {
  return {
    kind: "person",
    channel: kind === "web" ? "web" : "cli",
    accountId: "default",
    id: "operator",
    ...(locale === undefined ? {} : { locale }),
  };
}

function closeCodeFor(code: string): number {
  switch (code) {
    case "unauthorized":
      return CLOSE_CODES.unauthorized;
    case "rate-limited":
      return CLOSE_CODES.rateLimited;
    case "draining":
      return CLOSE_CODES.restart;
    default:
      return CLOSE_CODES.protocol;
  }
}

function unknownMethod(method: string): string {
  const names = (Object.keys(methods) as MethodName[]).filter((name) => name !== "connect");
  return `There is no method ${JSON.stringify(method)}. Methods: ${names.join(", ")}.`;
}

function shortReason(reason: string): string {
  const bytes = Buffer.from(reason);
  if (bytes.length <= MAX_REASON_BYTES) return reason;
  // A character cut in two would make the frame invalid: leave its bytes out.
  return new TextDecoder().decode(bytes.subarray(0, MAX_REASON_BYTES), { stream: true });
}
