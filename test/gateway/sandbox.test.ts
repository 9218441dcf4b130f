/** Sandboxed sessions as people and programs meet them: no question, the completion, what is refused, what is left. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { describeWithBwrap } from "../core/hosts/sandbox/support.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";

let gateway: TestGateway;
afterEach(() => gateway?.stop());

const started = async (sandbox: object = { mode: "all" }, more: object = {}) => {
  gateway = await startTestGateway({
    config: { tools: { exec: { mode: "ask" } }, agents: { defaults: { sandbox } }, ...more },
  });
  return gateway;
};
const exec = async (command: string, more: object = {}, call: object = {}) => {
  const { body } = await gateway.tool("exec", { command, ...more }, call);
  if (!body.ok) return { refused: `${body.error.code}: ${body.error.message}` };
  return { text: body.result.content.map(({ text }) => text).join("\n"), details: body.result.details };
};

describeWithBwrap("a sandboxed session", () => {
  it("/exec runs without a question although the policy asks, and its completion comes back", async () => {
    await started();
    const person = await gateway.person();
    await person.say("/exec pwd; id -un; touch made");
    const card = await person.ended("pwd; id -un; touch made");
    expect(card.outcome).toBe("completed");
    expect(JSON.stringify(card)).toContain("/workspace\\nsandbox");
    expect(person.screen().some(({ kind }) => kind === "approval")).toBe(false);
    // Nothing of it is in the agent's own workspace.
    expect(readdirSync(join(gateway.stateDir, "workspace"))).toEqual([]);
  });

  it("sandbox-host-fallback: /exec host=gateway is refused by the routing table, and nothing runs", async () => {
    await started();
    const person = await gateway.person();
    await person.say("/exec host=gateway touch ran");
    await person.see("text", (card) => JSON.stringify(card).includes("auto with an active sandbox"));
    expect(await exec("touch ran", { host: "gateway" })).toEqual({
      refused: expect.stringMatching(/^host-not-allowed: .*requested gateway.*tools\.exec\.host=gateway/),
    });
    expect(await exec("true", { elevated: true })).toEqual({ refused: expect.stringMatching(/^elevated-unavailable/) });
    expect(existsSync(join(gateway.stateDir, "workspace", "ran"))).toBe(false);
  });

  it("/exec without a command says what holds in the sandbox", async () => {
    await started();
    const person = await gateway.person();
    await person.say("/exec");
    const card = await person.see("text", ({ fields }) => (fields ?? []).length > 3);
    const value = (label: string) => card.fields?.find((field) => field.label === label)?.value;
    expect(JSON.stringify(card)).toContain("nothing in it needs approval");
    expect(["security", "ask", "host", "workdir"].map(value)).toEqual(["full", "off", "auto (sandbox)", "/workspace"]);
  });

  it("mode non-main: the main session of the agent is not sandboxed, every other is", async () => {
    await started({ mode: "non-main" });
    expect(await exec("id -un", {}, { sessionKey: "agent:main:slack:group:1" })).toMatchObject({ text: "sandbox" });
    expect((await exec("id -un", {}, { sessionKey: "agent:main:main" })).details).toMatchObject({
      status: "approval-pending",
    });
    expect(await exec("id", { host: "sandbox" }, { sessionKey: "agent:main:main" })).toEqual({
      refused: expect.stringMatching(/^host-unavailable: host=sandbox needs a sandbox runtime/),
    });
  });

  it("tools.exec.mode deny holds in the sandbox as well", async () => {
    await started({ mode: "all" }, { tools: { exec: { mode: "deny" } } });
    expect(await exec("true")).toEqual({ refused: expect.stringMatching(/^exec-denied: .*host=sandbox/) });
  });

  it("a backend that is not there refuses every command and never runs one here", async () => {
    await started({ mode: "all", backend: "docker" });
    const refused = expect.stringMatching(
      /^host-unavailable: .*docker.*agents\.defaults\.sandbox\.backend.*Nothing was run/,
    );
    expect(await exec("touch ran")).toEqual({ refused });
    expect(await exec("touch ran", { background: true })).toEqual({ refused });
    const person = await gateway.person();
    await person.say("/exec touch ran");
    await person.see("text", (card) => JSON.stringify(card).includes("backend docker"));
    expect(existsSync(join(gateway.stateDir, "workspace", "ran"))).toBe(false);
  });

  it("the working directory of a call is one of the sandbox, in either name; another is an error", async () => {
    await started({ mode: "all", workspaceAccess: "ro" });
    const workspace = join(gateway.stateDir, "workspace");
    mkdirSync(join(workspace, "sub"));
    expect((await exec("mkdir -p own; pwd")).text).toBe("/workspace");
    expect((await exec("pwd", { workdir: "own" })).text).toBe("/workspace/own");
    expect((await exec("pwd", { workdir: "/workspace/own" })).text).toBe("/workspace/own");
    expect((await exec("pwd", { workdir: "/agent/sub" })).text).toBe("/agent/sub");
    expect((await exec("pwd", { workdir: join(workspace, "sub") })).text).toBe("/agent/sub");
    // As this machine knows it.
    expect((await exec("pwd", { workdir: "own" })).details?.cwd).toMatch(
      /\/sandboxes\/agent-main-\w+\/workspace\/own$/,
    );
    for (const workdir of ["/etc", "/tmp", "~", "..", gateway.stateDir]) {
      const { text, details } = await exec("touch ran", { workdir });
      expect(details).toMatchObject({ status: "failed", failureKind: "workdir-unavailable" });
      expect(text).toContain("(/workspace, /agent)");
    }
  });

  it("runs in the background, is fed, polled and killed by the process tool", async () => {
    await started();
    const { details } = await exec("read -r line; echo got $line; sleep 300", { background: true, stdin: "open" });
    const call = async (action: string, more: object = {}) =>
      (await gateway.tool("process", { action, sessionId: details?.sessionId, ...more })).body;
    await call("write", { data: "hello\n" });
    expect(JSON.stringify(await call("poll", { timeout: 10_000 }))).toContain("got hello");
    await call("kill");
    expect(JSON.stringify(await call("poll", { timeout: 10_000 }))).toMatch(/killed|SIGTERM|stopped/);
  });

  it("variables: PATH may be set, our own names may not, the gateway's are not there", async () => {
    await started();
    process.env.SECRET_OF_THE_GATEWAY = "hidden";
    const { text } = await exec('echo "$PATH"; echo "<$SECRET_OF_THE_GATEWAY>"; echo $OPENCLAW_SHELL', {
      env: { PATH: "/opt/mine" },
    });
    delete process.env.SECRET_OF_THE_GATEWAY;
    expect(text).toMatch(/^\/opt\/mine:.*\n<>\nexec$/);
    expect(await exec("true", { env: { OPENCLAW_CHANNEL_CONTEXT: "x" } })).toEqual({
      refused: expect.stringMatching(/^env-forbidden/),
    });
  });

  it("channel-context-shape: a command of a chat knows who asked, in the sandbox too", async () => {
    await started();
    const person = await gateway.person();
    await person.say("/exec printenv OPENCLAW_CHANNEL_CONTEXT");
    const card = await person.ended("printenv OPENCLAW_CHANNEL_CONTEXT");
    expect(card).toMatchObject({ tail: expect.stringMatching(/^\{"sender":\{"id":"/) });
  });

  it("tools.sandbox.tools is a second gate of sandboxed sessions; an agent's own replaces it", async () => {
    await started({ mode: "non-main" }, { tools: { exec: { mode: "full" }, sandbox: { tools: { deny: ["exec"] } } } });
    const sandboxed = { sessionKey: "agent:main:slack:group:1" };
    expect(await exec("true", {}, sandboxed)).toEqual({
      refused: expect.stringMatching(/^tool-denied: .*sandboxed sessions \(tools\.sandbox\.tools\)/),
    });
    expect(await exec("echo free", {}, { sessionKey: "agent:main:main" })).toMatchObject({ text: "free" });
    await gateway.stop();
    await started(
      { mode: "all" },
      {
        tools: { exec: { mode: "full" }, sandbox: { tools: { deny: ["exec"] } } },
        agents: {
          defaults: { sandbox: { mode: "all" } },
          list: [{ id: "main", tools: { sandbox: { tools: { allow: ["exec"] } } } }],
        },
      },
    );
    expect(await exec("echo own")).toMatchObject({ text: "own" });
    const { body } = await gateway.tool("process", { action: "list" });
    expect(body).toMatchObject({ ok: false, error: { code: "tool-denied" } });
    // Without the process tool a command runs to its end.
    expect((await exec("echo done", { background: true })).text).toMatch(/process tool is not allowed[\s\S]*done/);
  });

  it("a gateway that stops ends its sandboxed commands and leaves none", async () => {
    await started();
    expect((await exec("echo up; sleep 3456", { yieldMs: 2_000 })).text).toContain("up");
    await gateway.restart();
    const left = readdirSync("/proc").filter((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, "latin1").includes("sleep\x003456\0");
      } catch {
        return false;
      }
    });
    expect(left).toEqual([]);
  });
});
