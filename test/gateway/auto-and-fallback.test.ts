/** Mode `auto` with a model behind real HTTP, and what happens when nobody answers, through a started gateway. */
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { eventually } from "../support/state.ts";

let gateway: TestGateway | undefined;
let provider: Server | undefined;
afterEach(async () => {
  await gateway?.stop();
  provider?.closeAllConnections();
  provider?.close();
  gateway = undefined;
  provider = undefined;
});

/** A provider that speaks the protocol and answers what the test says; keeps what it was sent. */
async function startProvider(
  api: "openai-completions" | "anthropic-messages",
  answer: () => string | number,
): Promise<{ url: string; seen: { headers: Record<string, unknown>; body: string }[] }> {
  const seen: { headers: Record<string, unknown>; body: string }[] = [];
  provider = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      seen.push({ headers: request.headers, body });
      const said = answer();
      if (typeof said === "number") {
        response.writeHead(said).end();
        return;
      }
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify(
          api === "openai-completions"
            ? { choices: [{ message: { content: said }, finish_reason: "stop" }] }
            : {
                type: "message",
                id: "msg_1",
                model: "small",
                content: [{ type: "text", text: said }],
                stop_reason: "end_turn",
                usage: { input_tokens: 1, output_tokens: 1 },
              },
        ),
      );
    });
  });
  const server = provider;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const auto = (api: string, url: string) => ({
  tools: { exec: { mode: "auto", reviewer: { model: "house/small", timeoutMs: 2_000 } } },
  models: { providers: { house: { api, baseUrl: url, apiKey: "env:HOUSE_KEY" } } },
});
const ALLOW = '{"decision":"allow","risk":"low","rationale":"reads a date"}';

describe("mode auto", () => {
  it.each(["openai-completions", "anthropic-messages"] as const)(
    "runs what the reviewer allows at low risk, without a card, and stores nothing (%s)",
    async (api) => {
      const { url, seen } = await startProvider(api, () => ALLOW);
      gateway = await startTestGateway({ config: auto(api, url), env: { HOUSE_KEY: "house-key-0123456789" } });
      const { body } = await gateway.tool("exec", { command: "date +%Y", env: { LANG: "C" } });
      if (!body.ok) throw new Error(body.error.message);
      expect(body.result.details).toMatchObject({ status: "completed", exitCode: 0 });
      expect(seen).toHaveLength(1);
      expect(JSON.stringify(seen[0]?.headers)).toContain("house-key-0123456789");
      expect(seen[0]?.body).toContain("date +%Y");
      const again = await gateway.tool("exec", { command: "date +%Y" });
      expect(again.status).toBe(200);
      expect(seen).toHaveLength(2);
    },
  );

  it.each<[string, () => string | number]>([
    ["says ask", () => '{"decision":"ask","risk":"low","rationale":"not sure"}'],
    ["allows at medium risk", () => '{"decision":"allow","risk":"medium"}'],
    ["answers no JSON", () => "Sure, go ahead!"],
    ["repeats a key", () => '{"decision":"ask","decision":"allow","risk":"low"}'],
    ["fails", () => 500],
  ])("card-after-auto-resolve: asks a person when the reviewer %s", async (_name, answer) => {
    const { url } = await startProvider("openai-completions", answer);
    gateway = await startTestGateway({
      config: auto("openai-completions", url),
      env: { HOUSE_KEY: "house-key-0123456789" },
    });
    const { body } = await gateway.tool("exec", { command: "date +%Y" });
    if (!body.ok) throw new Error(body.error.message);
    expect(body.result.details).toMatchObject({ status: "approval-pending" });
  });

  it("asks a person when no model is configured", async () => {
    gateway = await startTestGateway({ config: { tools: { exec: { mode: "auto" } } } });
    const { body } = await gateway.tool("exec", { command: "date +%Y" });
    if (!body.ok) throw new Error(body.error.message);
    expect(body.result.details).toMatchObject({ status: "approval-pending" });
  });
});

describe("when nobody answers in time", () => {
  async function unanswered(askFallback: string | undefined, command: string): Promise<string> {
    gateway = await startTestGateway({ config: { tools: { exec: { mode: "ask" } }, approvals: { timeoutSec: 1 } } });
    const file = { version: 1, defaults: askFallback === undefined ? {} : { askFallback }, agents: {} };
    await writeFile(join(gateway.stateDir, "exec-approvals.json"), JSON.stringify(file), { mode: 0o600 });
    const person = await gateway.person();
    await person.say(`/exec ${command}`);
    const card = await person.request(command);
    await person.see("approval", (one) => one.approvalId === card.approvalId && one.state === "expired");
    // The expiry has been worked off once a later request of the same kind has been as well.
    await person.say("/status");
    await person.see("text", (one) => one.title !== undefined && /well|look/.test(one.title));
    return readFile(join(gateway.stateDir, "workspace", "effect"), "utf8").catch(() => "nothing ran");
  }

  it("nothing runs by default: silence is not consent", async () => {
    expect(await unanswered(undefined, "echo ran > effect")).toBe("nothing ran");
  });

  it("askFallback full under security allowlist degrades to allowlist: an unlisted command does not run", async () => {
    expect(await unanswered("full", "echo ran > effect")).toBe("nothing ran");
  });

  it("askFallback allowlist runs what is listed although it asks every time", async () => {
    gateway = await startTestGateway({
      config: { tools: { exec: { security: "allowlist", ask: "always" } }, approvals: { timeoutSec: 1 } },
    });
    const file = {
      version: 1,
      defaults: { askFallback: "allowlist" },
      agents: { "*": { allowlist: [{ pattern: "date" }] } },
    };
    await writeFile(join(gateway.stateDir, "exec-approvals.json"), JSON.stringify(file), { mode: 0o600 });
    const person = await gateway.person();
    await person.say("/exec date +%Y");
    const card = await person.request("date +%Y");
    const ended = await person.ended("date +%Y");
    expect(ended).toMatchObject({ outcome: "completed", approvalId: card.approvalId });
    await eventually(async () =>
      /exit 0/.test((await person.see("approval", (one) => one.approvalId === card.approvalId)).statusLine ?? ""),
    );
  });
});
