/**
 * A model provider on this machine that speaks both protocols: the OpenAI chat completions and the Anthropic messages.
 * What it says is scripted by the test; what it is sent is checked as the real ones do: an open tool call without its
 * result, a result without its call, a missing limit or a wrong schema are refused with 400 and noted.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type ModelApi = "openai-completions" | "anthropic-messages";

/** What the model does next. */
export interface ScriptedAnswer {
  readonly text?: string;
  /** `args` as text is sent as it is, also when it is not JSON. */
  readonly calls?: readonly { readonly name: string; readonly args: object | string }[];
  readonly finish?: "stop" | "length" | "filtered";
  /** Answer with this status and the provider's own error body instead. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly delayMs?: number;
  /** Close the connection in the middle of the answer. */
  readonly cut?: boolean;
  /** Send these bytes as the body, whatever they are. */
  readonly raw?: string;
}

export interface ModelRequest {
  readonly api: ModelApi;
  readonly model: string;
  readonly key: string | undefined;
  readonly system: string;
  readonly tools: readonly { readonly name: string; readonly description: string; readonly schema: JsonSchema }[];
  readonly messages: readonly Said[];
  /** Text of the last message that a person or an event put there. */
  readonly lastUser: string;
  /** Results the last message brings, in order. */
  readonly lastResults: readonly string[];
  readonly maxTokens: number | undefined;
  readonly body: string;
}

interface JsonSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, { readonly type?: string; readonly description?: string }>>;
  readonly required?: readonly string[];
}

export interface Said {
  readonly role: "user" | "assistant" | "tool";
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly args: unknown }[];
  readonly resultOf?: string;
}

export type Brain = (request: ModelRequest) => ScriptedAnswer | Promise<ScriptedAnswer>;

export class ModelEmulator {
  readonly requests: ModelRequest[] = [];
  /** Requests the real provider would have refused. */
  readonly violations: string[] = [];
  #brain: Brain = () => ({ text: "Nothing is scripted." });
  readonly #script: ScriptedAnswer[] = [];
  readonly #server: Server;
  #calls = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error) => {
        this.violations.push(`the emulator failed: ${error}`);
        response.destroy();
      });
    });
  }

  static async start(): Promise<ModelEmulator> {
    const emulator = new ModelEmulator();
    await new Promise<void>((resolve) => emulator.#server.listen(0, "127.0.0.1", resolve));
    return emulator;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** `models.providers` with this server, for a gateway whose environment has {@link env}. */
  providers(api: ModelApi, name = "house"): object {
    return { [name]: { api, baseUrl: this.url, apiKey: "env:HOUSE_MODEL_KEY" } };
  }

  readonly env = { HOUSE_MODEL_KEY: "sk-house-0123456789abcdefghij" } as const;

  /** The next answers, in order; after them the brain decides. */
  script(...answers: readonly ScriptedAnswer[]): void {
    this.#script.push(...answers);
  }

  think(brain: Brain): void {
    this.#brain = brain;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString("utf8");
    const api = incoming.url === "/v1/messages" ? "anthropic-messages" : "openai-completions";
    if (api === "openai-completions" && incoming.url !== "/v1/chat/completions") {
      this.#refuse(response, `there is no ${incoming.url}`, 404);
      return;
    }
    const json = JSON.parse(body) as Record<string, unknown>;
    const problem = api === "anthropic-messages" ? anthropicProblem(json) : openaiProblem(json);
    if (problem !== undefined) {
      this.violations.push(problem);
      this.#refuse(response, problem, 400);
      return;
    }
    const request = readRequest(api, incoming, json, body);
    this.requests.push(request);
    const answer = this.#script.shift() ?? (await this.#brain(request));
    if (answer.delayMs) await new Promise((resolve) => setTimeout(resolve, answer.delayMs));
    if (response.destroyed) return;
    for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
    if (answer.status !== undefined) {
      this.#refuse(response, `scripted ${answer.status}; the key was ${request.key}`, answer.status);
      return;
    }
    const ids = (answer.calls ?? []).map(() => `call_${++this.#calls}`);
    const text =
      answer.raw ?? JSON.stringify(api === "anthropic-messages" ? anthropic(answer, ids) : openai(answer, ids));
    response.setHeader("content-type", "application/json");
    if (answer.cut) {
      response.setHeader("content-length", Buffer.byteLength(text));
      response.write(text.slice(0, Math.floor(text.length / 2)));
      setTimeout(() => response.destroy(), 20);
      return;
    }
    response.end(text);
  }

  /** Providers like to repeat what they were sent, the key among it. */
  #refuse(response: ServerResponse, message: string, status: number): void {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ type: "error", error: { type: "scripted_error", message } }));
  }
}

function openai({ text, calls = [], finish }: ScriptedAnswer, ids: readonly string[]): object {
  const reason = finish === "length" ? "length" : finish === "filtered" ? "content_filter" : undefined;
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "small",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: text ?? null,
          ...(calls.length === 0
            ? {}
            : {
                tool_calls: calls.map((call, at) => ({
                  id: ids[at],
                  type: "function",
                  function: {
                    name: call.name,
                    arguments: typeof call.args === "string" ? call.args : JSON.stringify(call.args),
                  },
                })),
              }),
        },
        finish_reason: reason ?? (calls.length > 0 ? "tool_calls" : "stop"),
      },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  };
}

function anthropic({ text, calls = [], finish }: ScriptedAnswer, ids: readonly string[]): object {
  const reason = finish === "length" ? "max_tokens" : finish === "filtered" ? "refusal" : undefined;
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "small",
    content: [
      ...(text === undefined ? [] : [{ type: "text", text }]),
      ...calls.map((call, at) => ({ type: "tool_use", id: ids[at], name: call.name, input: call.args })),
    ],
    stop_reason: reason ?? (calls.length > 0 ? "tool_use" : "end_turn"),
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
  };
}

type Part = Record<string, unknown>;

function partsOf(content: unknown): Part[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : ((content ?? []) as Part[]);
}

function textOf(content: unknown): string {
  return partsOf(content)
    .map((part) => (typeof part.text === "string" ? part.text : ""))
    .join("");
}

function readRequest(
  api: ModelApi,
  incoming: IncomingMessage,
  json: Record<string, unknown>,
  body: string,
): ModelRequest {
  const messages = json.messages as Record<string, unknown>[];
  const said = api === "anthropic-messages" ? messages.flatMap(anthropicSaid) : messages.flatMap(openaiSaid);
  const system =
    api === "anthropic-messages"
      ? textOf(json.system)
      : messages
          .filter((one) => one.role === "system")
          .map((one) => textOf(one.content))
          .join("\n");
  const tools = ((json.tools ?? []) as Part[]).map((tool) => {
    const inner = (tool.function ?? tool) as Part;
    return {
      name: String(inner.name),
      description: String(inner.description ?? ""),
      schema: (inner.parameters ?? inner.input_schema) as JsonSchema,
    };
  });
  const lastAssistant = said.findLastIndex((one) => one.role === "assistant");
  const header = incoming.headers.authorization?.replace(/^Bearer /, "") ?? incoming.headers["x-api-key"];
  return {
    api,
    model: String(json.model),
    key: Array.isArray(header) ? header[0] : header,
    system,
    tools,
    messages: said,
    lastUser: said.findLast((one) => one.role === "user")?.text ?? "",
    lastResults: said.slice(lastAssistant + 1).flatMap((one) => (one.role === "tool" ? [one.text] : [])),
    maxTokens: (json.max_tokens ?? json.max_completion_tokens) as number | undefined,
    body,
  };
}

function openaiSaid(message: Record<string, unknown>): Said[] {
  if (message.role === "system") return [];
  if (message.role === "tool") {
    return [{ role: "tool", text: textOf(message.content), calls: [], resultOf: String(message.tool_call_id) }];
  }
  const calls = ((message.tool_calls ?? []) as Part[]).map((call) => {
    const { name, arguments: args } = call.function as { name: string; arguments: string };
    return { id: String(call.id), name, args: JSON.parse(args) as unknown };
  });
  return [{ role: message.role as "user" | "assistant", text: textOf(message.content), calls }];
}

function anthropicSaid(message: Record<string, unknown>): Said[] {
  const parts = partsOf(message.content);
  const results = parts
    .filter((part) => part.type === "tool_result")
    .map((part): Said => ({ role: "tool", text: textOf(part.content), calls: [], resultOf: String(part.tool_use_id) }));
  const rest = parts.filter((part) => part.type !== "tool_result");
  if (rest.length === 0) return results;
  const calls = rest
    .filter((part) => part.type === "tool_use")
    .map((part) => ({ id: String(part.id), name: String(part.name), args: part.input }));
  return [...results, { role: message.role as "user" | "assistant", text: textOf(rest), calls }];
}

/** Every call is answered right behind its message, and nothing else is. */
function openaiProblem(json: Record<string, unknown>): string | undefined {
  const messages = json.messages as Record<string, unknown>[] | undefined;
  if (!Array.isArray(messages) || messages.length === 0) return "messages are missing";
  let open = new Set<string>();
  for (const message of messages) {
    if (message.role === "tool") {
      if (!open.delete(String(message.tool_call_id))) return `a tool message answers no call: ${message.tool_call_id}`;
      continue;
    }
    if (open.size > 0) return `calls without a result: ${[...open].join(", ")}`;
    const calls = (message.tool_calls ?? []) as Part[];
    open = new Set(calls.map((call) => String(call.id)));
    for (const call of calls) {
      const { arguments: args } = call.function as { arguments: string };
      try {
        JSON.parse(args);
      } catch {
        return "arguments of a call in the history are no JSON";
      }
    }
    if (textOf(message.content) === "" && calls.length === 0) return `an empty ${message.role} message`;
  }
  if (open.size > 0) return `calls without a result: ${[...open].join(", ")}`;
  return schemaProblem(((json.tools ?? []) as Part[]).map((tool) => (tool.function as Part).parameters));
}

function anthropicProblem(json: Record<string, unknown>): string | undefined {
  if (typeof json.max_tokens !== "number") return "max_tokens is missing";
  const messages = json.messages as Record<string, unknown>[] | undefined;
  if (!Array.isArray(messages) || messages[0]?.role !== "user") return "the first message is not the user's";
  let open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (index > 0 && messages[index - 1]?.role === message.role) return `two ${message.role} messages in a row`;
    const parts = partsOf(message.content);
    if (parts.length === 0) return `an empty ${message.role} message`;
    if (parts.some((part) => part.type === "text" && String(part.text).trim() === "")) return "an empty text block";
    const answered = parts.filter((part) => part.type === "tool_result").map((part) => String(part.tool_use_id));
    for (const id of answered) if (!open.delete(id)) return `a tool result answers no call: ${id}`;
    if (open.size > 0) return `calls without a result: ${[...open].join(", ")}`;
    open = new Set(parts.filter((part) => part.type === "tool_use").map((part) => String(part.id)));
    if (open.size > 0 && json.tools === undefined) return "tool calls in the history, but no tools";
  }
  if (open.size > 0) return `calls without a result: ${[...open].join(", ")}`;
  return schemaProblem(((json.tools ?? []) as Part[]).map((tool) => tool.input_schema));
}

function schemaProblem(schemas: readonly unknown[]): string | undefined {
  const bad = schemas.find((schema) => (schema as JsonSchema | undefined)?.type !== "object");
  return bad === undefined ? undefined : `a tool's schema is no object: ${JSON.stringify(bad)}`;
}
