/**
 * What the three emulators have in common: one HTTP + WebSocket port, a journal, faults, a clock, waiting for a change,
 * the person API over HTTP (`/_emu/*`) and the page where a person plays a user of the platform (`/`).
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type WebSocket, WebSocketServer } from "ws";
import { EmulatorClock } from "./clock.ts";
import { type Fault, Faults } from "./faults.ts";
import { type EmulatorReply, type EmulatorRequest, readRequest, writeReply } from "./http.ts";
import { Journal } from "./journal.ts";
import { type PageState, type PageTheme, renderPage } from "./page.ts";

export interface StartOptions {
  /** 0 (default) takes a free one. */
  readonly port?: number;
  readonly host?: string;
}

/** A person's act, reachable in code and as `POST /_emu/<name>` with a JSON array of its arguments. */
export type PersonAct = (...args: never[]) => unknown;

const DEFAULT_WAIT_MS = 5000;

export abstract class EmulatorServer {
  readonly clock = new EmulatorClock();
  readonly faults = new Faults();
  readonly journal = new Journal(
    () => this.clock.now(),
    () => this.lookAgain(),
  );

  private server: Server | undefined;
  private port = 0;
  private host = "127.0.0.1";
  private readonly connections = new Set<Socket>();
  private readonly sockets = new Set<WebSocket>();
  private readonly pages = new Set<ServerResponse>();
  private readonly watchers = new Set<() => void>();
  private readonly upgrader = new WebSocketServer({ noServer: true });

  get url(): string {
    return `http://${this.host}:${this.port}`;
  }

  get wsUrl(): string {
    return `ws://${this.host}:${this.port}`;
  }

  /** Rules of the platform that the product has broken so far. */
  get violations(): string[] {
    return this.journal.violations;
  }

  async start(options: StartOptions = {}): Promise<void> {
    this.host = options.host ?? this.host;
    const server = createServer((request, response) => void this.serve(request, response));
    server.on("connection", (socket) => {
      this.connections.add(socket);
      socket.once("close", () => this.connections.delete(socket));
    });
    server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) =>
      this.upgrade(request, socket, head),
    );
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(options.port ?? this.port, this.host, resolve);
    });
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
  }

  async stop(): Promise<void> {
    const server = this.server;
    this.server = undefined;
    for (const page of this.pages) page.end();
    this.pages.clear();
    for (const socket of this.sockets) socket.close(1001);
    if (server === undefined) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // A client that stops at the same moment is still in its close handshake; cutting it would make it wait 30 s.
    if (this.connections.size > 0) await Promise.race([closed, sleep(200)]);
    for (const connection of this.connections) connection.destroy();
    await closed;
  }

  /** Gone and back on the same port with the same state, as after a deploy. */
  async restart(downMs = 0): Promise<void> {
    const { port } = this;
    await this.stop();
    if (downMs > 0) await sleep(downMs);
    await this.start({ port });
  }

  /** Cuts every TCP connection without a word. */
  drop(): void {
    for (const connection of this.connections) connection.destroy();
  }

  fail(method: string, fault: Fault): void {
    this.faults.fail(method, fault);
  }

  delay(ms: number, method?: string): void {
    this.faults.delay(ms, method);
  }

  /** Forgets the journal, faults and time; the platform's own state is forgotten by `resetState`. */
  reset(): void {
    this.journal.reset();
    this.faults.reset();
    this.clock.reset();
    this.resetState();
    this.changed();
  }

  /** Resolves with the first defined result of `probe`, looked at again after every change. */
  async waitUntil<T>(probe: () => T | undefined, ms = DEFAULT_WAIT_MS, what = "a change"): Promise<T> {
    const found = probe();
    if (found !== undefined) return found;
    return await new Promise<T>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.watchers.delete(look);
        reject(new Error(`Waited ${ms} ms for ${what}; it did not come.`));
      }, ms);
      const look = (): void => {
        const result = probe();
        if (result === undefined) return;
        clearTimeout(timer);
        this.watchers.delete(look);
        resolve(result);
      };
      this.watchers.add(look);
    });
  }

  /** The platform's API. `undefined`: no such route. */
  protected abstract handle(request: EmulatorRequest): Promise<EmulatorReply | undefined>;
  /** The platform's own answer to an unknown route. */
  protected abstract unknownRoute(request: EmulatorRequest): EmulatorReply;
  /** The platform's own form of an injected fault. */
  protected abstract faultReply(fault: Fault): EmulatorReply;
  /** A WebSocket the client opened. Platforms without one refuse. */
  protected abstract accept(socket: WebSocket, request: IncomingMessage): void;
  protected abstract resetState(): void;
  protected abstract readonly theme: PageTheme;
  protected abstract pageState(user: string | undefined, chat: string | undefined): PageState;
  protected abstract readonly personActs: Readonly<Record<string, PersonAct>>;

  /** Tells waiting tests and open pages that something happened. */
  protected changed(): void {
    this.lookAgain();
    for (const page of this.pages) page.write("data: changed\n\n");
  }

  private lookAgain(): void {
    for (const look of [...this.watchers]) look();
  }

  /** Applies an armed fault and delay to one API call. `work` runs unless the fault comes before it. */
  protected async withFaults(
    method: string,
    request: EmulatorRequest,
    work: () => Promise<EmulatorReply>,
  ): Promise<EmulatorReply | "cut"> {
    const fault = this.faults.take(method, request.parts.length > 0);
    const delayMs = this.faults.delayFor(method);
    if (fault?.cut === true) return "cut";
    if (fault?.loseReply === true) {
      await work();
      return "cut";
    }
    if (fault?.holdReplyMs !== undefined) {
      const reply = await work();
      await sleep(fault.holdReplyMs, undefined, { signal: request.signal }).catch(() => {});
      return reply;
    }
    if (fault !== undefined) return this.faultReply(fault);
    if (delayMs > 0) await sleep(delayMs, undefined, { signal: request.signal }).catch(() => {});
    return await work();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const parsed = await readRequest(request, response);
      if (parsed.path === "/" && parsed.method === "GET") {
        writeReply(response, {
          status: 200,
          headers: { "content-type": "text/html; charset=utf-8" },
          body: renderPage(this.theme),
        });
        return;
      }
      if (parsed.path === "/favicon.ico") {
        writeReply(response, { status: 204 });
        return;
      }
      if (parsed.path.startsWith("/_ui/")) {
        this.servePage(parsed, response);
        return;
      }
      if (parsed.path.startsWith("/_emu/")) {
        await this.servePerson(parsed, response);
        return;
      }
      const reply = await this.handle(parsed);
      if (reply === undefined) {
        const entry = this.journal.record({
          dir: "in",
          via: "http",
          what: `${parsed.method} ${this.journalPath(parsed.path)}`,
        });
        entry.violations.push("unknown route");
        writeReply(response, this.unknownRoute(parsed));
      } else if (reply.status === 0) response.destroy();
      else writeReply(response, reply);
    } catch (error) {
      if (response.headersSent || response.destroyed) return;
      this.journal.violate(
        `emulator fault: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      );
      writeReply(response, { status: 500, body: "emulator fault" });
    }
  }

  /** Keeps tokens that a platform puts in the path out of the journal. */
  protected journalPath(path: string): string {
    return path;
  }

  private servePage(request: EmulatorRequest, response: ServerResponse): void {
    if (request.path === "/_ui/events") {
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
      response.write("data: ready\n\n");
      this.pages.add(response);
      response.once("close", () => this.pages.delete(response));
      return;
    }
    if (request.path === "/_ui/state") {
      const state = this.pageState(request.query.get("user") ?? undefined, request.query.get("chat") ?? undefined);
      writeReply(response, { status: 200, json: state });
      return;
    }
    writeReply(response, { status: 404, body: "not found" });
  }

  private async servePerson(request: EmulatorRequest, response: ServerResponse): Promise<void> {
    const name = request.path.slice("/_emu/".length);
    const act = Object.hasOwn(this.personActs, name) ? this.personActs[name] : undefined;
    if (act === undefined || request.method !== "POST" || !Array.isArray(request.body)) {
      writeReply(response, {
        status: 404,
        json: { error: `POST one of ${Object.keys(this.personActs).join(", ")} with a JSON array` },
      });
      return;
    }
    try {
      const result = await act(...(request.body as never[]));
      writeReply(response, { status: 200, json: { result: result ?? null } });
    } catch (error) {
      writeReply(response, { status: 400, json: { error: error instanceof Error ? error.message : String(error) } });
    }
  }

  private upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    this.upgrader.handleUpgrade(request, socket, head, (client) => {
      this.sockets.add(client);
      client.once("close", () => this.sockets.delete(client));
      client.on("error", () => client.terminate());
      this.accept(client, request);
    });
  }
}

/** A reply that cuts the connection instead. */
export const CUT: EmulatorReply = { status: 0 };
