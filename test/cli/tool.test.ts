import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseToolCall } from "../../src/cli/tool-call.ts";
import { startTestGateway, type TestGateway, TOKEN } from "../support/gateway.ts";
import { eventually } from "../support/state.ts";
import { type CliHome, type CliResult, cliHome } from "./run-cli.ts";

const answer = ({ out }: CliResult) =>
  JSON.parse(out) as {
    ok: boolean;
    result?: { content: { text: string }[]; details: Record<string, unknown> };
    error?: { code: string; message: string };
  };

describe("writing a call", () => {
  test.each([
    ['{ "tool": "exec", "command": "ls -la" }', { tool: "exec", args: { command: "ls -la" } }],
    [
      '{"tool":"exec","command":"npm run build","yieldMs":1000}',
      { tool: "exec", args: { command: "npm run build", yieldMs: 1000 } },
    ],
    [
      '{"tool":"process","action":"poll","sessionId":"x"}',
      { tool: "process", args: { action: "poll", sessionId: "x" } },
    ],
    [
      '{"tool":"process","action":"send-keys","sessionId":"","keys":["Up","Up","Enter"]}',
      { tool: "process", args: { action: "send-keys", sessionId: "", keys: ["Up", "Up", "Enter"] } },
    ],
    [
      '{"tool":"exec","args":{"command":"ls"},"agentId":"ops"}',
      { tool: "exec", args: { command: "ls" }, agentId: "ops" },
    ],
  ])("%s", (text, call) => expect(parseToolCall(text)).toEqual(call));

  test.each([
    ["[]", "invalid-argument"],
    ['"ls"', "invalid-argument"],
    ['{"command":"ls"}', "invalid-argument"],
    ['{"tool":"exec","args":{"command":"ls"},"command":"rm"}', "invalid-argument"],
    ['{"tool":"exec",}', "malformed-json"],
    ["", "malformed-json"],
  ])("%s is refused as %s", (text, code) => {
    expect(() => parseToolCall(text)).toThrowError(expect.objectContaining({ code }));
  });
});

describe("with a running gateway", () => {
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await startTestGateway({ config: { tools: { exec: { mode: "full" } } } });
  });

  afterAll(() => gateway.stop());

  const run = (...argv: string[]) =>
    cliHome().runWith({ env: { OPENCLAW_GATEWAY_URL: gateway.url, OPENCLAW_GATEWAY_TOKEN: TOKEN } }, "tool", ...argv);

  test("prints the same answer as POST /tools/invoke and says by its exit code how it went", async () => {
    const good = await run('{"tool":"exec","command":"echo hi"}');
    expect(answer(good)).toMatchObject({
      ok: true,
      result: { content: [{ text: expect.stringContaining("hi") }], details: { status: "completed", exitCode: 0 } },
    });
    expect(good.code).toBe(0);
    expect((await run('{"tool":"exec","command":"exit 3"}')).code).toBe(1);
  });

  test("reads the call from standard input", async () => {
    const result = await cliHome().runWith(
      {
        stdin: '{"tool":"exec","command":"echo piped"}',
        env: { OPENCLAW_GATEWAY_URL: gateway.url, OPENCLAW_GATEWAY_TOKEN: TOKEN },
      },
      "tool",
    );
    expect(answer(result).result?.content[0]?.text).toContain("piped");
  });

  test("an unknown tool is a failed call with its reason in both places", async () => {
    const result = await run('{"tool":"exce","command":"ls"}');
    expect(result.code).toBe(1);
    expect(answer(result)).toMatchObject({ ok: false, error: { code: "tool-unknown" } });
    expect(result.err).toBe(answer(result).error?.message);
  });
});

describe("the documented examples, as they stand", () => {
  let gateway: TestGateway;
  const workspace = () => join(gateway.stateDir, "workspace");

  beforeAll(async () => {
    gateway = await startTestGateway({ config: { tools: { exec: { mode: "full" } } } });
    const build = "echo building; until [ -e go ]; do sleep 0.1; done; echo built";
    writeFileSync(join(workspace(), "package.json"), JSON.stringify({ scripts: { build } }));
  });
  afterAll(() => gateway.stop());

  async function run(text: string) {
    const result = await cliHome().runWith(
      { env: { OPENCLAW_GATEWAY_URL: gateway.url, OPENCLAW_GATEWAY_TOKEN: TOKEN } },
      "tool",
      text,
    );
    const { result: answered } = answer(result);
    return { code: result.code, text: answered?.content[0]?.text ?? "", details: answered?.details ?? {} };
  }
  /** The example with the session it leaves open. */
  const about = (example: string, sessionId: string) =>
    run(example.replace(/"sessionId": ?"(<id>)?"/, `"sessionId": "${sessionId}"`));
  const start = async (command: string, more: object = {}) =>
    String((await run(JSON.stringify({ tool: "exec", command, background: true, ...more }))).details.sessionId);
  const shows = (sessionId: string, expected: string) =>
    eventually(
      async () => (await run(JSON.stringify({ tool: "process", action: "log", sessionId }))).text.includes(expected),
      20_000,
    );

  test('{ "tool": "exec", "command": "ls -la" }', async () => {
    const { code, text, details } = await run('{ "tool": "exec", "command": "ls -la" }');
    expect(code).toBe(0);
    expect(text).toMatch(/package\.json$/m);
    expect(details).toMatchObject({ status: "completed", exitCode: 0 });
  });

  test.each([
    '{"tool":"exec","command":"npm run build","yieldMs":1000}',
    '{ "tool": "exec", "command": "npm run build", "background": true }',
  ])("%s, polled and looked at", async (example) => {
    const { code, details } = await run(example);
    expect(code).toBe(0);
    expect(details).toMatchObject({ status: "running", sessionId: expect.any(String), tail: expect.any(String) });
    const sessionId = String(details.sessionId);
    await shows(sessionId, "building");
    writeFileSync(join(workspace(), "go"), "");
    let said = "";
    await eventually(async () => {
      const polled = await about('{"tool":"process","action":"poll","sessionId":""}', sessionId);
      expect(polled.code).toBe(0);
      said += polled.text;
      return said.includes("Process exited with code 0.");
    }, 20_000);
    expect(said).toMatch(/building.*built/s);
    const log = await about('{ "tool": "process", "action": "log", "sessionId": "<id>" }', sessionId);
    expect(log.text).toMatch(/building\nbuilt\n\nProcess exited with code 0\.$/);
    rmSync(join(workspace(), "go"));
  });

  test('{ "tool": "exec", "command": "sleep 5 && echo done", "yieldMs": 1000 }', async () => {
    const { details } = await run('{ "tool": "exec", "command": "sleep 5 && echo done", "yieldMs": 1000 }');
    expect(details).toMatchObject({ status: "running", tail: "" });
    const poll = '{ "tool": "process", "action": "poll", "sessionId": "<id>" }';
    expect((await about(poll, String(details.sessionId))).text).toContain("Process still running.");
    await shows(String(details.sessionId), "done\n\nProcess exited with code 0.");
  });

  test.each([
    ['{"tool":"process","action":"send-keys","sessionId":"","keys":["Enter"]}', "^M"],
    ['{"tool":"process","action":"send-keys","sessionId":"","keys":["C-c"]}', "^C"],
    ['{"tool":"process","action":"send-keys","sessionId":"","keys":["Up","Up","Enter"]}', "^[[A^[[A^M"],
    ['{"tool":"process","action":"send-keys","sessionId":"<id>","keys":["Enter"]}', "^M"],
    ['{"tool":"process","action":"send-keys","sessionId":"<id>","keys":["C-c"]}', "^C"],
    ['{"tool":"process","action":"send-keys","sessionId":"<id>","keys":["Up","Up","Enter"]}', "^[[A^[[A^M"],
    ['{ "tool": "process", "action": "send-keys", "sessionId": "<id>", "keys": ["C-c"] }', "^C"],
    ['{ "tool": "process", "action": "submit", "sessionId": "" }', "^M"],
    ['{ "tool": "process", "action": "submit", "sessionId": "<id>" }', "^M"],
    [
      '{ "tool": "process", "action": "paste", "sessionId": "", "text": "line1\\nline2\\n" }',
      "^[[200~line1^Mline2^M^[[201~",
    ],
    [
      '{ "tool": "process", "action": "paste", "sessionId": "<id>", "text": "line1\\nline2\\n" }',
      "^[[200~line1^Mline2^M^[[201~",
    ],
    ['{ "tool": "process", "action": "write", "sessionId": "<id>", "data": "y\\n" }', "y"],
  ])("%s reaches the program in its terminal", async (example, bytes) => {
    const sessionId = await start("stty raw -echo; printf 'ready\\033[?2004h\\r\\n'; exec cat -v", { pty: true });
    await shows(sessionId, "ready");
    expect((await about(example, sessionId)).code).toBe(0);
    await shows(sessionId, bytes);
    await run(JSON.stringify({ tool: "process", action: "kill", sessionId }));
  });

  test('{ "tool": "process", "action": "write", … "data": "y\\n" } answers a program on a pipe too', async () => {
    const sessionId = await start("read answer; echo got $answer", { stdin: "open" });
    await about('{ "tool": "process", "action": "write", "sessionId": "<id>", "data": "y\\n" }', sessionId);
    await shows(sessionId, "got y");
  });

  test.each([
    ['{"tool":"process","action":"poll","sessionId":""}', /^sessionId is required for poll\. "list" shows/],
    ['{"tool":"process","action":"poll","sessionId":"<id>"}', /^No session found for <id>\.$/],
    ['{ "tool": "process", "action": "submit", "sessionId": "" }', /^sessionId is required for submit/],
    ['{"tool":"process","action":"send-keys","sessionId":"<id>","keys":["C-c"]}', /^No session found for <id>/],
  ])("%s with nothing filled in is a failure that says what is missing", async (example, said) => {
    const { code, text } = await run(example);
    expect(code).toBe(1);
    expect(text).toMatch(said);
  });

  test("list and kill, which the pages name without an example", async () => {
    const sessionId = await start("exec sleep 60");
    const list = await run('{"tool":"process","action":"list"}');
    expect(list.text).toContain(sessionId);
    expect((await run(JSON.stringify({ tool: "process", action: "kill", sessionId }))).code).toBe(0);
  });
});

describe("without a gateway", () => {
  async function withMode(mode: string): Promise<CliHome> {
    const home = cliHome();
    expect((await home.run("config", "set", "tools.exec.mode", mode)).code).toBe(0);
    return home;
  }

  test("an exec call runs here, to its end, and is in the audit trail", async () => {
    const home = await withMode("full");
    const result = await home.run("tool", '{"tool":"exec","command":"sleep 0.3; echo done","background":true}');
    expect(result.code).toBe(0);
    expect(answer(result).result?.details).toMatchObject({ status: "completed", exitCode: 0, aggregated: "done\n" });
    const trail = await home.run("audit");
    expect(trail.out).toMatch(/#1 request {2}operator \(cli\) for agent main: sleep 0\.3; echo done/);
    expect(trail.out).toMatch(/run-ended {2}\S+ completed, exit code 0/);
    expect((await home.run("audit", "--verify")).out).toMatch(/are as they were written, last hash [0-9a-f]{64}/);
  });

  test("on a fresh machine it asks first: nothing runs and the exit code says so", async () => {
    const home = cliHome();
    const result = await home.run("tool", '{"tool":"exec","command":"touch ran"}');
    expect(result.code).toBe(3);
    expect(answer(result).result?.details).toMatchObject({ status: "approval-pending" });
    expect(result.err).toContain('tools.exec.mode: "ask"');
    expect(result.err).toContain("openclaw-exec gateway");
  });

  test("a denied call is a failed one", async () => {
    const home = await withMode("deny");
    const result = await home.run("tool", '{"tool":"exec","command":"ls"}');
    expect(result.code).toBe(1);
  });

  test("what needs a gateway says so", async () => {
    const home = await withMode("full");
    const result = await home.run("tool", '{"tool":"process","action":"list"}');
    expect(result.code).toBe(1);
    expect(answer(result).error?.code).toBe("gateway-unreachable");
  });
});
