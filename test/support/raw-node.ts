/** A node that says whatever a test wants it to: for what an attacker, or a broken one, would send. */
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { WebSocket } from "ws";
import {
  deviceIdOf,
  rawPublicKey,
  type SignedConnect,
  signatureText,
  signText,
} from "../../src/protocol/device-auth.ts";
import { eventually } from "./state.ts";

export interface Device {
  readonly privateKey: KeyObject;
  readonly publicKey: string;
  readonly id: string;
}

export function newDevice(): Device {
  const { privateKey } = generateKeyPairSync("ed25519");
  const raw = rawPublicKey(privateKey);
  return { privateKey, publicKey: raw.toString("base64url"), id: deviceIdOf(raw) };
}

export interface RawConnect {
  readonly device?: Device;
  readonly name?: string;
  readonly commands?: readonly string[];
  readonly auth?: { readonly token?: string; readonly deviceToken?: string; readonly pairCode?: string };
  /** Changes what is signed, after everything else was filled in. */
  readonly sign?: (signed: SignedConnect) => SignedConnect;
  /** Changes the frame, after it was signed. */
  readonly change?: (params: Record<string, unknown> & { device: Record<string, unknown> }) => object;
  readonly headers?: Readonly<Record<string, string>>;
}

type Frame = Readonly<Record<string, unknown>> & { readonly payload?: Record<string, unknown> };

export class RawNode {
  readonly frames: Frame[] = [];
  readonly device: Device;
  closed: { readonly code: number; readonly reason: string } | undefined;
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket, device: Device) {
    this.#socket = socket;
    this.device = device;
    socket.on("message", (data) => this.frames.push(JSON.parse(String(data)) as Frame));
    socket.on("close", (code, reason) => {
      this.closed = { code, reason: reason.toString() };
    });
    socket.on("error", () => {});
  }

  /** Only the socket: nothing is sent. */
  static async open(
    url: string,
    device = newDevice(),
    headers: Readonly<Record<string, string>> = {},
  ): Promise<RawNode> {
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}/ws/node`, { headers: { ...headers } });
    const node = new RawNode(socket, device);
    await eventually(() => node.frames.some((frame) => frame.event === "connect.challenge"), 20_000);
    return node;
  }

  static async connect(url: string, options: RawConnect = {}): Promise<RawNode> {
    const node = await RawNode.open(url, options.device, options.headers);
    node.send(node.connectFrame(options));
    await eventually(() => node.answer !== undefined || node.closed !== undefined, 20_000);
    return node;
  }

  get challenge(): { nonce: string; ts: number } {
    return this.frames.find((frame) => frame.event === "connect.challenge")?.payload as never;
  }

  /** The answer to connect. */
  get answer():
    | { ok: boolean; payload?: Record<string, unknown>; error?: { code: string; details?: { code?: string } } }
    | undefined {
    return this.frames.find((frame) => frame.type === "res") as never;
  }

  get deviceToken(): string | undefined {
    return (this.answer?.payload?.auth as { deviceToken?: string } | undefined)?.deviceToken;
  }

  connectFrame({ name = "raw", commands, auth = {}, sign, change }: RawConnect): object {
    const { nonce, ts } = this.challenge;
    const signed: SignedConnect = {
      deviceId: this.device.id,
      clientId: "node-host",
      mode: "node",
      role: "node",
      scopes: [],
      signedAtMs: ts,
      token: auth.deviceToken ?? auth.pairCode ?? auth.token ?? "",
      nonce,
      platform: "linux",
      deviceFamily: "x64",
    };
    const params = {
      minProtocol: 1,
      maxProtocol: 1,
      client: {
        id: "node-host",
        version: "raw",
        platform: "linux",
        mode: "node",
        deviceFamily: "x64",
        displayName: name,
      },
      role: "node",
      scopes: [],
      commands: commands ?? ["system.run", "system.run.prepare", "system.which"],
      auth,
      device: {
        id: this.device.id,
        publicKey: this.device.publicKey,
        signature: signText(signatureText(sign ? sign(signed) : signed), this.device.privateKey),
        signedAt: ts,
        nonce,
      },
    };
    return { type: "req", id: "1", method: "connect", params: change ? change(params) : params };
  }

  send(frame: object): void {
    this.#socket.send(JSON.stringify(frame));
  }

  sendText(text: string): void {
    this.#socket.send(text);
  }

  event(event: string, payload: object): void {
    this.send({ type: "event", event, payload });
  }

  /** The next question of the gateway for this command that has not been answered. */
  async asked(command: string, nth = 1): Promise<{ id: string; params: Record<string, unknown> }> {
    return eventually(() => {
      const found = this.frames.filter(
        (frame) => frame.event === "node.invoke.request" && frame.payload?.command === command,
      );
      return found[nth - 1]?.payload as { id: string; params: Record<string, unknown> } | undefined;
    }, 20_000);
  }

  got(event: string): readonly Record<string, unknown>[] {
    return this.frames.filter((frame) => frame.event === event).map((frame) => frame.payload ?? {});
  }

  async end(): Promise<{ code: number; reason: string }> {
    return eventually(() => this.closed, 20_000);
  }

  async stop(): Promise<void> {
    if (this.closed) return;
    this.#socket.terminate();
    await this.end();
  }
}
