/** Discord's gateway: HELLO, IDENTIFY, HEARTBEAT, READY, RESUME with replay, RECONNECT (op 7), INVALID SESSION (op 9). */
import type { WebSocket } from "ws";

export const OP = {
  dispatch: 0,
  heartbeat: 1,
  identify: 2,
  resume: 6,
  reconnect: 7,
  invalidSession: 9,
  hello: 10,
  heartbeatAck: 11,
} as const;

export const CLOSE = { unknownError: 4000, authenticationFailed: 4004, sessionTimedOut: 4009, disallowedIntents: 4014 };

export const INTENT = { guilds: 1, guildMessages: 1 << 9, directMessages: 1 << 12, messageContent: 1 << 15 };
/** Privileged: refused with 4014 unless the application has them switched on. */
const PRIVILEGED = (1 << 1) | (1 << 8) | INTENT.messageContent;

interface Frame {
  readonly op: number;
  readonly d?: unknown;
  readonly s?: number;
  readonly t?: string;
}

interface Session {
  readonly id: string;
  readonly intents: number;
  sequence: number;
  /** Sent events, kept for a resume. */
  readonly sent: Frame[];
  socket: WebSocket | undefined;
}

export interface GatewayOptions {
  readonly token: () => string;
  readonly allowedIntents: () => number;
  readonly newId: () => string;
  readonly ready: (sessionId: string) => Record<string, unknown>;
  /** Events right after READY: the guilds. */
  readonly welcome: () => readonly { readonly event: string; readonly data: unknown }[];
  readonly record: (direction: "in" | "out", frame: Frame) => void;
  readonly violation: (text: string) => void;
}

const REPLAY_LIMIT = 500;
/** A heartbeat may be this much later than promised before the session counts as dead. */
const HEARTBEAT_GRACE = 1.5;

export class Gateway {
  readonly #options: GatewayOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #sockets = new Set<WebSocket>();
  heartbeatIntervalMs = 41_250;
  acknowledgesHeartbeats = true;
  /**
   * Looks open, answers heartbeats and hands nothing on: `socket` until another one resumes the session, `session` until
   * there is a new one.
   */
  #deaf:
    | { readonly to: "socket" | "session"; readonly sockets: Set<WebSocket>; readonly sessions: Set<string> }
    | undefined;
  /** Takes sessions and never says that they stand. */
  withholdsReady = false;
  /** Closes every connection with this code as soon as its session stands. */
  hangsUpWith: number | undefined;
  /** Connections ever made. */
  connections = 0;
  identifies = 0;
  resumes = 0;

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  connected(): number {
    return [...this.#sessions.values()].filter((one) => one.socket).length;
  }

  accept(socket: WebSocket): void {
    this.#sockets.add(socket);
    this.connections += 1;
    let session: Session | undefined;
    let deadline: NodeJS.Timeout | undefined;
    const expectHeartbeat = (): void => {
      clearTimeout(deadline);
      deadline = setTimeout(() => {
        this.#options.violation("gateway: no heartbeat in time");
        socket.close(CLOSE.sessionTimedOut, "Session timed out");
      }, this.heartbeatIntervalMs * HEARTBEAT_GRACE);
      deadline.unref();
    };
    socket.on("close", () => {
      clearTimeout(deadline);
      this.#sockets.delete(socket);
      if (session?.socket === socket) session.socket = undefined;
    });
    socket.on("message", (data) => {
      let frame: Frame;
      try {
        frame = JSON.parse(String(data)) as Frame;
      } catch {
        socket.close(4002, "Decode error");
        return;
      }
      this.#options.record("in", hideToken(frame));
      switch (frame.op) {
        case OP.heartbeat:
          expectHeartbeat();
          if (this.acknowledgesHeartbeats) this.#write(socket, { op: OP.heartbeatAck });
          return;
        case OP.identify:
          session = this.#identify(socket, frame.d as { token: string; intents: number });
          this.#hangUp(socket);
          return;
        case OP.resume:
          session = this.#resume(socket, frame.d as { token: string; session_id: string; seq: number });
          this.#hangUp(socket);
          return;
        default:
          return;
      }
    });
    this.#write(socket, { op: OP.hello, d: { heartbeat_interval: this.heartbeatIntervalMs, _trace: [] } });
    expectHeartbeat();
  }

  #identify(socket: WebSocket, data: { token: string; intents: number }): Session | undefined {
    this.identifies += 1;
    if (data.token !== this.#options.token()) {
      socket.close(CLOSE.authenticationFailed, "Authentication failed.");
      return undefined;
    }
    if ((data.intents & PRIVILEGED & ~this.#options.allowedIntents()) !== 0) {
      socket.close(CLOSE.disallowedIntents, "Disallowed intent(s).");
      return undefined;
    }
    const session: Session = { id: this.#options.newId(), intents: data.intents, sequence: 0, sent: [], socket };
    this.#sessions.set(session.id, session);
    if (this.withholdsReady) return session;
    this.#dispatch(session, "READY", this.#options.ready(session.id));
    for (const { event, data: payload } of this.#options.welcome()) this.#dispatch(session, event, payload);
    return session;
  }

  #resume(socket: WebSocket, data: { token: string; session_id: string; seq: number }): Session | undefined {
    const session = this.#sessions.get(data.session_id);
    if (!session || data.token !== this.#options.token()) {
      this.#write(socket, { op: OP.invalidSession, d: false });
      return undefined;
    }
    this.resumes += 1;
    session.socket = socket;
    const missed = this.#isDeaf(session) ? [] : session.sent.filter((one) => (one.s ?? 0) > data.seq);
    for (const frame of missed) this.#write(socket, frame);
    this.#dispatch(session, "RESUMED", {});
    return session;
  }

  /** To every session that asked for it; kept for a resume when its socket is away. */
  dispatch(event: string, data: (intents: number) => unknown, needs: number): void {
    for (const session of this.#sessions.values())
      if ((session.intents & needs) === needs) this.#dispatch(session, event, data(session.intents));
  }

  /** Sends the newest event once more with its old sequence number, as a replay after a resume may do. */
  duplicate(event: string): void {
    for (const session of this.#sessions.values()) {
      const frame = [...session.sent].reverse().find((one) => one.t === event);
      if (frame && session.socket) this.#write(session.socket, frame);
    }
  }

  #dispatch(session: Session, event: string, data: unknown): void {
    session.sequence += 1;
    const frame: Frame = { op: OP.dispatch, t: event, s: session.sequence, d: data };
    session.sent.push(frame);
    if (session.sent.length > REPLAY_LIMIT) session.sent.shift();
    if (session.socket && (!this.#isDeaf(session) || event === "RESUMED")) this.#write(session.socket, frame);
  }

  #hangUp(socket: WebSocket): void {
    const code = this.hangsUpWith;
    // The last frames have to be read first.
    if (code !== undefined) setTimeout(() => socket.close(code, "going away"), 20).unref();
  }

  deafen(to: "socket" | "session"): void {
    this.#deaf = { to, sockets: new Set(this.#sockets), sessions: new Set(this.#sessions.keys()) };
  }

  #isDeaf(session: Session): boolean {
    if (!this.#deaf || !session.socket) return false;
    return this.#deaf.to === "socket" ? this.#deaf.sockets.has(session.socket) : this.#deaf.sessions.has(session.id);
  }

  reconnect(): void {
    for (const socket of this.#sockets) this.#write(socket, { op: OP.reconnect, d: null });
  }

  invalidate(): void {
    this.#sessions.clear();
    for (const socket of this.#sockets) this.#write(socket, { op: OP.invalidSession, d: false });
  }

  close(code: number, reason: string): void {
    for (const socket of this.#sockets) socket.close(code, reason);
  }

  /** Cuts the connections without a word. */
  drop(): void {
    for (const socket of this.#sockets) socket.terminate();
  }

  forget(): void {
    this.#sessions.clear();
  }

  #write(socket: WebSocket, frame: Frame): void {
    this.#options.record("out", frame);
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(frame));
  }
}

function hideToken(frame: Frame): Frame {
  if (frame.d === null || typeof frame.d !== "object" || !("token" in frame.d)) return frame;
  return { ...frame, d: { ...frame.d, token: "(hidden)" } };
}
