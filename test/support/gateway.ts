/**
 * A whole gateway in this process, on a temporary state directory and a free port, and a person who talks to it over
 * a real WebSocket as the web chat does.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import JSON5 from "json5";
import pino from "pino";
import { WebSocket } from "ws";
import type { ApprovalCard, Card, PressAction, RunCard } from "../../src/core/cards.ts";
import type { Clock } from "../../src/core/clock.ts";
import { loadConfig, renderProblems } from "../../src/core/config/load.ts";
import { createGateway, type Gateway } from "../../src/gateway/gateway.ts";
import { createLogger } from "../../src/gateway/logging.ts";
import type { RunningServer } from "../../src/gateway/server-deps.ts";
import type { ChatEntry, MethodName, MethodParams, MethodResults, ServerFrame } from "../../src/protocol/frames.ts";
import { eventually } from "./state.ts";

export const TOKEN = "test-token-0123456789abcdef0123456789";

export interface TestGateway {
  readonly stateDir: string;
  readonly url: string;
  readonly gateway: Gateway;
  person(chatId?: string, locale?: string): Promise<Person>;
  /** One tool call over HTTP. */
  tool(tool: string, args: object, more?: object): Promise<{ status: number; body: ToolAnswer }>;
  /** Stops this life and starts another on the same state. */
  restart(): Promise<void>;
  /** Starts another life, where a test has stopped the last one itself. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export type ToolAnswer =
  | {
      readonly ok: true;
      readonly result: { content: { type: string; text: string }[]; details: Record<string, unknown> };
    }
  | { readonly ok: false; readonly error: { code: string; message: string } };

export interface TestGatewayOptions {
  readonly config?: object;
  readonly redisUrl?: string;
  /** Gets each line of the log. Default: nothing is logged. */
  readonly onLog?: (line: Readonly<Record<string, unknown>>) => void;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Secrets of chat accounts. */
  readonly env?: Readonly<Record<string, string>>;
}

export async function startTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const stateDir = await mkdtemp(join(tmpdir(), "openclaw-exec-gw-"));
  const config = options.config ?? { tools: { exec: { mode: "ask" } } };
  await writeFile(join(stateDir, "openclaw.json"), JSON5.stringify(config), { mode: 0o600 });
  const people: Person[] = [];
  let gateway: Gateway;
  let server: RunningServer;

  async function up(): Promise<void> {
    const loaded = await loadConfig({
      env: {
        OPENCLAW_STATE_DIR: stateDir,
        HOME: stateDir,
        ...options.env,
        ...(options.redisUrl ? { REDIS_URL: options.redisUrl } : {}),
      },
      workingDir: stateDir,
    });
    if (!loaded.ok) throw new Error(renderProblems(loaded.file.path, loaded.problems));
    gateway = await createGateway({
      loaded,
      config: () => loaded.config,
      token: TOKEN,
      version: "0.0.0-test",
      logger: options.onLog ? loggingTo(options.onLog) : pino({ level: "silent" }),
      host: "127.0.0.1",
      port: 0,
      ...(options.clock ? { clock: options.clock } : {}),
    });
    const started = await gateway.start();
    if (!started) throw new Error("no server was started");
    server = started;
  }
  await up();

  const hangUp = () => Promise.all(people.splice(0).map((person) => person.leave()));
  return {
    stateDir,
    get url() {
      return server.url;
    },
    get gateway() {
      return gateway;
    },
    async person(chatId = "main", locale) {
      const person = await Person.join(server.url, chatId, TOKEN, locale);
      people.push(person);
      return person;
    },
    async tool(tool, args, more = {}) {
      const response = await fetch(`${server.url}/tools/invoke`, {
        method: "POST",
        headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
        body: JSON.stringify({ tool, args, ...more }),
      });
      return { status: response.status, body: (await response.json()) as ToolAnswer };
    },
    async start() {
      await hangUp();
      await up();
    },
    async restart() {
      await hangUp();
      await gateway.stop({ drainMs: 3_000, reason: "restart" });
      await up();
    },
    async stop() {
      await hangUp();
      await gateway.stop({ drainMs: 3_000, reason: "end of test" });
      // A shell that still writes its snapshot may put a file back.
      await rm(stateDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

function loggingTo(onLog: (line: Readonly<Record<string, unknown>>) => void) {
  const destination = { write: (line: string) => onLog(JSON.parse(line)) };
  return createLogger({ level: "info", destination, pretty: false });
}

/** How long a request may stay without its answer; a socket that was closed never gives one. */
const ANSWER_MS = 20_000;

async function answeredWithin<T>(answered: Promise<T>, method: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${method} was not answered within ${ANSWER_MS} ms`)), ANSWER_MS);
  });
  try {
    return await Promise.race([answered, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Sees one conversation exactly as the web chat does: by entries that replace or add messages. */
export class Person {
  readonly #socket: WebSocket;
  readonly #chatId: string;
  readonly #answers = new Map<string, (frame: Extract<ServerFrame, { type: "res" }>) => void>();
  readonly #messages = new Map<string, ChatEntry>();
  readonly history: Card[] = [];

  private constructor(socket: WebSocket, chatId: string) {
    this.#socket = socket;
    this.#chatId = chatId;
    socket.on("message", (data) => this.#receive(JSON.parse(String(data)) as ServerFrame));
  }

  static async join(url: string, chatId: string, token: string = TOKEN, locale?: string): Promise<Person> {
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}/ws`);
    const person = new Person(socket, chatId);
    await new Promise((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    await person.call("connect", {
      protocol: 1,
      client: { id: crypto.randomUUID(), kind: "cli", version: "test" },
      token,
      ...(locale === undefined ? {} : { locale }),
    });
    const opened = await person.call("chat.open", { chatId, limit: 200 });
    for (const entry of opened.entries) person.#take(entry);
    return person;
  }

  async call<M extends MethodName>(method: M, params: MethodParams[M]): Promise<MethodResults[M]> {
    const id = crypto.randomUUID();
    const answered = new Promise<Extract<ServerFrame, { type: "res" }>>((resolve) => this.#answers.set(id, resolve));
    this.#socket.send(JSON.stringify({ type: "req", id, method, params }));
    const frame = await answeredWithin(answered, method);
    if (!frame.ok) throw Object.assign(new Error(frame.error.message), { code: frame.error.code });
    return frame.payload as MethodResults[M];
  }

  async say(text: string, clientId: string = crypto.randomUUID()): Promise<void> {
    await this.call("chat.send", { chatId: this.#chatId, clientId, text });
  }

  async press(action: PressAction, clientId: string = crypto.randomUUID()): Promise<void> {
    await this.call("chat.press", { chatId: this.#chatId, clientId, action });
  }

  /** What is on the screen now, in order. */
  screen(): Card[] {
    return [...this.#messages.values()].sort((a, b) => a.order - b.order).map((entry) => entry.card);
  }

  /** The first card on the screen that fits, as soon as there is one. */
  see<K extends Card["kind"]>(
    kind: K,
    fits: (card: Extract<Card, { kind: K }>) => boolean,
    ms = 20_000,
  ): Promise<Extract<Card, { kind: K }>> {
    const find = () =>
      this.screen().find((card): card is Extract<Card, { kind: K }> => card.kind === kind && fits(card as never));
    return eventually(find, ms).catch(() => {
      throw new Error(`No ${kind} card fits. On the screen:\n${JSON.stringify(this.screen(), null, 1)}`);
    });
  }

  request(command: string): Promise<ApprovalCard> {
    return this.see("approval", (card) => card.command === command && card.state === "pending");
  }

  ended(command: string): Promise<RunCard> {
    return this.see("run", (card) => card.command === command && card.state === "finished");
  }

  async decide(card: ApprovalCard, decision: "allow-once" | "allow-always" | "deny", comment?: string): Promise<void> {
    await this.press({
      kind: "approval",
      approvalId: card.approvalId,
      decision,
      ...(comment === undefined ? {} : { comment }),
    });
  }

  async leave(): Promise<void> {
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    const closed = new Promise((resolve) => this.#socket.once("close", resolve));
    this.#socket.close();
    await closed;
  }

  #receive(frame: ServerFrame): void {
    if (frame.type === "res") this.#answers.get(frame.id)?.(frame);
    else if (frame.event === "chat.entry") this.#take(frame.payload.entry);
  }

  /** An entry can come right behind the snapshot that is still being taken in: the newer one stays. */
  #take(entry: ChatEntry): void {
    if ((this.#messages.get(entry.messageId)?.seq ?? 0) > entry.seq) return;
    this.#messages.set(entry.messageId, entry);
    this.history.push(entry.card);
  }
}
