/** The address Telegram posts updates to. Answers 200 only after the update is durably taken; Telegram repeats otherwise. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Bot, webhookCallback } from "grammy";
import type { Update } from "grammy/types";
import { type Phrase, phrase } from "../../core/words/phrase.ts";
import { Recent } from "../recent.ts";
import { MAX_TAKEN, MAX_WEBHOOK_BYTES, WEBHOOK_ANSWER_MS } from "./limits.ts";

export interface WebhookOptions {
  /** Public address, as given to Telegram. */
  readonly url: string;
  /** 1 to 256 characters of `A-Za-z0-9_-`; compared in constant time. */
  readonly secret: string;
  readonly path: string;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
}

const SECRET_HEADER = "x-telegram-bot-api-secret-token";
const HEALTH_PATH = "/healthz";
/** core.telegram.org/bots/api#setwebhook. Without a secret anybody could post updates. */
const SECRET = /^[A-Za-z0-9_-]{1,256}$/;

export function webhookProblem({ secret }: WebhookOptions): Phrase | undefined {
  if (SECRET.test(secret)) return undefined;
  return phrase("channel.telegram.secret");
}

/**
 * Takes each update once, however often it is posted: one that is still on its way is waited for, so that a store that has
 * become slow never makes Telegram repeat the same post for ever.
 */
export class TakenOnce {
  readonly #take: (update: Update) => Promise<void>;
  readonly #onTheirWay = new Map<number, Promise<void>>();
  readonly #taken = new Recent<true>(MAX_TAKEN);

  constructor(take: (update: Update) => Promise<void>) {
    this.#take = take;
  }

  take(update: Update): Promise<void> {
    const id = update.update_id;
    if (this.#taken.has(String(id))) return Promise.resolve();
    const going = this.#onTheirWay.get(id);
    if (going) return going;
    const taking = this.#take(update)
      .then(() => this.#taken.set(String(id), true))
      .finally(() => this.#onTheirWay.delete(id));
    this.#onTheirWay.set(id, taking);
    return taking;
  }
}

export class WebhookServer {
  readonly #options: WebhookOptions;
  readonly #server: Server;
  readonly #answer: (body: string, request: IncomingMessage, response: ServerResponse) => unknown;

  constructor(bot: Bot, options: WebhookOptions, onError: (error: unknown) => void) {
    this.#options = options;
    this.#answer = webhookCallback(bot, httpAdapter, {
      secretToken: options.secret,
      timeoutMilliseconds: WEBHOOK_ANSWER_MS,
    });
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        onError(error);
        // Anything but 2xx makes Telegram send the update again.
        if (!response.headersSent) response.writeHead(error instanceof SyntaxError ? 400 : 500);
        response.end();
      });
    });
  }

  async listen(): Promise<AddressInfo> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(this.#options.port, this.#options.host, resolve);
    });
    return this.#server.address() as AddressInfo;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeIdleConnections();
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").split("?", 1)[0];
    if (path === HEALTH_PATH && request.method === "GET") {
      response.writeHead(200).end("ok");
      return;
    }
    if (path !== this.#options.path || request.method !== "POST") {
      response.writeHead(404).end();
      return;
    }
    const body = await readBody(request);
    if (body === undefined) {
      response.writeHead(413, { connection: "close" }).end();
      return;
    }
    await this.#answer(body, request, response);
  }
}

/** The library compares the secret before it asks for the update, so a stranger's body is never parsed. */
function httpAdapter(body: string, request: IncomingMessage, response: ServerResponse) {
  const header = request.headers[SECRET_HEADER];
  return {
    get update() {
      return parseUpdate(body);
    },
    ...(typeof header === "string" ? { header } : {}),
    end: () => void response.writeHead(200).end(),
    respond: (json: string) => void response.writeHead(200, { "content-type": "application/json" }).end(json),
    unauthorized: () => void response.writeHead(401).end(),
  };
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > MAX_WEBHOOK_BYTES) return undefined;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function parseUpdate(body: string): Promise<Update> {
  const parsed: unknown = JSON.parse(body);
  if (parsed !== null && typeof parsed === "object" && "update_id" in parsed) return parsed as Update;
  throw new SyntaxError("not an update");
}
