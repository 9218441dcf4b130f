/** What a gateway without a model pays for agents: nothing is loaded. Told by V8's own list of the scripts it has run. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { ModelEmulator } from "../emulators/model/model-emulator.ts";
import { ensureBuilt } from "../support/product.ts";
import { productLives } from "../support/product-lives.ts";

beforeAll(ensureBuilt, 180_000);

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** Packages a life of the product has loaded, from its start to its end. */
async function loadedIn(
  config: object,
  env: Record<string, string>,
  first: RegExp,
  second?: RegExp,
): Promise<ReadonlySet<string>> {
  const folder = await mkdtemp(join(tmpdir(), "openclaw-exec-loaded-"));
  folders.push(folder);
  const lives = await productLives({ config, env: { ...env, NODE_V8_COVERAGE: folder } });
  try {
    const person = await lives.person();
    await person.say("hello");
    await person.see("text", (card) => first.test(card.text ?? ""), 40_000);
    if (second) {
      await person.say("hello?");
      await person.see("text", (card) => second.test(card.text ?? ""), 40_000);
    }
    await lives.terminate();
  } finally {
    await lives.dispose();
  }
  const names = new Set<string>();
  for (const file of await readdir(folder)) {
    const { result } = JSON.parse(await readFile(join(folder, file), "utf8")) as { result: { url: string }[] };
    for (const { url } of result) {
      const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
      if (name !== undefined) names.add(name);
    }
  }
  return names;
}

describe("the AI SDK", () => {
  it("is not loaded by a gateway without a model, and a message gets the honest answer, once", async () => {
    const loaded = await loadedIn(
      { tools: { exec: { mode: "ask" } } },
      {},
      /no model is configured/,
      /starts with \/exec\.$/,
    );
    expect(loaded.has("hono")).toBe(true);
    expect([...loaded].filter((name) => name === "ai" || name.startsWith("@ai-sdk/"))).toEqual([]);
  });

  it("is loaded with the first turn, with the one provider that is used", async () => {
    const model = await ModelEmulator.start();
    try {
      const config = {
        models: { providers: model.providers("openai-completions") },
        agents: { defaults: { model: "house/small", heartbeat: { every: "0m" } } },
      };
      model.script({ text: "Hello." });
      const loaded = await loadedIn(config, model.env, /Hello/);
      expect(loaded.has("ai")).toBe(true);
      expect(loaded.has("@ai-sdk/openai-compatible")).toBe(true);
      expect(loaded.has("@ai-sdk/anthropic")).toBe(false);
    } finally {
      await model.stop();
    }
  });
});
