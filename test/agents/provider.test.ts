/** What leaves for a provider: the network is replaced, since two of these addresses are the real ones. */
import { generateText } from "ai";
import { afterEach, describe, expect, it, vi } from "vitest";
import { MAX_ANSWER_BYTES, openModel, splitModelName } from "../../src/agents/provider.ts";

interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
  readonly redirect: string | undefined;
}

const OPENAI = { choices: [{ message: { role: "assistant", content: "hi" }, finish_reason: "stop" }], usage: {} };
const ANTHROPIC = {
  type: "message",
  id: "m",
  model: "m",
  content: [{ type: "text", text: "hi" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 1, output_tokens: 1 },
};

function network(answer: () => BodyInit): Sent[] {
  const sent: Sent[] = [];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    const body = JSON.parse(String(init.body)) as Record<string, unknown>;
    sent.push({ url: String(url), headers: new Headers(init.headers), body, redirect: init.redirect });
    return new Response(answer(), { headers: { "content-type": "application/json" } });
  });
  return sent;
}
afterEach(() => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

type Api = "openai-completions" | "anthropic-messages";
async function ask(api: Api, more: { baseUrl?: string; key?: string } = {}): Promise<string> {
  const { baseUrl, key } = more;
  const model = await openModel({
    name: "far/small",
    providers: { far: { api, ...(baseUrl ? { baseUrl } : {}) } },
    keys: key ? { far: key } : {},
  });
  return (await generateText({ model, prompt: "hello", maxOutputTokens: 50, maxRetries: 0 })).text;
}

describe("a provider", () => {
  it("OpenAI itself gets the newer name of the limit; a compatible one the older; a key follows no redirect", async () => {
    const sent = network(() => JSON.stringify(OPENAI));
    expect(await ask("openai-completions", { key: "k-1" })).toBe("hi");
    await ask("openai-completions", { baseUrl: "http://127.0.0.1:9/v1/" });
    expect(sent[0]).toMatchObject({
      url: "https://api.openai.com/v1/chat/completions",
      body: { model: "small", max_completion_tokens: 50 },
      redirect: "error",
    });
    expect(sent[0]?.body).not.toHaveProperty("max_tokens");
    expect(sent[0]?.headers.get("authorization")).toBe("Bearer k-1");
    expect(sent[1]).toMatchObject({ url: "http://127.0.0.1:9/v1/chat/completions", body: { max_tokens: 50 } });
    expect(sent[1]?.headers.get("authorization")).toBeNull();
  });

  it("a key of the environment is never taken without being named", async () => {
    vi.stubEnv("ANTHROPIC_API_KEY", "not-yours");
    vi.stubEnv("OPENAI_API_KEY", "not-yours");
    const sent = network(() => JSON.stringify(ANTHROPIC));
    expect(await ask("anthropic-messages")).toBe("hi");
    expect(sent[0]?.headers.get("x-api-key")).toBeNull();
    expect(sent[0]?.headers.get("authorization")).toBeNull();
    await ask("anthropic-messages", { key: "k-2" });
    expect(sent[1]?.headers.get("x-api-key")).toBe("k-2");
  });

  it("an answer without an end is given up", async () => {
    network(() => new Uint8Array(MAX_ANSWER_BYTES + 1).fill(32));
    await expect(ask("openai-completions")).rejects.toThrow();
  });

  it("a name without its provider is refused with what to write", async () => {
    await expect(openModel({ name: "near/x", providers: {}, keys: {} })).rejects.toMatchObject({
      code: "invalid-argument",
    });
    expect(splitModelName("a/b/c")).toEqual({ provider: "a", id: "b/c" });
    expect(splitModelName("none")).toEqual({ provider: "", id: "none" });
  });
});
