/**
 * One socket of a node: challenge, connect, then questions and orders one way, answers and reports the other. Loaded when
 * the first node connects. Everything that comes in is parsed; a node that does not keep to the protocol is hung up on.
 */
import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import type { RawData, WebSocket } from "ws";
import type { Clock, NewId } from "../core/clock.ts";
import { type ErrorCode, ExecError } from "../core/errors.ts";
import { NodeTimeout } from "../core/hosts/node/node-host.ts";
import type { NodePairing, NodeRecord, Welcome } from "../core/hosts/node/pairing.ts";
import type { NodeRegistry } from "../core/hosts/node/registry.ts";
import type { NodeLink, RunOrder } from "../core/hosts/node/types.ts";
import { phrase } from "../core/words/phrase.ts";
import { refuseDevice } from "../protocol/device-auth.ts";
import {
  CLOSE_CODES,
  type ErrorBody,
  MAX_FRAME_BYTES,
  MAX_FRAME_BYTES_BEFORE_AUTH,
  NODE_CLOSE_CODES,
} from "../protocol/frames.ts";
import {
  connectRequest,
  type FromNode,
  fromNode,
  NODE_PROTOCOL_VERSION,
  type NodeConnect,
  type NodeErrorBody,
  orderFrame,
  parseKnownRuns,
  reportOf,
  type ToNode,
} from "../protocol/node-frames.ts";
import type { Peer } from "./peer.ts";
import type { NodeDoor } from "./server-deps.ts";

/** Frames of one node between two ticks; output comes in few large ones. */
const MAX_FRAMES_PER_TICK = 60_000;
/** Questions to one node that wait for an answer. */
const MAX_OPEN_INVOKES = 256;
const CLOSE_GRACE_MS = 2_000;
const MAX_REASON_BYTES = 123;

export interface NodeConnectionParts {
  readonly door: NodeDoor;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
  readonly version: string;
  readonly gatewayId: string;
  readonly hasToken: boolean;
  readonly pairing: NodePairing;
  readonly registry: NodeRegistry;
  /** Why such a node is let in without anybody being asked, and whether with its commands. */
  readonly trusts: (peer: Peer, hasGatewayToken: boolean) => NodeTrust | undefined;
  /** What of the approved commands this gateway allows. */
  readonly usable: (record: Pick<NodeRecord, "declared" | "approved">) => ReadonlySet<string>;
  readonly onWelcome: (welcome: Welcome) => Promise<void>;
  /** Connects of one address are counted; rejects when there are too many. */
  readonly admit: (peer: Peer) => Promise<void>;
}

export interface NodeTrust {
  readonly by: string;
  /** False: the device only; its commands wait for an owner. */
  readonly withCommands: boolean;
}

interface OpenInvoke {
  readonly timer: NodeJS.Timeout;
  resolve(payload: unknown): void;
  reject(error: Error): void;
}

export class NodeConnection {
  readonly #socket: WebSocket;
  readonly #peer: Peer;
  readonly #parts: NodeConnectionParts;
  readonly #id: string;
  readonly #challenge: { readonly nonce: string; readonly ts: number };
  readonly #invokes = new Map<string, OpenInvoke>();
  readonly #ticker: NodeJS.Timeout;
  #deadline: NodeJS.Timeout | undefined;
  #record: NodeRecord | undefined;
  #link: NodeLink | undefined;
  #connecting = false;
  #closing = false;
  #heardSinceTick = true;
  #frames = 0;

  constructor(socket: WebSocket, peer: Peer, parts: NodeConnectionParts) {
    this.#socket = socket;
    this.#peer = peer;
    this.#parts = parts;
    this.#id = parts.newId();
    this.#challenge = { nonce: randomBytes(24).toString("base64url"), ts: parts.clock.now() };
    this.#deadline = setTimeout(() => {
      this.#close(CLOSE_CODES.connectTimeout, "No connect frame came in time.");
    }, parts.door.limits.connectDeadlineMs);
    this.#ticker = setInterval(() => this.#tick(), parts.door.limits.tickMs);
    socket.on("message", (data, isBinary) => this.#message(data, isBinary));
    socket.on("pong", () => {
      this.#heardSinceTick = true;
    });
    socket.on("error", (error) =>
      parts.logger.debug({ err: error, connection: this.#id }, "websocket error of a node"),
    );
    socket.once("close", () => this.#closed());
    socket.send(JSON.stringify({ type: "event", event: "connect.challenge", payload: this.#challenge }));
  }

  get nodeId(): string | undefined {
    return this.#record?.id;
  }

  /** What counts now of the record: it was changed by an owner. */
  refresh(record: NodeRecord): void {
    if (this.#record) this.#record = record;
  }

  close(code: number, reason: string): void {
    this.#close(code, reason);
  }

  #tick(): void {
    if (!this.#heardSinceTick) {
      this.#socket.terminate();
      return;
    }
    this.#heardSinceTick = false;
    this.#frames = 0;
    this.#socket.ping();
    if (!this.#record) return;
    this.#send({ type: "event", event: "tick", payload: { atMs: this.#parts.clock.now() } });
    void this.#stillPaired();
  }

  /** Another gateway of the same store may have removed it. */
  async #stillPaired(): Promise<void> {
    const mine = this.#record;
    if (!mine) return;
    const now = await this.#parts.pairing.get(mine.id).catch(() => mine);
    if (now === undefined || now.pairedAtMs !== mine.pairedAtMs) {
      this.#close(NODE_CLOSE_CODES.removed, "This node was removed.");
    } else this.#record = now;
  }

  #message(data: RawData, isBinary: boolean): void {
    this.#heardSinceTick = true;
    if (this.#closing) return;
    this.#frames += 1;
    try {
      if (isBinary) throw new Error("Frames are JSON text.");
      const bytes = data as Buffer;
      if (this.#link) {
        if (this.#frames > MAX_FRAMES_PER_TICK) throw new Error("Far too many frames.");
        this.#received(fromNode.parse(JSON.parse(bytes.toString("utf8"))), this.#link);
        return;
      }
      if (bytes.length > MAX_FRAME_BYTES_BEFORE_AUTH) {
        throw new Error(`The first frame may have ${MAX_FRAME_BYTES_BEFORE_AUTH} bytes.`);
      }
      if (this.#connecting) throw new Error("Wait for the answer to connect.");
      this.#connecting = true;
      const { id, params } = connectRequest.parse(JSON.parse(bytes.toString("utf8")));
      void this.#connect(id, params);
    } catch (error) {
      this.#parts.logger.warn({ err: error, node: this.#record?.id, connection: this.#id }, "a node sent nonsense");
      this.#close(CLOSE_CODES.protocol, "The frame is not understood.");
    }
  }

  async #connect(requestId: string, connect: NodeConnect): Promise<void> {
    try {
      await this.#parts.admit(this.#peer);
      if (connect.minProtocol > NODE_PROTOCOL_VERSION || connect.maxProtocol < NODE_PROTOCOL_VERSION) {
        throw refusal("invalid-argument", `This gateway speaks version ${NODE_PROTOCOL_VERSION} of the protocol.`);
      }
      this.#checkDevice(connect);
      const welcome = await this.#parts.pairing.greet({
        nodeId: connect.device.id,
        publicKey: connect.device.publicKey,
        name: connect.client.displayName,
        platform: connect.client.platform,
        version: connect.client.version,
        address: this.#peer.address,
        commands: [...new Set(connect.commands)],
        ...(connect.auth.deviceToken === undefined ? {} : { deviceToken: connect.auth.deviceToken }),
        ...(connect.auth.pairCode === undefined ? {} : { pairCode: connect.auth.pairCode }),
        trust: () => this.#trust(connect.auth.token),
      });
      if (this.#closing) return;
      await this.#parts.onWelcome(welcome);
      if (welcome.kind === "paired") this.#welcome(requestId, welcome.record, welcome.newToken);
      else this.#turnAway(requestId, welcome);
    } catch (error) {
      const body: ErrorBody =
        error instanceof ExecError
          ? { code: error.code, message: error.message, ...(error.details ? { details: error.details } : {}) }
          : { code: "internal", message: "The gateway failed to answer." };
      if (!(error instanceof ExecError)) this.#parts.logger.error({ err: error }, "a node could not connect");
      await this.#refuse(requestId, body);
    }
  }

  #checkDevice({ client, role, scopes, auth, device }: NodeConnect): void {
    const code = refuseDevice(
      device,
      {
        clientId: client.id,
        mode: client.mode,
        role,
        scopes,
        signedAtMs: device.signedAt,
        token: auth.deviceToken ?? auth.pairCode ?? auth.token ?? "",
        platform: client.platform,
        deviceFamily: client.deviceFamily,
      },
      this.#challenge,
      this.#parts.clock.now(),
    );
    if (code !== undefined) throw refusal("unauthorized", "The device could not prove who it is.", { code });
  }

  async #trust(token: string | undefined): Promise<NodeTrust | undefined> {
    const { door, hasToken, trusts } = this.#parts;
    if (token !== undefined && hasToken) await door.gate.check(token, this.#peer);
    return trusts(this.#peer, token !== undefined || !hasToken);
  }

  #welcome(requestId: string, record: NodeRecord, newToken: string | undefined): void {
    const { registry, usable, logger, version, gatewayId, door, clock, pairing } = this.#parts;
    clearTimeout(this.#deadline);
    this.#record = record;
    const connection = this;
    const link: NodeLink = {
      nodeId: record.id,
      get name() {
        return connection.#record?.name ?? record.name;
      },
      platform: record.platform,
      version: record.version,
      address: this.#peer.address,
      connectedAtMs: clock.now(),
      publicKey: record.publicKey,
      get commands() {
        return usable(connection.#record ?? record);
      },
      invoke: (command, params, timeoutMs) => this.#invoke(command, params, timeoutMs),
      order: (order) => this.#order(order),
      close: (why, reason) => this.#close(CODES[why], reason),
    };
    this.#link = link;
    this.#sendText(
      JSON.stringify({
        type: "res",
        id: requestId,
        ok: true,
        payload: {
          protocol: NODE_PROTOCOL_VERSION,
          server: { version, connId: this.#id, gatewayId },
          auth: { role: "node", ...(newToken === undefined ? {} : { deviceToken: newToken }) },
          node: { name: record.name, commands: [...link.commands] },
          policy: { tickMs: door.limits.tickMs, maxPayload: MAX_FRAME_BYTES },
        },
      }),
    );
    registry.connected(link);
    logger.info({ node: record.id, name: record.name, address: this.#peer.address }, "node connected");
    void pairing.seen(record.id, this.#peer.address).catch(() => {});
  }

  #turnAway(requestId: string, welcome: Exclude<Welcome, { kind: "paired" }>): void {
    if (welcome.kind === "pending") {
      const { requestId: waiting } = welcome.request;
      this.#fail(requestId, {
        code: "not-authorized",
        message: `An owner has to approve this node: openclaw-exec nodes approve ${waiting.slice(0, 8)}`,
        details: { code: "PAIRING_REQUIRED", requestId: waiting },
      });
      this.#close(NODE_CLOSE_CODES.pairingRequired, "PAIRING_REQUIRED");
      return;
    }
    if (welcome.why === "full") {
      this.#fail(requestId, { code: "rate-limited", message: "Too many nodes wait to be approved. Try again later." });
      this.#close(CLOSE_CODES.rateLimited, "Too many nodes wait to be approved.");
      return;
    }
    const code = welcome.why === "rejected" ? "PAIRING_REJECTED" : "PAIRING_CODE_INVALID";
    const message =
      welcome.why === "rejected"
        ? "An owner has rejected this node."
        : "The setup code is wrong, was used, or is too old. Make another: openclaw-exec nodes code";
    void this.#refuse(requestId, { code: "not-authorized", message, details: { code } }, NODE_CLOSE_CODES.removed);
  }

  async #refuse(requestId: string, body: ErrorBody, closeCode?: number): Promise<void> {
    this.#fail(requestId, body);
    const reason = body.code as ErrorCode;
    void this.#parts.door.refusals.note({ surface: "websocket", reason, peer: this.#peer });
    const code =
      closeCode ??
      (reason === "rate-limited"
        ? CLOSE_CODES.rateLimited
        : reason === "unauthorized"
          ? CLOSE_CODES.unauthorized
          : reason === "internal"
            ? CLOSE_CODES.restart
            : CLOSE_CODES.protocol);
    this.#close(code, body.message);
  }

  #received(frame: FromNode, link: NodeLink): void {
    const { registry } = this.#parts;
    if (frame.event === "node.invoke.result") {
      this.#answered(frame.payload);
      return;
    }
    if (frame.event === "node.runs") {
      registry.knows(link, parseKnownRuns(frame.payload.runs));
      return;
    }
    const report = reportOf(frame);
    if (report && !registry.report(link, report)) {
      // It may have what is missing when it comes back; a gap is never passed over.
      this.#close(CLOSE_CODES.protocol, "A piece of output is missing.");
    }
  }

  #answered(result: Extract<FromNode, { event: "node.invoke.result" }>["payload"]): void {
    const open = this.#invokes.get(result.id);
    if (!open) return;
    this.#invokes.delete(result.id);
    clearTimeout(open.timer);
    if (!result.ok) open.reject(refusedBy(this.#link?.name ?? "node", result.error));
    else open.resolve(result.payload);
  }

  #invoke(command: string, params: unknown, timeoutMs: number): Promise<unknown> {
    const name = this.#link?.name ?? "node";
    if (this.#closing) return Promise.reject(offline(name));
    if (this.#invokes.size >= MAX_OPEN_INVOKES) {
      return Promise.reject(new ExecError("rate-limited", phrase("error.node.silent", { node: name })));
    }
    const id = this.#parts.newId();
    const frame: ToNode = { type: "event", event: "node.invoke.request", payload: { id, command, params, timeoutMs } };
    const text = JSON.stringify(frame);
    // A frame that the node may not take would end the connection, and with it what others run there.
    if (Buffer.byteLength(text) > MAX_FRAME_BYTES) {
      return Promise.reject(new ExecError("payload-too-large", phrase("error.node.tooLarge", { node: name })));
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#invokes.delete(id);
        // It must not act on it later.
        this.#send({ type: "event", event: "node.invoke.cancel", payload: { id } });
        reject(new NodeTimeout(`${name} did not answer ${command} in ${timeoutMs} ms`));
      }, timeoutMs).unref();
      this.#invokes.set(id, { timer, resolve, reject });
      this.#sendText(text);
    });
  }

  #order(order: RunOrder): void {
    this.#send(orderFrame(order));
  }

  #send(frame: ToNode): void {
    this.#sendText(JSON.stringify(frame));
  }

  #fail(id: string, error: ErrorBody): void {
    this.#sendText(JSON.stringify({ type: "res", id, ok: false, error }));
  }

  #sendText(text: string): void {
    if (this.#closing) return;
    if (this.#socket.bufferedAmount > this.#parts.door.limits.maxBufferedBytes) {
      this.#close(CLOSE_CODES.tooSlow, "You read too slowly.");
      return;
    }
    this.#socket.send(text);
  }

  #close(code: number, reason: string): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#socket.close(code, reason.slice(0, MAX_REASON_BYTES));
    const timer = setTimeout(() => this.#socket.terminate(), CLOSE_GRACE_MS);
    this.#socket.once("close", () => clearTimeout(timer));
    this.#gone();
  }

  #closed(): void {
    this.#closing = true;
    clearTimeout(this.#deadline);
    clearInterval(this.#ticker);
    this.#gone();
  }

  /** From here on nothing comes or goes over this connection. */
  #gone(): void {
    const link = this.#link;
    if (!link) return;
    this.#link = undefined;
    const open = [...this.#invokes.values()];
    this.#invokes.clear();
    for (const { timer, reject } of open) {
      clearTimeout(timer);
      reject(offline(link.name));
    }
    this.#parts.registry.disconnected(link);
    this.#parts.logger.info({ node: link.nodeId, name: link.name }, "node disconnected");
  }
}

const CODES = {
  replaced: NODE_CLOSE_CODES.replaced,
  removed: NODE_CLOSE_CODES.removed,
  restart: CLOSE_CODES.restart,
  protocol: CLOSE_CODES.protocol,
} as const;

/** What a node may say of a call; anything else it says is a plain refusal. */
const NODE_CODES: ReadonlySet<string> = new Set<ErrorCode>([
  "exec-denied",
  "workdir-unavailable",
  "env-forbidden",
  "env-invalid",
  "invalid-argument",
  "spawn-failed",
  "approval-changed",
  "control-command",
  "draining",
  "payload-too-large",
  "not-found",
]);

function refusedBy(node: string, { code, message, wording, details }: NodeErrorBody): ExecError {
  const known = NODE_CODES.has(code) ? (code as ErrorCode) : "exec-denied";
  return new ExecError(known, phrase("error.node.refused", { node, why: wording ?? message }), details);
}

function offline(node: string): ExecError {
  return new ExecError("host-unavailable", phrase("error.node.offline", { node }));
}

function refusal(code: ErrorCode, message: string, details?: Readonly<Record<string, unknown>>): ExecError {
  return new ExecError(code, message, details);
}
