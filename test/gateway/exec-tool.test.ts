/** The `exec` tool as a program calls it: result shapes, foreground and background, and what is refused before anybody is asked. */
import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type TestGateway, TOKEN } from "../support/gateway.ts";
import { eventually } from "../support/state.ts";

interface Answer {
  readonly text: string;
  readonly details: Record<string, unknown>;
}

function caller(gateway: () => TestGateway) {
  const call = async (tool: string, args: object): Promise<Answer> => {
    const { body } = await gateway().tool(tool, args);
    if (!body.ok) throw new Error(`${body.error.code}: ${body.error.message}`);
    return { text: body.result.content.map(({ text }) => text).join("\n"), details: body.result.details };
  };
  const refusal = async (args: object): Promise<string> => {
    const { body } = await gateway().tool("exec", args);
    return body.ok ? `accepted: ${JSON.stringify(body.result.details)}` : `${body.error.code}: ${body.error.message}`;
  };
  return {
    exec: (command: string, more: object = {}) => call("exec", { command, ...more }),
    process: (action: string, sessionId: unknown, more: object = {}) => call("process", { action, sessionId, ...more }),
    refusal,
  };
}

describe("exec where everything may run", () => {
  let gateway: TestGateway;
  const { exec, process, refusal } = caller(() => gateway);
  const workspace = () => join(gateway.stateDir, "workspace");
  beforeAll(async () => {
    gateway = await startTestGateway({ config: { tools: { exec: { mode: "full" } } } });
  });
  afterAll(() => gateway.stop());

  it("gives output, exit code and the facts of the run", async () => {
    const { text, details } = await exec("echo out; echo err >&2");
    expect(text.split("\n").sort()).toEqual(["err", "out"]);
    expect(details).toEqual({
      status: "completed",
      exitCode: 0,
      exitSignal: null,
      exitReason: "exit",
      durationMs: expect.any(Number),
      aggregated: expect.stringContaining("out\n"),
      timedOut: false,
      noOutputTimedOut: false,
      cwd: realpathSync(workspace()),
    });
  });

  it.each<[string, string, object]>([
    ["exit 3", "(no output)\n\n(Command exited with code 3)", { status: "completed", exitCode: 3 }],
    ["echo '  hi  '; exit 1", "hi\n\n(Command exited with code 1)", { status: "completed", exitCode: 1 }],
    ["true", "(no output)", { status: "completed", exitCode: 0 }],
    [
      "exit 127",
      "(no output)\n\nCommand not found (exit code 127).",
      { status: "failed", failureKind: "shell-command-not-found" },
    ],
    [
      "exit 126",
      "(no output)\n\nCommand not executable, permission denied (exit code 126).",
      { status: "failed", failureKind: "shell-not-executable" },
    ],
    [
      "kill -KILL $$",
      "(no output)\n\nCommand aborted by signal SIGKILL.",
      { status: "failed", failureKind: "signal", exitCode: null, exitSignal: "SIGKILL" },
    ],
  ])("exec.md 15.16: %s", async (command, text, details) => {
    const answer = await exec(command);
    expect(answer.text).toBe(text);
    expect(answer.details).toMatchObject(details);
  });

  it("exec.md 15.17: a signal is named the same way in a terminal", async () => {
    const { details } = await exec("kill -KILL $$", { pty: true });
    expect(details).toMatchObject({ status: "failed", failureKind: "signal", exitCode: null, exitSignal: "SIGKILL" });
  });

  it("a timeout says so, and that there may have been effects", async () => {
    const { text, details } = await exec("echo begun; exec sleep 60", { timeout: 0.5 });
    expect(text).toMatch(
      /^begun\n\nCommand timed out after 0\.5 seconds\. It may have had effects already.*background or yieldMs/s,
    );
    expect(details).toMatchObject({
      status: "failed",
      failureKind: "overall-timeout",
      timedOut: true,
      exitSignal: "SIGTERM",
    });
  });

  it("exec.md 15.5: what does not fit in memory is said first", async () => {
    const { text, details } = await exec("head -c 1048576 /dev/zero | tr '\\0' x");
    expect(text).toMatch(/^\[Earlier output was discarded/);
    expect(details.aggregated).toBe("x".repeat(200_000));
  });

  it("background answers at once that it runs, also for a command that is already over, and keeps the session", async () => {
    const { text, details } = await exec("echo quick", { background: true, yieldMs: 60_000 });
    expect(details).toEqual({
      status: "running",
      sessionId: expect.stringMatching(/^[a-z0-9-]{1,64}$/),
      pid: expect.any(Number),
      startedAt: expect.any(Number),
      cwd: realpathSync(workspace()),
      tail: expect.any(String),
      followUp: expect.stringContaining("process"),
    });
    expect(text).toContain(`session ${details.sessionId}`);
    expect((await process("poll", details.sessionId, { timeout: 30_000 })).text).toContain("quick");
  });

  it("yieldMs hands a longer command over with its tail; the same session goes on", async () => {
    const { details } = await exec("echo first; until [ -e go ]; do sleep 0.05; done; echo second", { yieldMs: 2_000 });
    expect(details).toMatchObject({ status: "running", tail: "first\n" });
    writeFileSync(join(workspace(), "go"), "");
    const said = await eventually(async () => {
      const { text } = await process("log", details.sessionId);
      return text.includes("exited") && text;
    }, 20_000);
    expect(said).toBe("first\nsecond\n\nProcess exited with code 0.");
  });

  it("a foreground command leaves no session behind", async () => {
    expect((await exec("echo hi")).details.status).toBe("completed");
    expect((await process("list", undefined)).text).not.toContain("echo hi");
  });

  it("a caller that hangs up stops its command in the foreground; one in the background lives on (session-end-and-background, exec.md 15.24)", async () => {
    const hangUp = new AbortController();
    const left = fetch(`${gateway.url}/tools/invoke`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({
        tool: "exec",
        args: { command: "trap 'echo > stopped; exit' TERM; echo > started; while :; do sleep 0.02; done" },
      }),
      signal: hangUp.signal,
    });
    await eventually(() => existsSync(join(workspace(), "started")), 20_000);
    hangUp.abort();
    await expect(left).rejects.toThrow("abort");
    await eventually(() => existsSync(join(workspace(), "stopped")), 20_000);

    const { details } = await exec("exec sleep 60", { background: true });
    expect((await process("poll", details.sessionId)).text).toContain("Process still running.");
    await process("kill", details.sessionId);
  });

  it("exec.md 15.14: a workdir that is missing, a file, blank or with a tilde is a failed result, and nothing ran", async () => {
    writeFileSync(join(workspace(), "file"), "");
    for (const workdir of ["/nowhere/at/all", "file", "~", "   "]) {
      const { text, details } = await exec("echo > ran", { workdir });
      expect(details).toMatchObject({ status: "failed", failureKind: "workdir-unavailable" });
      expect(text).toContain("literally, without ~ or $VAR");
    }
    expect(existsSync(join(workspace(), "ran"))).toBe(false);
  });

  it("a relative workdir starts at the workspace; a link is resolved", async () => {
    mkdirSync(join(workspace(), "sub"), { recursive: true });
    expect((await exec("pwd", { workdir: "sub" })).details.cwd).toBe(join(realpathSync(workspace()), "sub"));
    rmSync(join(workspace(), "sub"), { recursive: true });
  });

  it("sandbox-host-fallback: host=sandbox without a sandbox is an error that names the key, and nothing runs here", async () => {
    const refused = await refusal({ command: "echo > ran", host: "sandbox" });
    expect(refused).toMatch(
      /^host-unavailable: host=sandbox needs a sandbox.*agents\.defaults\.sandbox\.mode.*Nothing was run/,
    );
    expect(existsSync(join(workspace(), "ran"))).toBe(false);
  });
});

describe("exec where the process tool is not allowed", () => {
  let gateway: TestGateway;
  const { exec } = caller(() => gateway);
  beforeAll(async () => {
    gateway = await startTestGateway({
      config: { tools: { deny: ["process"], exec: { mode: "full", backgroundMs: 50 } } },
    });
  });
  afterAll(() => gateway.stop());

  it("waits for the end and says that background and yieldMs were ignored", async () => {
    for (const more of [{ background: true }, { yieldMs: 10 }]) {
      const { text, details } = await exec("sleep 0.3; echo done", more);
      expect(text).toMatch(/^\[The process tool is not allowed here: .*synchronously.*\]\n\ndone$/);
      expect(details.status).toBe("completed");
    }
    expect((await exec("sleep 0.3; echo done")).text).toBe("done");
  });

  it("the timeout still counts", async () => {
    expect((await exec("exec sleep 60", { background: true, timeout: 0.3 })).details.failureKind).toBe(
      "overall-timeout",
    );
  });
});

describe("exec where a person is asked", () => {
  let gateway: TestGateway;
  const { exec, refusal } = caller(() => gateway);
  beforeAll(async () => {
    gateway = await startTestGateway({ config: { tools: { exec: { mode: "ask" } } } });
  });
  afterAll(() => gateway.stop());

  it("nobody is asked about a call that can not start", async () => {
    const refusals: [object, RegExp][] = [
      [{ command: "  " }, /^command-empty/],
      [{ command: "echo a\0b" }, /^command-has-nul/],
      [{ command: "x".repeat(140_000) }, /^command-too-long/],
      [{ command: "ls", env: { A: "x\0y" } }, /^invalid-argument.*env\.A.*NUL/],
      [{ command: "ls", env: { A: "x".repeat(200_000) } }, /^env-invalid.*A \(its value is too long\)/],
      [{ command: "ls", env: { PATH: "/evil" } }, /^env-forbidden.*PATH/],
      [{ command: "ls", env: { LD_PRELOAD: "/evil.so" } }, /^env-forbidden.*LD_PRELOAD/],
      [{ command: "ls", host: "prod-1" }, /^host-invalid/],
      [{ command: "ls", host: "sandbox" }, /^host-unavailable/],
      [{ command: "ls", timeout: -1 }, /^invalid-argument/],
      [{ command: "ls", timeout: 1, timeoutSeconds: 2 }, /^invalid-argument/],
      [{ command: "ls", elevated: true }, /^elevated-unavailable/],
      [{ command: "/approve 1234abcd allow-once" }, /^control-command/],
      [{ command: "openclaw channels login" }, /^control-command/],
    ];
    for (const [args, expected] of refusals) expect(await refusal(args)).toMatch(expected);
    expect((await exec("ls", { workdir: "/nowhere" })).details.status).toBe("failed");
    const person = await gateway.person();
    expect(person.screen().filter(({ kind }) => kind === "approval")).toEqual([]);
    // The same person does see what can start.
    expect((await exec("ls")).details).toMatchObject({ status: "approval-pending", command: "ls", host: "gateway" });
    await person.request("ls");
  });
});
