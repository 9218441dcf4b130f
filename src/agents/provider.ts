/**
 * The configured providers as language models of the AI SDK. The libraries are loaded with the first model that is
 * opened, so a gateway without one neither starts slower nor holds more.
 */
import type { LanguageModel } from "ai";
import type { Config } from "../core/config/schema.ts";
import { ExecError } from "../core/errors.ts";

type Provider = Config["models"]["providers"][string];

const OPENAI_BASE = "https://api.openai.com/v1";
const ANTHROPIC_BASE = "https://api.anthropic.com/v1";
/** An answer longer than this is no answer of a model. */
export const MAX_ANSWER_BYTES = 8 * 1_048_576;

export interface ModelOptions {
  /** `provider/model`. */
  readonly name: string;
  readonly providers: Config["models"]["providers"];
  /** API keys by provider name. */
  readonly keys: Readonly<Record<string, string>>;
}

/** The name's two halves, and the provider's settings. */
export interface NamedModel {
  readonly provider: string;
  readonly id: string;
}

export function splitModelName(name: string): NamedModel {
  const slash = name.indexOf("/");
  return { provider: name.slice(0, Math.max(0, slash)), id: name.slice(slash + 1) };
}

/** Rejects with `invalid-argument` when the name has no provider in the configuration. */
export async function openModel({ name, providers, keys }: ModelOptions): Promise<LanguageModel> {
  const { provider: providerName, id } = splitModelName(name);
  const provider = providers[providerName];
  if (!provider || id === "") {
    throw new ExecError(
      "invalid-argument",
      `The model "${name}" has no provider. Write provider/model and name the provider under models.providers.`,
    );
  }
  // The library warns on the console; what goes wrong is told by this product itself.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  return provider.api === "anthropic-messages"
    ? openAnthropic(provider, providerName, id, keys[providerName])
    : openOpenAi(provider, providerName, id, keys[providerName]);
}

async function openOpenAi(provider: Provider, name: string, id: string, key: string | undefined) {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const baseURL = trimmed(provider.baseUrl ?? OPENAI_BASE);
  const open = createOpenAICompatible({
    name,
    baseURL,
    fetch: guardedFetch(key),
    ...(key === undefined ? {} : { apiKey: key }),
    ...(baseURL === OPENAI_BASE ? { transformRequestBody: renameLimit } : {}),
  });
  return open.chatModel(id);
}

/** OpenAI's own newer models refuse the limit's older name, which the compatible ones know. */
function renameLimit({ max_tokens, ...body }: Record<string, unknown>): Record<string, unknown> {
  return max_tokens === undefined ? body : { ...body, max_completion_tokens: max_tokens };
}

async function openAnthropic(provider: Provider, name: string, id: string, key: string | undefined) {
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  // Without a key the library would take one from the environment by itself.
  const open = createAnthropic({
    name,
    baseURL: trimmed(provider.baseUrl ?? ANTHROPIC_BASE),
    apiKey: key ?? NO_KEY,
    fetch: guardedFetch(key),
  });
  return open(id);
}

const NO_KEY = "none";

/** A key never follows a redirect to another host, and an answer has an end. */
function guardedFetch(key: string | undefined): typeof fetch {
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    if (key === undefined) headers.delete("x-api-key");
    const response = await fetch(input, { ...init, headers, redirect: "error" });
    if (!response.body) return response;
    let bytes = 0;
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.byteLength;
          if (bytes > MAX_ANSWER_BYTES)
            controller.error(new Error(`the answer has more than ${MAX_ANSWER_BYTES} bytes`));
          else controller.enqueue(chunk);
        },
      }),
    );
    return new Response(counted, response);
  };
}

function trimmed(url: string): string {
  return url.replace(/\/+$/, "");
}
