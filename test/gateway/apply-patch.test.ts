import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { cliHome } from "../cli/run-cli.ts";
import { startTestGateway, type TestGateway, TOKEN } from "../support/gateway.ts";

let gateway: TestGateway;
afterEach(() => gateway.stop());

async function started(tools: object = {}, agents?: object): Promise<TestGateway> {
  gateway = await startTestGateway({ config: { tools, ...(agents ? { agents } : {}) } });
  return gateway;
}

const inWorkspace = (name: string) => join(gateway.stateDir, "workspace", name);
const patch = (...body: string[]) => ({ input: ["*** Begin Patch", ...body, "*** End Patch"].join("\n") });
const ADD = patch("*** Add File: notes/a.txt", "+one");
const call = async (args: object = ADD, more: object = {}) => (await gateway.tool("apply_patch", args, more)).body;
const refusal = async (args?: object, more?: object) => {
  const body = await call(args, more);
  return body.ok ? "it was applied" : `${body.error.code}: ${body.error.message}`;
};
const audited = async () => (await gateway.gateway.audit.read({ limit: 50 })).entries.map((entry) => entry.event);

describe("apply_patch over POST /tools/invoke", () => {
  it("changes files of the agent's workspace and says which", async () => {
    await started();
    writeFileSync(inWorkspace("b.txt"), "old\n");
    const body = await call(patch("*** Add File: notes/a.txt", "+one", "*** Update File: b.txt", "@@", "-old", "+new"));
    expect(body).toMatchObject({
      ok: true,
      result: { details: { status: "completed", summary: { added: ["notes/a.txt"], modified: ["b.txt"] } } },
    });
    expect(readFileSync(inWorkspace("notes/a.txt"), "utf8")).toBe("one\n");
    expect(readFileSync(inWorkspace("b.txt"), "utf8")).toBe("new\n");
  });

  it("keeps who asked, for which files, and how it ended, in the audit trail; not the patch", async () => {
    await started();
    await call();
    await refusal(patch("*** Update File: missing.txt", "@@", "-old", "+secret-content"));
    const events = (await audited()).filter((event) => event.type === "request" || event.type === "patch-ended");
    expect(events).toMatchObject(
      [
        { type: "request", tool: "apply_patch", command: "Add notes/a.txt", actor: { channel: "api" } },
        { type: "patch-ended", outcome: "applied", files: ["A notes/a.txt"], patchHash: /^[0-9a-f]{64}$/ },
        { type: "request", command: "Update missing.txt" },
        { type: "patch-ended", outcome: "failed", files: [] },
      ].map((event) =>
        "patchHash" in event ? { ...event, patchHash: expect.stringMatching(event.patchHash as RegExp) } : event,
      ),
    );
    expect(events[1]).toHaveProperty("requestId", (events[0] as { requestId: string }).requestId);
    expect(JSON.stringify(events)).not.toContain("secret-content");
  });

  it("leaves the workspace only when workspaceOnly is off", async () => {
    await started();
    const outside = patch("*** Add File: ../outside.txt", "+x");
    expect(await refusal(outside)).toMatch(/outside|workspace/);
    expect(existsSync(join(gateway.stateDir, "outside.txt"))).toBe(false);
    await gateway.stop();
    await started({ exec: { applyPatch: { workspaceOnly: false } } });
    expect(await call(outside)).toMatchObject({ ok: true });
    expect(existsSync(join(gateway.stateDir, "outside.txt"))).toBe(true);
  });

  it.each([
    [{ exec: { applyPatch: { enabled: false } } }, /^tool-denied: .*tools\.exec\.applyPatch\.enabled/],
    [{ exec: { applyPatch: { allowModels: ["gpt-5"] } } }, /^tool-denied: .*allowModels.*names no model/],
    [{ deny: ["apply_patch"] }, /^tool-denied: .*tool policy/],
    [{ deny: ["group:fs"] }, /^tool-denied: .*tool policy/],
    [{ allow: ["exec"] }, /^tool-denied: .*tool policy/],
  ])("is refused under tools %j", async (tools, why) => {
    await started(tools);
    expect(await refusal()).toMatch(why);
    expect(existsSync(inWorkspace("notes"))).toBe(false);
  });

  it.each([{ allow: ["write"] }, { allow: ["group:fs"] }, { allow: ["apply_patch"] }, { deny: ["write"] }])(
    "is allowed under tools %j",
    async (tools) => {
      await started(tools);
      expect(await call()).toMatchObject({ ok: true });
    },
  );

  it("follows each agent's own settings and writes in its own workspace", async () => {
    const base = await started();
    const opsSpace = join(base.stateDir, "ops-space");
    await gateway.stop();
    await mkdir(opsSpace, { recursive: true });
    await started(
      {},
      {
        list: [
          { id: "main", default: true },
          { id: "ops", workspace: opsSpace },
          { id: "reader", tools: { exec: { applyPatch: { enabled: false } } } },
        ],
      },
    );
    expect(await call(ADD, { agentId: "ops" })).toMatchObject({ ok: true });
    expect(readFileSync(join(opsSpace, "notes/a.txt"), "utf8")).toBe("one\n");
    expect(await refusal(ADD, { agentId: "reader" })).toMatch(/^tool-denied: /);
  });

  it("does not write beside the sandbox of a sandboxed session", async () => {
    await started({}, { defaults: { sandbox: { mode: "all" } } });
    expect(await refusal()).toMatch(/^host-unavailable: .*sandbox/);
    expect(existsSync(inWorkspace("notes"))).toBe(false);
  });

  it("is offered to a model of the list and to no other", async () => {
    await started({ exec: { applyPatch: { allowModels: ["gpt-5"] } } });
    const asModel = (provider: string, id: string) =>
      gateway.gateway.invokeTool({
        tool: "apply_patch",
        args: ADD,
        actor: { kind: "agent", channel: "web", accountId: "default", id: "main" },
        model: { provider, id },
      });
    await expect(asModel("openai", "gpt-4")).rejects.toMatchObject({ code: "tool-denied" });
    await expect(asModel("anthropic", "gpt-5")).rejects.toMatchObject({ code: "tool-denied" });
    await expect(asModel("openai", "gpt-5")).resolves.toMatchObject({ details: { status: "completed" } });
  });
});

describe("openclaw-exec tool apply_patch", () => {
  const json = JSON.stringify({ tool: "apply_patch", ...ADD });

  it("changes files without a running gateway too", async () => {
    await started();
    const cli = cliHome();
    const result = await cli.run("tool", json);
    expect(result.code).toBe(0);
    expect(readFileSync(join(cli.dir, "workspace", "notes/a.txt"), "utf8")).toBe("one\n");
  });

  it("takes the documented form, through the gateway that runs", async () => {
    await started();
    const cli = cliHome();
    const result = await cli.runWith(
      { env: { OPENCLAW_GATEWAY_URL: gateway.url, OPENCLAW_GATEWAY_TOKEN: TOKEN } },
      "tool",
      json,
    );
    expect(result.code).toBe(0);
    expect(JSON.parse(result.out)).toMatchObject({ result: { details: { summary: { added: ["notes/a.txt"] } } } });
    expect(readFileSync(inWorkspace("notes/a.txt"), "utf8")).toBe("one\n");
  });
});
