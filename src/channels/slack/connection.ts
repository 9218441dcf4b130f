/**
 * Keeps one Socket Mode connection alive. The SDK's own reconnect is switched off: when `apps.connections.open` fails
 * during it, the rejection is unhandled (it ends the process) and no further attempt follows (node-slack-sdk 2656).
 * Here every attempt is awaited, failures back off, and a refused token stops the loop with a reason.
 */

import type { SocketModeReceiver } from "@slack/bolt";
import { pause } from "../../core/pause.ts";
import { timeLimit } from "../../core/time-limit.ts";
import { inEnglish, type Phrase, phrase, type Wording } from "../../core/words/phrase.ts";
import { type ChannelLog, describeError } from "../adapter-deps.ts";
import type { ChannelStatus } from "../channel.ts";
import type { Reconnects } from "../pacing/reconnects.ts";
import type { Redactor } from "../text/redact.ts";
import { CONNECT_MS } from "./limits.ts";
import { AUTH_ERRORS, failureOf, platformError, refusal } from "./outcome.ts";

type SocketClient = SocketModeReceiver["client"];

export interface Backoff {
  readonly minMs: number;
  readonly maxMs: number;
}

export const RECONNECT: Backoff = { minMs: 1000, maxMs: 30_000 };

/**
 * Farewells of Slack after which a new connection would end the same way, so the next attempt waits and the status says
 * why. The others (`warning`, `refresh_requested`) mean: connect anew, now. docs.slack.dev/apis/events-api/using-socket-mode
 */
const TROUBLED_FAREWELLS: ReadonlyMap<string, Phrase> = new Map([
  ["link_disabled", phrase("channel.slack.socketModeOff")],
  ["too_many_websockets", phrase("channel.slack.tooMany")],
]);

/** A connection that lived this long was a good one: the next attempt follows at once. */
const STABLE_MS = 5000;
/** How long a closing socket may take before it is cut. The SDK itself waits 30 s, in which nothing arrives. */
const CLOSE_MS = 1500;

export type ConnectionState = Pick<ChannelStatus, "state" | "detail">;

export interface SocketConnectionOptions {
  readonly client: SocketClient;
  readonly log: ChannelLog;
  readonly redactor: Redactor;
  readonly monotonic: () => number;
  readonly backoff: Backoff;
  readonly reconnects: Reconnects;
  /** Something arrived that is not about the connection itself. */
  readonly onEnvelope: () => void;
  readonly onState: (state: ConnectionState) => void;
}

export class SocketConnection {
  private readonly options: SocketConnectionOptions;
  private readonly stopping = new AbortController();
  private loop: Promise<void> | undefined;
  private closed: () => void = () => {};
  /** Why Slack ended the connection that closes now. */
  private farewell: Phrase | undefined;
  private cut: NodeJS.Timeout | undefined;
  private readonly onClose = (): void => {
    clearTimeout(this.cut);
    this.closed();
  };
  private readonly onFrame = (data: unknown): void => {
    if (typeof data !== "string") return;
    if (data.includes('"envelope_id"')) this.options.onEnvelope();
    this.checkHello(data);
    this.checkFarewell(data);
  };

  constructor(options: SocketConnectionOptions) {
    this.options = options;
    guardFrames(options);
    options.client.on("ws_message", this.onFrame);
    options.client.on("disconnected", this.onClose);
  }

  /** Resolves after the first attempt: connected, or going on in the background. Rejects when the token is refused. */
  async start(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.loop = this.run(resolve, reject);
    });
  }

  /** A new socket; what was not acknowledged comes over it. */
  async reconnect(): Promise<void> {
    if (!this.stopped) await this.close();
  }

  /** Resolves when no socket is open and nothing will reconnect. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.close();
    await this.loop;
    this.options.client.off("ws_message", this.onFrame);
    this.options.client.off("disconnected", this.onClose);
  }

  private get stopped(): boolean {
    return this.stopping.signal.aborted;
  }

  private async run(first: () => void, refused: (error: unknown) => void): Promise<void> {
    let failures = 0;
    let trouble: Wording | undefined;
    while (!this.stopped) {
      this.options.onState({ state: "connecting", ...(trouble === undefined ? {} : { detail: trouble }) });
      this.farewell = undefined;
      const closed = this.nextClose();
      try {
        await this.connect();
      } catch (error) {
        if (this.stopped) break;
        const code = platformError(error);
        if (code !== undefined && AUTH_ERRORS.has(code)) {
          const why = refusal(code);
          this.options.log.error({ why: why.text }, "Slack refuses the app token; given up until a restart");
          this.options.onState({ state: "failed", detail: why });
          refused(error);
          return;
        }
        failures += 1;
        trouble =
          error === undefined
            ? (this.farewell ?? phrase("channel.slack.closed"))
            : describeError(error, this.options.redactor);
        await this.wait(Math.max(this.delay(failures), retryAfterMs(error)), failures, trouble, first);
        continue;
      }
      const since = this.options.monotonic();
      this.options.onState({ state: "connected" });
      first();
      await closed;
      if (this.stopped) break;
      const lived = this.options.monotonic() - since;
      trouble = this.farewell;
      failures = lived >= STABLE_MS ? 0 : failures + 1;
      const { waitMs, count } = this.options.reconnects.lost();
      this.options.log.info({ livedMs: Math.round(lived) }, "Slack connection closed; reconnecting");
      if (waitMs > 0) {
        await this.wait(waitMs, count, phrase("channel.slack.lostOften"), first);
      } else if (trouble !== undefined) {
        failures = Math.max(failures, 1);
        await this.wait(this.delay(failures), failures, trouble, first);
      } else if (failures > 1) await pause(this.delay(failures - 1), this.stopping.signal);
    }
    this.options.onState({ state: "stopped" });
    first();
  }

  private async wait(waitMs: number, failures: number, why: Wording, first: () => void): Promise<void> {
    this.options.onState({
      state: "connecting",
      detail: phrase("channel.nextAttempt", { why, seconds: Math.ceil(waitMs / 1000) }),
    });
    this.options.log.warn({ failures, waitMs, why: inEnglish(why) }, "Slack is not reachable");
    first();
    await pause(waitMs, this.stopping.signal);
  }

  private async connect(): Promise<void> {
    const attempt = this.options.client.start();
    const limit = timeLimit(CONNECT_MS, this.stopping.signal);
    const deadline = limit.signal;
    const late = new Promise<never>((_resolve, reject) => {
      deadline.addEventListener("abort", () => reject(new Error("no hello from Slack in time")), { once: true });
    });
    try {
      await Promise.race([attempt, late]);
    } catch (error) {
      attempt.catch(() => {});
      if (deadline.aborted) await this.close();
      throw error;
    } finally {
      limit.done();
    }
  }

  private nextClose(): Promise<void> {
    return new Promise((resolve) => {
      this.closed = resolve;
    });
  }

  private async close(): Promise<void> {
    const { client } = this.options;
    const done = Promise.resolve(client.disconnect()).catch(() => {});
    const timer = setTimeout(() => {
      // A second call while the close handshake hangs cuts the socket.
      void Promise.resolve(client.disconnect()).catch(() => {});
    }, CLOSE_MS);
    await done;
    clearTimeout(timer);
  }

  private delay(failures: number): number {
    const { minMs, maxMs } = this.options.backoff;
    return Math.min(minMs * 2 ** Math.min(failures - 1, 16), maxMs);
  }

  /** Slack spreads events over all sockets of an app: a second process with the same token takes half of them. */
  private checkHello(data: string): void {
    if (!data.includes('"hello"')) return;
    const connections = /"num_connections":\s*(\d+)/.exec(data)?.[1];
    if (connections !== undefined && Number(connections) > 1) {
      this.options.log.warn(
        { connections: Number(connections) },
        "Another process is connected with the same Slack app token and takes part of the events",
      );
    }
  }

  /** The SDK closes the socket after this frame; one whose other end does not close is cut. */
  private checkFarewell(data: string): void {
    if (!/^\s*\{\s*"type"\s*:\s*"disconnect"/.test(data)) return;
    const reason = /"reason"\s*:\s*"(\w{1,64})"/.exec(data)?.[1] ?? "";
    this.farewell = TROUBLED_FAREWELLS.get(reason);
    clearTimeout(this.cut);
    this.cut = setTimeout(() => void Promise.resolve(this.options.client.disconnect()).catch(() => {}), CLOSE_MS);
    this.cut.unref();
  }
}

/** The SDK reads frames in an async listener that nobody awaits: one frame of an unknown shape would end the process. */
function guardFrames({ client, log, redactor }: SocketConnectionOptions): void {
  const sdk = client as unknown as { onWebSocketMessage(data: unknown, isBinary: boolean): Promise<void> };
  const read = sdk.onWebSocketMessage.bind(client);
  client.removeAllListeners("ws_message");
  client.on("ws_message", (data: unknown, isBinary: boolean) => {
    read(data, isBinary).catch((error: unknown) => {
      log.warn({ why: describeError(error, redactor) }, "Slack sent a frame that can not be read; it is left out");
    });
  });
}

/** Slack's own time to wait, when it named one. */
function retryAfterMs(error: unknown): number {
  const failure = failureOf(error);
  return failure.kind === "retry" ? failure.afterMs : 0;
}
