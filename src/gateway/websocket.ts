/** The upgrade on `/ws`: who may open a socket at all, and the set of open ones. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { WebSocketServer } from "ws";
import { type ErrorCode, ExecError } from "../core/errors.ts";
import { CLOSE_CODES, MAX_FRAME_BYTES, NODE_PATH } from "../protocol/frames.ts";
import { Connection, type ConnectionParts } from "./connection.ts";
import { httpStatus } from "./error-body.ts";
import { checkHost, checkOrigin, peerOf } from "./peer.ts";

const WEBSOCKET_PATH = "/ws";
const RATE_WINDOW_SECONDS = 10;

export class WebSocketClients {
  readonly #parts: ConnectionParts;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MAX_FRAME_BYTES, perMessageDeflate: false });
  readonly #open = new Set<Connection>();
  readonly #ticker: NodeJS.Timeout;

  constructor(parts: Omit<ConnectionParts, "rate">) {
    const { limits, deps } = parts;
    const rate = new RateLimiterMemory({ points: limits.requestsPer10s, duration: RATE_WINDOW_SECONDS });
    this.#parts = { ...parts, rate };
    this.#ticker = setInterval(() => {
      for (const connection of this.#open) connection.tick(deps.clock.now());
    }, limits.tickMs);
  }

  get size(): number {
    return this.#open.size;
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { deps, limits, draining } = this.#parts;
    let forNodes = false;
    socket.on("error", (error) => deps.logger.debug({ err: error }, "socket error during upgrade"));
    try {
      const { pathname } = new URL(request.url ?? "", "http://gateway");
      forNodes = pathname === NODE_PATH;
      if (pathname !== WEBSOCKET_PATH && !forNodes) {
        throw new ExecError("not-found", `WebSockets are served at ${WEBSOCKET_PATH}.`);
      }
      checkHost(request.headers.host, deps.auth);
      checkOrigin(request.headers, deps.auth);
      if (draining()) throw new ExecError("draining", "The gateway is stopping. Reconnect soon.");
      if ((forNodes ? deps.nodes.sockets : this.#open.size) >= limits.maxConnections) {
        throw new ExecError("rate-limited", `The gateway serves at most ${limits.maxConnections} clients at a time.`);
      }
    } catch (error) {
      this.#refuse(request, socket, error);
      return;
    }
    const peer = peerOf(request);
    this.#server.handleUpgrade(request, socket, head, (client) => {
      if (forNodes) {
        deps.nodes.accept(client, peer, this.#parts);
        return;
      }
      const connection = new Connection(client, peer, this.#parts);
      this.#open.add(connection);
      client.once("close", () => this.#open.delete(connection));
    });
  }

  #refuse(request: IncomingMessage, socket: Duplex, error: unknown): void {
    const code: ErrorCode = error instanceof ExecError ? error.code : "invalid-argument";
    const message = error instanceof ExecError ? error.message : "The request line is not understood.";
    const status = httpStatus(code);
    void this.#parts.refusals.note({ surface: "websocket", reason: code, peer: peerOf(request) });
    const body = JSON.stringify({ ok: false, error: { code, message } });
    socket.end(
      `HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  }

  shutdown(reason: string): void {
    for (const connection of this.#open) connection.shutdown(reason);
  }

  /** Resolves when every socket is gone. */
  async close(reason: string): Promise<void> {
    clearInterval(this.#ticker);
    const gone = [...this.#open].map((connection) => {
      connection.close(CLOSE_CODES.restart, reason);
      return connection.gone;
    });
    await Promise.all(gone);
    this.#server.close();
  }
}
