import { type RawData, WebSocket } from "ws";
import type { EventFrame, MethodName, MethodParams, ResponseFrame, ServerFrame } from "../../src/protocol/frames.ts";
import { type TestServer, TOKEN } from "./test-server.ts";

/** A bare protocol client that keeps every frame it gets, in order. */
export class WsClient {
  readonly socket: WebSocket;
  readonly frames: ServerFrame[] = [];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  #next = 0;
  #waiting: (() => void)[] = [];

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data: RawData) => {
      this.frames.push(JSON.parse(String(data)) as ServerFrame);
      this.#tell();
    });
    this.closed = new Promise((resolve) => {
      socket.on("close", (code, reason) => {
        resolve({ code, reason: String(reason) });
        this.#tell();
      });
    });
    socket.on("error", () => undefined);
  }

  static async open({ server }: TestServer, headers: Record<string, string> = {}, path = "/ws"): Promise<WsClient> {
    const socket = new WebSocket(`ws://${server.host}:${server.port}${path}`, { headers });
    const client = new WsClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    return client;
  }

  static async connected(server: TestServer, kind: "web" | "terminal" | "cli" = "web"): Promise<WsClient> {
    const client = await WsClient.open(server);
    const answer = await client.ask("connect", {
      protocol: 1,
      client: { id: "test", kind, version: "0" },
      token: TOKEN,
    });
    if (!answer.ok) throw new Error(answer.error.message);
    return client;
  }

  send(frame: unknown): void {
    this.socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  request(method: string, params?: unknown): string {
    this.#next += 1;
    const id = String(this.#next);
    this.send({ type: "req", id, method, params });
    return id;
  }

  ask<M extends MethodName>(method: M, params: MethodParams[M]): Promise<ResponseFrame>;
  ask(method: string, params?: unknown): Promise<ResponseFrame>;
  async ask(method: string, params?: unknown): Promise<ResponseFrame> {
    return this.answer(this.request(method, params));
  }

  async answer(id: string): Promise<ResponseFrame> {
    await this.until(() => this.responses(id).length > 0);
    return this.responses(id)[0] as ResponseFrame;
  }

  responses(id: string): ResponseFrame[] {
    return this.frames.filter((frame): frame is ResponseFrame => frame.type === "res" && frame.id === id);
  }

  events<E extends EventFrame["event"]>(event: E): Extract<EventFrame, { event: E }>[] {
    return this.frames.filter(
      (frame): frame is Extract<EventFrame, { event: E }> => frame.type === "event" && frame.event === event,
    );
  }

  /** Resolves when `condition` holds; looked at after each frame and when the socket closes. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error("the socket closed before");
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #tell(): void {
    for (const tell of this.#waiting.splice(0)) tell();
  }
}
