/** One connection to the gateway, from the challenge to its end. Knows the handshake and the frames, not what they ask for. */
import type { KeyObject } from "node:crypto";
import { hostname } from "node:os";
import type { TLSSocket } from "node:tls";
import { type RawData, WebSocket } from "ws";
import type { z } from "zod";
import { signatureText, signText } from "../protocol/device-auth.ts";
import { CLOSE_CODES, MAX_FRAME_BYTES, NODE_CLOSE_CODES } from "../protocol/frames.ts";
import {
  challengeFrame,
  type Hello,
  helloFrame,
  NODE_PROTOCOL_VERSION,
  type NodeErrorBody,
  toNode,
} from "../protocol/node-frames.ts";
import type { Endpoint } from "./endpoint.ts";

const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Waiting to be sent; output beyond it stays with its run until there is room. */
export const MAX_UNSENT_BYTES = 8 * 1024 * 1024;
const CLOSE_GRACE_MS = 2_000;

export type OrderFrame = z.output<typeof toNode>;

/** How a connection came to its end. */
export type SocketEnd =
  /** The network, or a gateway that restarts: trying again helps. */
  | { readonly kind: "lost"; readonly why: string }
  /** Waits for an owner. */
  | { readonly kind: "pairing"; readonly message: string }
  /** Trying again does not help. */
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "closed" };

export interface SocketOptions {
  readonly endpoint: Endpoint;
  readonly identity: { readonly deviceId: string; readonly privateKey: KeyObject; readonly publicKey: string };
  readonly version: string;
  readonly displayName: string;
  readonly commands: readonly string[];
  readonly auth: { readonly token?: string; readonly deviceToken?: string; readonly pairCode?: string };
  readonly onHello: (hello: Hello) => void;
  readonly onFrame: (frame: OrderFrame) => void;
}

export class GatewaySocket {
  readonly ended: Promise<SocketEnd>;
  readonly #socket: WebSocket;
  readonly #options: SocketOptions;
  #state: "challenge" | "hello" | "open" | "done" = "challenge";
  #refused: NodeErrorBody | undefined;
  #why: string | undefined;
  #silence: NodeJS.Timeout | undefined;
  #tickMs = HANDSHAKE_TIMEOUT_MS;
  #closedByUs = false;

  constructor(options: SocketOptions) {
    this.#options = options;
    const { url, fingerprint } = options.endpoint;
    // A pinned certificate is the proof; it may be self-signed.
    this.#socket = new WebSocket(url, {
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      maxPayload: MAX_FRAME_BYTES * 2,
      perMessageDeflate: false,
      followRedirects: false,
      ...(fingerprint === undefined ? {} : { rejectUnauthorized: false }),
    });
    this.#heard();
    this.#socket.on("upgrade", (response) => {
      if (fingerprint === undefined) return;
      const certificate = (response.socket as TLSSocket).getPeerCertificate?.();
      const found = certificate?.fingerprint256?.replaceAll(":", "").toLowerCase();
      if (found === fingerprint) return;
      this.#refused = {
        code: "tls-fingerprint",
        message: `The certificate of ${url} is not the pinned one (it is sha256:${found ?? "unknown"}).`,
      };
      this.#socket.terminate();
    });
    this.#socket.on("message", (data) => this.#message(data));
    this.#socket.on("ping", () => this.#heard());
    this.#socket.on("error", (error) => {
      this.#why ??= (error as NodeJS.ErrnoException).code ?? error.message;
    });
    this.ended = new Promise((resolve) => {
      this.#socket.once("close", (code, reason) => {
        const wasOpen = this.#state === "open";
        this.#state = "done";
        clearTimeout(this.#silence);
        resolve(this.#endOf(code, reason.toString("utf8"), wasOpen));
      });
    });
  }

  get open(): boolean {
    return this.#state === "open";
  }

  /** False: there is no connection, or it does not take any more; the caller keeps what it has. */
  send(text: string): boolean {
    if (this.#state !== "open") return false;
    this.#socket.send(text);
    if (this.#socket.bufferedAmount > MAX_UNSENT_BYTES) {
      this.#why = "the gateway reads too slowly";
      this.#socket.terminate();
    }
    return true;
  }

  close(): void {
    this.#closedByUs = true;
    this.#socket.close(1000);
    setTimeout(() => this.#socket.terminate(), CLOSE_GRACE_MS).unref();
  }

  #message(data: RawData): void {
    this.#heard();
    if (this.#refused) return;
    try {
      const frame: unknown = JSON.parse((data as Buffer).toString("utf8"));
      switch (this.#state) {
        case "challenge":
          this.#connect(challengeFrame.parse(frame).payload);
          return;
        case "hello": {
          const hello = helloFrame.parse(frame);
          if (!hello.ok) {
            this.#refused = hello.error;
            return;
          }
          this.#state = "open";
          this.#tickMs = hello.payload.policy.tickMs;
          this.#heard();
          this.#options.onHello(hello.payload);
          return;
        }
        case "open":
          this.#options.onFrame(toNode.parse(frame));
          return;
        case "done":
          return;
      }
    } catch {
      this.#why = "the gateway sent what this node does not understand; their versions may differ";
      this.#socket.close(CLOSE_CODES.protocol);
    }
  }

  #connect(challenge: { readonly nonce: string; readonly ts: number }): void {
    this.#state = "hello";
    const { identity, version, displayName, commands, auth } = this.#options;
    const client = {
      id: "node-host" as const,
      version,
      platform: process.platform,
      mode: "node" as const,
      deviceFamily: process.arch,
      displayName,
    };
    const signature = signText(
      signatureText({
        deviceId: identity.deviceId,
        clientId: client.id,
        mode: client.mode,
        role: "node",
        scopes: [],
        signedAtMs: challenge.ts,
        token: auth.deviceToken ?? auth.pairCode ?? auth.token ?? "",
        nonce: challenge.nonce,
        platform: client.platform,
        deviceFamily: client.deviceFamily,
      }),
      identity.privateKey,
    );
    const params = {
      minProtocol: NODE_PROTOCOL_VERSION,
      maxProtocol: NODE_PROTOCOL_VERSION,
      client,
      role: "node",
      scopes: [],
      commands,
      auth,
      device: {
        id: identity.deviceId,
        publicKey: identity.publicKey,
        signature,
        signedAt: challenge.ts,
        nonce: challenge.nonce,
      },
    };
    this.#socket.send(JSON.stringify({ type: "req", id: "connect", method: "connect", params }));
  }

  /** Two ticks without a word: the gateway or the way to it is gone, whatever TCP says. */
  #heard(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      this.#why = "the gateway has gone silent";
      this.#socket.terminate();
    }, this.#tickMs * 2.5);
  }

  #endOf(code: number, reason: string, wasOpen: boolean): SocketEnd {
    if (this.#closedByUs) return { kind: "closed" };
    const message = this.#refused?.message ?? (reason === "" ? "The gateway refused the connection." : reason);
    switch (code) {
      case NODE_CLOSE_CODES.pairingRequired:
        return { kind: "pairing", message };
      case NODE_CLOSE_CODES.removed:
      case CLOSE_CODES.unauthorized:
        return { kind: "refused", message };
      case NODE_CLOSE_CODES.replaced:
        return { kind: "refused", message: "Another process with the identity of this node has connected." };
      case CLOSE_CODES.protocol:
        // In the middle of things it is a piece that went missing: what is kept is sent again.
        return wasOpen ? { kind: "lost", why: reason } : { kind: "refused", message };
      default:
        if (this.#refused?.code === "tls-fingerprint") return { kind: "refused", message };
        return { kind: "lost", why: this.#why ?? this.#refused?.message ?? (reason || `closed with ${code}`) };
    }
  }
}

/** What a node is called when nobody says otherwise. */
export function defaultName(): string {
  return hostname().split(".")[0] || "node";
}
