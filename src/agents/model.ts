/**
 * One completion from a configured model, by plain HTTP: the two protocols that nearly every provider speaks. Used by
 * the automatic reviewer; it never sees a chat, a file or the value of a variable.
 */
import type { Config } from "../core/config/schema.ts";
import { ExecError } from "../core/errors.ts";
import type { ReviewerModel } from "../core/policy/reviewer.ts";

const OPENAI_BASE = "https://api.openai.com/v1";
const ANTHROPIC_BASE = "https://api.anthropic.com/v1";
/** The protocol's version, sent with every request (Anthropic API reference). */
const ANTHROPIC_VERSION = "2023-06-01";
/** Characters of an answer that are read; a completion is far shorter. */
const MAX_ANSWER_CHARS = 200_000;

export interface ModelOptions {
  /** `provider/model`, as in `tools.exec.reviewer.model`. */
  readonly name: string;
  readonly providers: Config["models"]["providers"];
  /** API keys by provider name. */
  readonly keys: Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
}

/** Throws `invalid-argument` when the name has no provider in the configuration. */
export function openModel({ name, providers, keys, fetch: send = fetch }: ModelOptions): ReviewerModel {
  const slash = name.indexOf("/");
  const providerName = name.slice(0, slash);
  const provider = providers[providerName];
  if (slash < 1 || !provider) {
    throw new ExecError(
      "invalid-argument",
      `The model "${name}" has no provider. Write provider/model and name the provider under models.providers.`,
    );
  }
  const model = name.slice(slash + 1);
  const key = keys[providerName];
  const speak = provider.api === "anthropic-messages" ? anthropic : openai;
  return {
    async complete(request) {
      const { url, headers, body, read } = speak(provider.baseUrl, model, key, request);
      const response = await send(url, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
        signal: request.signal,
        redirect: "error",
      });
      if (!response.ok) throw new Error(`the model's provider answered ${response.status}`);
      return read(JSON.parse((await response.text()).slice(0, MAX_ANSWER_CHARS)) as unknown);
    },
  };
}

type Request = Parameters<ReviewerModel["complete"]>[0];

interface Call {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  read(answer: unknown): { readonly text: string; readonly complete: boolean };
}

function openai(base: string | undefined, model: string, key: string | undefined, request: Request): Call {
  return {
    url: `${trimmed(base ?? OPENAI_BASE)}/chat/completions`,
    headers: key ? { authorization: `Bearer ${key}` } : {},
    body: {
      model,
      temperature: request.temperature,
      max_tokens: request.maxTokens,
      messages: [
        { role: "system", content: request.system },
        { role: "user", content: request.prompt },
      ],
    },
    read(answer) {
      const [choice] =
        (answer as { choices?: { message?: { content?: string }; finish_reason?: string }[] }).choices ?? [];
      return { text: choice?.message?.content ?? "", complete: choice?.finish_reason === "stop" };
    },
  };
}

function anthropic(base: string | undefined, model: string, key: string | undefined, request: Request): Call {
  return {
    url: `${trimmed(base ?? ANTHROPIC_BASE)}/messages`,
    headers: { "anthropic-version": ANTHROPIC_VERSION, ...(key ? { "x-api-key": key } : {}) },
    body: {
      model,
      temperature: request.temperature,
      max_tokens: request.maxTokens,
      system: request.system,
      messages: [{ role: "user", content: request.prompt }],
    },
    read(answer) {
      const { content, stop_reason } = answer as { content?: { type: string; text?: string }[]; stop_reason?: string };
      const text = (content ?? []).map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
      return { text, complete: stop_reason === "end_turn" };
    },
  };
}

function trimmed(url: string): string {
  return url.replace(/\/+$/, "");
}
