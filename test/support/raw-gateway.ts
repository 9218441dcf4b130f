/** A gateway that asks a node whatever a test wants it to: for what a hostile, or a broken one, would ask. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { eventually } from "./state.ts";

type Frame = Readonly<Record<string, unknown>> & { readonly payload: Record<string, unknown> };
type Answer =
  | { readonly ok: true; readonly payload: Record<string, unknown> }
  | {
      readonly ok: false;
      readonly error: { readonly code: string; readonly message: string; readonly details?: Record<string, unknown> };
    };

export class RawGateway {
  readonly url: string;
  readonly frames: Frame[] = [];
  readonly id: string;
  connects = 0;
  readonly #server: WebSocketServer;
  #socket: WebSocket | undefined;
  #next = 0;

  private constructor(server: WebSocketServer, id: string) {
    this.#server = server;
    this.id = id;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("connection", (socket) => this.#greet(socket));
  }

  static async start(id = "gw-raw"): Promise<RawGateway> {
    const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
    await once(server, "listening");
    return new RawGateway(server, id);
  }

  /** A question and its answer. */
  async invoke(command: string, params: object, id = `q${++this.#next}`): Promise<Answer> {
    this.event("node.invoke.request", { id, command, params, timeoutMs: 10_000 });
    return this.answer(id);
  }

  answer(id: string): Promise<Answer> {
    return eventually(
      () => this.frames.find((one) => one.event === "node.invoke.result" && one.payload.id === id)?.payload as never,
      20_000,
    );
  }

  event(event: string, payload: object): void {
    this.#socket?.send(JSON.stringify({ type: "event", event, payload }));
  }

  got(event: string, runId?: string): readonly Record<string, unknown>[] {
    return this.frames
      .filter((frame) => frame.event === event && (runId === undefined || frame.payload.runId === runId))
      .map((frame) => frame.payload);
  }

  hangUp(): void {
    this.#socket?.terminate();
  }

  async stop(): Promise<void> {
    for (const socket of this.#server.clients) socket.terminate();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #greet(socket: WebSocket): void {
    this.#socket = socket;
    this.connects += 1;
    socket.on("error", () => {});
    socket.on("message", (data) => {
      const frame = JSON.parse(String(data)) as Frame;
      if (frame.type !== "req") {
        this.frames.push(frame);
        return;
      }
      const payload = {
        protocol: 1,
        server: { version: "raw", connId: "c", gatewayId: this.id },
        auth: { role: "node", deviceToken: "raw-token" },
        node: { name: "raw", commands: [] },
        policy: { tickMs: 60_000, maxPayload: 1_048_576 },
      };
      socket.send(JSON.stringify({ type: "res", id: frame.id, ok: true, payload }));
    });
    const challenge = { nonce: "0123456789abcdef0123", ts: Date.now() };
    socket.send(JSON.stringify({ type: "event", event: "connect.challenge", payload: challenge }));
  }
}

/** What a gateway whose policy allows everything asks. */
export const OPEN_POLICY = { security: "full", ask: "off", askFallback: "deny", autoReview: false };

export interface AskedRun {
  readonly runId: string;
  readonly command: string;
  readonly env?: Record<string, string>;
  readonly policy?: object;
  readonly cwd?: string;
}

const ABOUT = { agentId: "main", sessionKey: "agent:main:main" };

/** `system.run.prepare`, and the `system.run` that would follow. */
export async function prepared(
  gateway: RawGateway,
  run: AskedRun,
): Promise<{ answer: Answer; run: Record<string, unknown> }> {
  const { runId, command, env = {}, policy = OPEN_POLICY, cwd } = run;
  const answer = await gateway.invoke("system.run.prepare", {
    ...{ ...ABOUT, runId, command, env, policy },
    ttlMs: 60_000,
    ...(cwd === undefined ? {} : { cwd }),
  });
  const payload: Record<string, unknown> = answer.ok ? answer.payload : {};
  const decision = (payload.decision ?? {}) as { plan?: object; binding?: object };
  return {
    answer,
    run: {
      ...{ ...ABOUT, runId, command, env, policy },
      plan: decision.plan,
      binding: decision.binding,
      cwd: payload.cwd,
      ticket: payload.ticket,
      pty: false,
      stdin: "closed",
    },
  };
}
