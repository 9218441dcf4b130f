import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";

let gateway: TestGateway | undefined;
afterEach(() => gateway?.stop());

async function started(mode: string): Promise<TestGateway> {
  gateway = await startTestGateway({ config: { tools: { exec: { mode } } } });
  await writeFile(join(gateway.stateDir, "workspace", "job.js"), "console.log($HOME);\n");
  return gateway;
}

describe("a script with shell syntax in it", () => {
  it("is refused with its line and what to write, before anybody is asked", async () => {
    const { tool } = await started("ask");
    const { status, body } = await tool("exec", { command: "node job.js" });
    expect(status).toBe(400);
    expect(body).toMatchObject({ ok: false, error: { code: "invalid-argument" } });
    expect(JSON.stringify(body)).toMatch(/job\.js:1 .*process\.env\[\\"HOME\\"\]/);
  });

  it("says so to a person in the chat too, without a card to approve", async () => {
    const person = await (await started("ask")).person();
    await person.say("/exec node job.js");
    await person.see("text", (card) => /exec preflight: job\.js:1/.test(card.text ?? card.title ?? ""));
    expect(person.screen().some((card) => card.kind === "approval")).toBe(false);
  });

  it("runs as it stands where everything may run unasked", async () => {
    const { tool } = await started("full");
    const { body } = await tool("exec", { command: "node job.js" });
    expect(JSON.stringify(body)).toMatch(/\$HOME is not defined/);
  });
});
