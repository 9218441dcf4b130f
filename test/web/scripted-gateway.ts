/**
 * The other end of the wire for the page's connection logic: a real WebSocket server that speaks the frames and lets a
 * test lose, delay and refuse things at will. The gateway itself is tested with the page in test/e2e.
 */
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { WebSocket, WebSocketServer } from "ws";
import type { Card } from "../../src/core/cards.ts";
import type { ChatEntry, ErrorBody, EventFrame, RequestFrame } from "../../src/protocol/frames.ts";
import type { Surroundings } from "../../src/web/connection.ts";

/** Long: a busy machine is no lost connection. Tests of silence ask for a shorter one. */
const TICK_MS = 15_000;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};
/** As strict as the gateway's. */
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'";

type Answer = { readonly ok: unknown } | { readonly error: ErrorBody } | "silence" | "cut";

export class ScriptedGateway {
  readonly requests: RequestFrame[] = [];
  readonly closes: { readonly code: number; readonly reason: string }[] = [];
  readonly log: ChatEntry[] = [];
  readonly said = new Map<string, string>();
  gatewayId = "gateway-1";
  ticking = true;
  token: string | undefined;
  /** Asked first; undefined means the usual answer. */
  script: (frame: RequestFrame) => Answer | undefined = () => undefined;
  private readonly http: Server;
  private readonly server: WebSocketServer;
  private readonly timer: NodeJS.Timeout;
  private readonly tickMs: number;

  private constructor(page: string | undefined, tickMs: number) {
    this.tickMs = tickMs;
    this.http = createServer(async ({ url = "/" }, response) => {
      const path = new URL(url, "http://gateway").pathname;
      const content = page && (await readFile(join(page, path === "/" ? "index.html" : path)).catch(() => undefined));
      response.writeHead(content ? 200 : 404, {
        "content-type": TYPES[path === "/" ? ".html" : extname(path)] ?? "application/octet-stream",
        "content-security-policy": CSP,
      });
      response.end(content);
    });
    this.server = new WebSocketServer({ server: this.http });
    this.server.on("connection", (socket) => this.serve(socket));
    this.timer = setInterval(() => {
      if (this.ticking) this.tell({ type: "event", event: "tick", payload: { atMs: Date.now() } });
    }, this.tickMs);
  }

  /** `page`: a folder to serve beside the WebSocket. */
  static async start({
    port = 0,
    page,
    tickMs = TICK_MS,
  }: {
    port?: number;
    page?: string;
    tickMs?: number;
  } = {}): Promise<ScriptedGateway> {
    const gateway = new ScriptedGateway(page, tickMs);
    await new Promise<void>((resolve) => gateway.http.listen(port, "127.0.0.1", resolve));
    return gateway;
  }

  get port(): number {
    return (this.http.address() as AddressInfo).port;
  }

  get sockets(): readonly WebSocket[] {
    return [...this.server.clients].filter((socket) => socket.readyState === WebSocket.OPEN);
  }

  asked(method: string): readonly RequestFrame[] {
    return this.requests.filter((frame) => frame.method === method);
  }

  tell(frame: EventFrame): void {
    for (const socket of this.sockets) socket.send(JSON.stringify(frame));
  }

  /** A new message, or a new form of the one with this `messageId`; `told` false keeps it from the clients. */
  put(card: Card, messageId = `m${this.log.length + 1}`, told = true): ChatEntry {
    const seq = this.log.length + 1;
    const order = this.log.find((entry) => entry.messageId === messageId)?.order ?? seq;
    const entry: ChatEntry = { seq, order, messageId, atMs: seq * 1000, card };
    this.log.push(entry);
    if (told) this.tell({ type: "event", event: "chat.entry", payload: { chatId: "main", entry } });
    return entry;
  }

  cut(code = 1012, reason = ""): void {
    for (const socket of this.sockets) socket.close(code, reason);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    for (const socket of this.server.clients) socket.terminate();
    this.server.close();
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }

  private serve(socket: WebSocket): void {
    socket.on("close", (code, reason) => this.closes.push({ code, reason: reason.toString() }));
    socket.on("message", (data) => {
      const frame = JSON.parse(data.toString()) as RequestFrame;
      this.requests.push(frame);
      const answer = this.script(frame) ?? this.usual(frame);
      if (answer === "cut") socket.terminate();
      else if (answer !== "silence") {
        const body = "ok" in answer ? { ok: true, payload: answer.ok } : { ok: false, error: answer.error };
        socket.send(JSON.stringify({ type: "res", id: frame.id, ...body }));
      }
    });
  }

  private usual({ method, params }: RequestFrame): Answer {
    const given = params as Record<string, unknown>;
    switch (method) {
      case "connect":
        if (given.token !== this.token) return { error: { code: "unauthorized", message: "Wrong token." } };
        return {
          ok: {
            protocol: 1,
            server: { version: "1", gatewayId: this.gatewayId, startedAtMs: 0 },
            policy: { tickMs: this.tickMs, maxFrameBytes: 1 << 20 },
          },
        };
      case "chat.open": {
        const after = (given.afterSeq as number | undefined) ?? 0;
        const newest = new Map<string, ChatEntry>();
        for (const entry of this.log) if (entry.seq > after) newest.set(entry.messageId, entry);
        const all = [...newest.values()].sort((a, b) => a.order - b.order);
        const page = after > 0 ? all : all.slice(-Number(given.limit));
        return { ok: { entries: page, seq: this.log.length, hasOlder: page.length < all.length } };
      }
      case "chat.older": {
        const before = this.log.filter((entry) => entry.order < Number(given.beforeOrder));
        const page = before.slice(-Number(given.limit));
        return { ok: { entries: page, hasOlder: page.length < before.length } };
      }
      case "chat.complete":
        return { ok: { items: [] } };
      case "run.log":
        return { ok: { text: "", offset: 0, lines: 0, totalLines: 0, lost: false, running: true } };
      case "chat.send":
        this.say(String(given.clientId), String(given.text));
        return { ok: { accepted: true } };
      default:
        return { ok: { accepted: true } };
    }
  }

  private say(clientId: string, text: string): void {
    if (this.said.has(clientId)) return;
    this.said.set(clientId, text);
    const actor = { kind: "person", channel: "web", accountId: "default", id: "operator" } as const;
    this.put({ kind: "said", actor, text }, `said-${clientId}`);
  }
}

export function surroundingsOf(port: () => number): Surroundings {
  return {
    openSocket: (listener) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port()}/ws`);
      socket.onopen = () => listener.open();
      socket.onmessage = (event) => listener.message(event.data);
      // Refused connections report an error before their close.
      socket.onerror = () => {};
      socket.onclose = (event) => listener.close(event.code, event.reason);
      return socket;
    },
    now: () => Date.now(),
    later: (ms, action) => {
      const timer = setTimeout(action, ms);
      return () => clearTimeout(timer);
    },
    random: () => 0.5,
  };
}
