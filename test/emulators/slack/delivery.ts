/**
 * How Slack hands payloads to an app: one of its open sockets, or a signed POST to its request URL. Waits for the
 * acknowledgement, redelivers events that got none, and reports interactions that got none.
 */
import { createHmac, randomUUID } from "node:crypto";
import { WebSocket } from "ws";
import type { Journal } from "../shared/journal.ts";

type Json = Record<string, unknown>;

export type EnvelopeKind = "events_api" | "interactive" | "slash_commands";

export interface DeliveryOptions {
  /** How long Slack waits for an acknowledgement. */
  readonly ackMs: number;
  /** Waits before the redeliveries of an event. Slack: at once, 1 minute, 5 minutes. */
  readonly retryMs: readonly number[];
}

export const SLACK_DELIVERY: DeliveryOptions = { ackMs: 3000, retryMs: [0, 60_000, 300_000] };

/** `timeout`: "operation_timeout" on the person's screen. `offline`: no socket was open. */
export type AckResult = { readonly kind: "ack"; readonly payload: Json } | { readonly kind: "timeout" | "offline" };

interface Waiting {
  readonly resolve: (result: AckResult) => void;
  readonly timer: NodeJS.Timeout;
}

export interface HttpTarget {
  readonly url: string;
  readonly signingSecret: string;
}

export class Delivery {
  readonly sockets = new Set<WebSocket>();
  /** Set for apps in HTTP mode. */
  target: HttpTarget | undefined;
  options: DeliveryOptions;
  private readonly waiting = new Map<string, Waiting>();
  private readonly unsent: Json[] = [];
  private readonly timers = new Set<NodeJS.Timeout>();
  private readonly journal: Journal;
  private readonly now: () => number;
  private turn = 0;
  private ignoredAcks = 0;
  private readonly refusals: string[] = [];
  /** Sockets that look open and get nothing. */
  private deaf = new WeakSet<WebSocket>();
  private lastEvent: Json | undefined;

  constructor(journal: Journal, now: () => number, options: DeliveryOptions) {
    this.journal = journal;
    this.now = now;
    this.options = options;
  }

  accept(socket: WebSocket): void {
    this.sockets.add(socket);
    socket.once("close", () => this.sockets.delete(socket));
    const refusal = this.refusals.shift();
    if (refusal !== undefined) {
      socket.send(farewell(refusal));
      return;
    }
    socket.on("message", (data) => this.onFrame(String(data)));
    socket.send(
      JSON.stringify({
        type: "hello",
        num_connections: this.sockets.size,
        connection_info: { app_id: "A0OPENCLAW" },
        debug_info: { host: "emulator", build_number: 1, approximate_connection_time: 18060 },
      }),
    );
    for (const event of this.unsent.splice(0)) void this.deliverEvent(event, 1);
  }

  /** The next `times` acknowledgements get lost on their way. */
  noAck(times: number): void {
    this.ignoredAcks += times;
  }

  /** Sends the last event once more, as Slack does when it is unsure. */
  async duplicateLastEvent(): Promise<AckResult> {
    if (this.lastEvent === undefined) throw new Error("No event was sent yet.");
    return await this.send("events_api", this.lastEvent, 1);
  }

  disconnect(reason: string): void {
    for (const socket of this.sockets) socket.send(farewell(reason));
  }

  /** The next `times` connections are told off instead of greeted. */
  refuseSockets(reason: string, times: number): void {
    this.refusals.push(...Array.from({ length: times }, () => reason));
  }

  /** Nothing the app sends is read any more, the end of its connection neither. */
  freeze(): void {
    for (const socket of this.sockets) socket.pause();
  }

  /** The sockets that are open now stay open, answer pings, and nothing is handed to them any more. */
  deafen(): void {
    for (const socket of this.sockets) this.deaf.add(socket);
  }

  /** A frame as it is, well-formed or not. */
  sendFrame(text: string): void {
    for (const socket of this.sockets) socket.send(text);
  }

  reset(): void {
    for (const { timer, resolve } of this.waiting.values()) {
      clearTimeout(timer);
      resolve({ kind: "timeout" });
    }
    this.waiting.clear();
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
    this.unsent.length = 0;
    this.ignoredAcks = 0;
    this.refusals.length = 0;
    this.lastEvent = undefined;
  }

  /** Commands, buttons and views: one try, no redelivery. */
  async interact(kind: Exclude<EnvelopeKind, "events_api">, payload: Json): Promise<AckResult> {
    const result = await this.send(kind, payload, 0);
    if (result.kind === "timeout") {
      this.journal.violate(
        `${String(payload.type ?? payload.command)} was not acknowledged within ${this.options.ackMs} ms`,
      );
    }
    return result;
  }

  /** Resolves after the first try; redeliveries follow by themselves. */
  async deliverEvent(payload: Json, attempt = 0): Promise<AckResult> {
    this.lastEvent = payload;
    const result = await this.send("events_api", payload, attempt);
    if (result.kind === "ack") return result;
    if (result.kind === "offline") {
      this.unsent.push(payload);
      return result;
    }
    const wait = this.options.retryMs[attempt];
    if (wait === undefined) this.journal.violate(`event ${String(payload.event_id)} was never acknowledged`);
    else {
      const timer = setTimeout(() => {
        this.timers.delete(timer);
        void this.deliverEvent(payload, attempt + 1);
      }, wait);
      this.timers.add(timer);
    }
    return result;
  }

  private async send(kind: EnvelopeKind, payload: Json, attempt: number): Promise<AckResult> {
    if (this.target !== undefined) return await this.post(this.target, kind, payload, attempt);
    const open = [...this.sockets].filter((socket) => socket.readyState === WebSocket.OPEN);
    const socket = open[this.turn++ % Math.max(open.length, 1)];
    if (socket === undefined) return { kind: "offline" };
    const envelope = {
      envelope_id: randomUUID(),
      type: kind,
      payload,
      accepts_response_payload: kind !== "events_api",
      ...(kind === "events_api" ? { retry_attempt: attempt, retry_reason: attempt === 0 ? "" : "timeout" } : {}),
    };
    this.journal.record({ dir: "out", via: "ws", what: kind, body: payload });
    return await new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.waiting.delete(envelope.envelope_id);
        resolve({ kind: "timeout" });
      }, this.options.ackMs);
      this.waiting.set(envelope.envelope_id, { resolve, timer });
      if (!this.deaf.has(socket)) socket.send(JSON.stringify(envelope));
    });
  }

  private onFrame(text: string): void {
    const frame = JSON.parse(text) as Json;
    const id = String(frame.envelope_id);
    const entry = this.journal.record({ dir: "in", via: "ws", what: "ack", body: frame.payload });
    if (this.ignoredAcks > 0) {
      this.ignoredAcks -= 1;
      return;
    }
    const waiting = this.waiting.get(id);
    if (waiting === undefined) {
      entry.violations.push(`acknowledgement for an unknown or late envelope ${id}`);
      return;
    }
    this.waiting.delete(id);
    clearTimeout(waiting.timer);
    waiting.resolve({ kind: "ack", payload: (frame.payload ?? {}) as Json });
  }

  private async post(target: HttpTarget, kind: EnvelopeKind, payload: Json, attempt: number): Promise<AckResult> {
    const json = kind === "events_api";
    const body = json
      ? JSON.stringify(payload)
      : kind === "interactive"
        ? new URLSearchParams({ payload: JSON.stringify(payload) }).toString()
        : new URLSearchParams(payload as Record<string, string>).toString();
    this.journal.record({ dir: "out", via: "http", what: kind, body: payload });
    try {
      const response = await fetch(target.url, {
        method: "POST",
        body,
        headers: {
          "content-type": json ? "application/json" : "application/x-www-form-urlencoded",
          ...signatureHeaders(body, target.signingSecret, Math.floor(this.now() / 1000)),
          ...(attempt > 0 ? { "x-slack-retry-num": String(attempt), "x-slack-retry-reason": "http_timeout" } : {}),
        },
        signal: AbortSignal.timeout(this.options.ackMs),
      });
      const text = await response.text();
      if (!response.ok) return { kind: "timeout" };
      return { kind: "ack", payload: text === "" ? {} : parseAck(text) };
    } catch {
      return { kind: "timeout" };
    }
  }
}

function farewell(reason: string): string {
  return JSON.stringify({ type: "disconnect", reason, debug_info: { host: "emulator" } });
}

function parseAck(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return { text };
  }
}

/** docs.slack.dev/authentication/verifying-requests-from-slack */
export function signatureHeaders(body: string, secret: string, seconds: number): Record<string, string> {
  const signature = createHmac("sha256", secret).update(`v0:${seconds}:${body}`).digest("hex");
  return { "x-slack-request-timestamp": String(seconds), "x-slack-signature": `v0=${signature}` };
}
