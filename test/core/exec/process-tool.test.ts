import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createProcessTool, type ProcessContext, type ProcessTool } from "../../../src/core/exec/process-tool.ts";
import { processLimits } from "../../../src/core/process/limits.ts";
import { ProcessSessions } from "../../../src/core/process/registry.ts";
import type { ProcessSession } from "../../../src/core/process/session.ts";
import type { Supervisor } from "../../../src/core/process/supervisor.ts";
import type { SpawnPlan } from "../../../src/core/process/types.ts";
import { bashPlan, eventually, quickSupervisor } from "../process/support.ts";

const PTY = { pty: { cols: 120, rows: 30 } };
const OPEN = { stdin: "open" } as const;

let supervisor: Supervisor;
let sessions: ProcessSessions;
let tool: ProcessTool;
let monotonicOffset = 0;
let runs = 0;

beforeEach(() => {
  monotonicOffset = 0;
  supervisor = quickSupervisor();
  sessions = new ProcessSessions({
    clock: { now: () => Date.now(), monotonic: () => performance.now() + monotonicOffset },
    limits: () => processLimits({}),
  });
  tool = createProcessTool({ sessions });
});
afterEach(async () => {
  await supervisor.shutdown();
  await sessions.close();
});

function start(command: string, plan: Partial<SpawnPlan> = {}, background = true): ProcessSession {
  const session = sessions.reserve({
    runId: `run-${++runs}`,
    command,
    cwd: "/tmp",
    host: "gateway",
    agentId: "main",
    sessionKey: "agent:main:test",
  });
  session.attach(supervisor.start(bashPlan(command, plan)));
  if (background) session.background();
  return session;
}

async function call(args: Record<string, unknown>, context: Partial<ProcessContext> = {}) {
  const { content, details, acknowledge } = await tool.call(args, { agentId: "main", ...context });
  return { text: content[0]?.text ?? "", details, acknowledge };
}

const printed = (session: ProcessSession, text: string) =>
  eventually(`${session.id} prints ${text}`, () => session.aggregated().includes(text), 20_000);

describe("calls that are not acceptable are results, not throws", () => {
  it.each([
    [
      { action: "frobnicate" },
      /Unknown action "frobnicate".*list, poll, log, write, send-keys, submit, paste, resize, kill, clear, remove/,
    ],
    [{ action: "pol" }, /Did you mean "poll"/],
    [{}, /Invalid action.*must be text/],
    [{ action: "poll" }, /sessionId is required/],
    [{ action: "poll", sessionId: "" }, /sessionId is required/],
    [{ action: "list", colour: 1 }, /not usable.*colour/],
    [{ action: "log", sessionId: "x", offset: "abc" }, /Invalid offset.*must be a number/],
  ])("%j", async (args, message) => {
    const { text, details } = await call(args);
    expect(details.status).toBe("failed");
    expect(text).toMatch(message);
  });

  it("fields of other actions and nulls do no harm", async () => {
    const { details } = await call({ action: "list", sessionId: null, data: "", keys: null });
    expect(details.status).toBe("completed");
  });

  it("an unknown, a foreign and a finished foreground session sound the same, at once (poll-unknown-session)", async () => {
    const foreign = start("sleep 60");
    const gone = start("true", {}, false);
    await gone.ended;
    const since = performance.now();
    const texts = await Promise.all([
      call({ action: "poll", sessionId: "gone-id", timeout: 600_000 }),
      call({ action: "poll", sessionId: foreign.id, timeout: 600_000 }, { agentId: "other" }),
      call({ action: "poll", sessionId: gone.id, timeout: 600_000 }),
    ]);
    expect(performance.now() - since).toBeLessThan(200);
    expect(texts.map(({ text }) => text)).toEqual([
      "No session found for gone-id.",
      `No session found for ${foreign.id}.`,
      `No session found for ${gone.id}.`,
    ]);
  });

  it("a foreground session is named as such", async () => {
    const session = start("sleep 60", {}, false);
    for (const action of ["poll", "log", "kill", "remove"]) {
      expect((await call({ action, sessionId: session.id })).text).toContain("is not backgrounded");
    }
  });
});

describe("list", () => {
  it("is empty without sessions, and shows running and ended ones with their facts", async () => {
    expect((await call({ action: "list" })).text).toBe("No running or recent sessions.");
    const ended = start("echo hi; exit 3");
    await ended.ended;
    const running = start("sleep 60");
    const { text, details } = await call({ action: "list" });
    expect(text.split("\n")).toEqual([
      expect.stringMatching(new RegExp(`^${running.id} running   \\d\\.\\ds :: sleep 60$`)),
      expect.stringMatching(new RegExp(`^${ended.id} completed \\d\\.\\ds :: echo hi$`)),
    ]);
    expect(details.sessions).toEqual([
      expect.objectContaining({
        sessionId: running.id,
        status: "running",
        pid: running.pid,
        stdinWritable: false,
        waitingForInput: false,
        name: "sleep 60",
        cwd: "/tmp",
      }),
      expect.objectContaining({
        sessionId: ended.id,
        status: "completed",
        exitCode: 3,
        exitSignal: null,
        exitReason: "exit",
        tail: "hi\n",
        timedOut: false,
      }),
    ]);
  });

  it("marks a timeout (exec.md 15.11)", async () => {
    const session = start("sleep 60", { timeoutMs: 100 });
    await session.ended;
    expect((await call({ action: "list" })).text).toContain(`${session.id} failed    `);
    expect((await call({ action: "list" })).text).toContain("[overall-timeout]");
    const { text, details } = await call({ action: "poll", sessionId: session.id });
    expect(details).toMatchObject({
      status: "failed",
      exitReason: "overall-timeout",
      exitSignal: "SIGTERM",
      timedOut: true,
    });
    expect(text).toContain("look before running it again");
  });
});

describe("poll", () => {
  it("gives new output once, then says there is none, with longer and longer waits suggested", async () => {
    const session = start("echo one; sleep 60");
    await printed(session, "one");
    const first = await call({ action: "poll", sessionId: session.id });
    expect(first.text).toBe("one\n\nProcess still running.");
    expect(first.details).toMatchObject({ status: "running", aggregated: "one\n", retryInMs: 5000 });
    const waits: unknown[] = [];
    for (let poll = 0; poll < 5; poll++)
      waits.push((await call({ action: "poll", sessionId: session.id })).details.retryInMs);
    expect(waits).toEqual([5000, 10_000, 30_000, 60_000, 60_000]);
  });

  it("ends with how it ended, also when asked again", async () => {
    const session = start("echo bye; exit 3");
    await session.ended;
    const first = await call({ action: "poll", sessionId: session.id });
    expect(first.text).toBe("bye\n\nProcess exited with code 3.");
    expect(first.details).toMatchObject({ status: "completed", exitCode: 3, waitingForInput: false });
    expect((await call({ action: "poll", sessionId: session.id })).text).toBe(
      "(no new output)\n\nProcess exited with code 3.",
    );
  });

  it("names a signal from outside (poll-status-exit-vs-signal)", async () => {
    const session = start("echo up; exec sleep 60");
    await printed(session, "up");
    process.kill(session.pid ?? 0, "SIGTERM");
    await session.ended;
    const { text, details } = await call({ action: "poll", sessionId: session.id });
    expect(text).toContain("Process exited with signal SIGTERM.");
    expect(details).toMatchObject({ status: "failed", exitCode: null, exitSignal: "SIGTERM" });
  });

  it("waits for output and for the end, and comes back within milliseconds of it", async () => {
    const session = start("read x; echo out; read x", OPEN);
    const waiting = call({ action: "poll", sessionId: session.id, timeout: "30000" });
    await session.write("\n");
    expect((await waiting).text).toContain("out");
    const end = call({ action: "poll", sessionId: session.id, timeout: 30_000 });
    await session.write("\n");
    await session.ended;
    const endedAt = performance.now();
    expect((await end).text).toContain("Process exited with code 0.");
    expect(performance.now() - endedAt).toBeLessThan(50);
  });

  it("an aborted turn ends the wait and leaves the command alone (session-end-and-background)", async () => {
    const session = start("sleep 60");
    const turn = new AbortController();
    const waiting = call({ action: "poll", sessionId: session.id, timeout: 30_000 }, { signal: turn.signal });
    turn.abort();
    expect((await waiting).details.status).toBe("running");
    expect(session.state).toBe("running");
  });

  it("gives output again that nobody acknowledged, and tells the registry of an acknowledged end (exec.md 15.21)", async () => {
    const acknowledged: string[] = [];
    sessions.onEndAcknowledged((session) => acknowledged.push(session.id));
    const session = start("echo once");
    await session.ended;
    const lost = await call({ action: "poll", sessionId: session.id }, { acknowledge: "manual" });
    expect(session.endObserved).toBe(true);
    expect(acknowledged).toEqual([]);
    const again = await call({ action: "poll", sessionId: session.id }, { acknowledge: "manual" });
    expect(again.text).toBe(lost.text);
    again.acknowledge();
    expect(acknowledged).toEqual([session.id]);
    expect((await call({ action: "poll", sessionId: session.id })).text).toContain("(no new output)");
  });

  it("says how much was dropped before it was read", async () => {
    const session = start("head -c 100000 /dev/zero | tr '\\0' x");
    await session.ended;
    const { text } = await call({ action: "poll", sessionId: session.id });
    expect(text).toContain("[70000 characters were dropped before this poll; log may still have them.]");
  });
});

describe("log", () => {
  async function logOf(command: string, args: Record<string, unknown> = {}) {
    const session = start(command);
    await session.ended;
    return call({ action: "log", sessionId: session.id, ...args });
  }

  it("gives the last 200 lines with a hint when there are more", async () => {
    const { text, details } = await logOf("seq 1 450");
    expect(text.startsWith("251\n252\n")).toBe(true);
    expect(text).toContain("[showing last 200 of 450 lines; pass offset/limit to page]");
    expect(details).toMatchObject({ totalLines: 450, truncated: false });
  });

  it.each([
    [{ limit: 2 }, "4\n5"],
    [{ offset: 1 }, "2\n3\n4\n5"],
    [{ offset: 1, limit: 2 }, "2\n3"],
    [{ offset: -3, limit: 1.9 }, "1"],
    [{ offset: 99 }, ""],
    [{ limit: 0 }, ""],
  ])("%j of five lines is %j", async (args, output) => {
    expect((await logOf("seq 1 5", args)).details.output).toBe(output);
  });

  it("does not take anything from the next poll, and reads CRLF as lines", async () => {
    const session = start("printf 'a\\r\\nb\\r\\n'");
    await session.ended;
    const { text, details } = await call({ action: "log", sessionId: session.id });
    expect(details).toMatchObject({ output: "a\nb", totalLines: 2 });
    expect(text).toContain("Process exited with code 0.");
    expect((await call({ action: "poll", sessionId: session.id })).text).toContain("a\r\nb");
  });

  it("says when there is nothing", async () => {
    expect((await logOf("true")).text).toContain("(no output recorded)");
    const running = start("sleep 60");
    expect((await call({ action: "log", sessionId: running.id })).text).toBe("(no output yet)");
  });

  it("one line of 1 MiB is one line, cut to what is kept (exec.md 15.5)", async () => {
    const { text, details } = await logOf("head -c 1048576 /dev/zero | tr '\\0' x");
    expect(details).toMatchObject({ totalLines: 1, totalChars: 1_048_576, truncated: true });
    expect(text.startsWith("[Earlier output is no longer in memory.]")).toBe(true);
  });

  it("hints at a prompt that waits for an answer (interactive-pager-hang)", async () => {
    const session = start("printf 'Password: '; read x", PTY);
    await printed(session, "Password");
    monotonicOffset = 15_000;
    const { text, details } = await call({ action: "log", sessionId: session.id });
    expect(details.waitingForInput).toBe(true);
    expect(text).toContain("probably waiting for input");
    expect(text).toContain("Last line: Password:");
    expect((await call({ action: "list" })).text).toContain("[input-wait]");
  });
});

describe("input", () => {
  it("write reaches a pipe session that was started with an open stdin, and eof ends it", async () => {
    const session = start("cat; echo end", OPEN);
    expect((await call({ action: "write", sessionId: session.id, data: "héllo\n" })).text).toContain("Wrote 7 bytes");
    expect((await call({ action: "write", sessionId: session.id, data: "", eof: true })).text).toContain("ended stdin");
    await session.ended;
    expect(session.aggregated()).toBe("héllo\nend\n");
  });

  it("is refused where stdin is closed, and after the end (exec.md 15.9, spawn-e2big-epipe)", async () => {
    const closed = start("sleep 60");
    for (const action of ["write", "send-keys", "submit", "paste"]) {
      const { text, details } = await call({ action, sessionId: closed.id, data: "x", keys: ["x"], text: "x" });
      expect(details.status).toBe("failed");
      expect(text).toContain("stdin is not writable");
    }
    const ended = start("true", PTY);
    await ended.ended;
    expect((await call({ action: "write", sessionId: ended.id, data: "x" })).text).toContain("has ended");
  });

  it("submit is Enter in a terminal and a line end in a pipe", async () => {
    const pty = start("echo ready; read x; echo got=$x", PTY);
    await printed(pty, "ready");
    await call({ action: "write", sessionId: pty.id, data: "a" });
    await call({ action: "submit", sessionId: pty.id });
    await pty.ended;
    expect(pty.aggregated()).toContain("got=a");
    const pipe = start("read x; echo got=$x", OPEN);
    await call({ action: "write", sessionId: pipe.id, data: "b" });
    await call({ action: "submit", sessionId: pipe.id });
    await pipe.ended;
    expect(pipe.aggregated()).toBe("got=b\n");
  });

  it("keys arrive as bytes in the order literal, hex, keys (pty-sendkeys-burst-and-unknown)", async () => {
    const session = start("stty raw -echo; echo ready; head -c 14 | od -An -tx1", PTY);
    await printed(session, "ready");
    const sent = await call({
      action: "send-keys",
      sessionId: session.id,
      literal: "ab",
      hex: ["00", "0x7F"],
      keys: ["Down", "Enter", "C-c", "M-x", "F1"],
    });
    expect(sent.details).toMatchObject({ status: "running", bytes: 14 });
    await session.ended;
    expect(session.aggregated()).toContain("61 62 00 7f 1b 5b 42 0d 03 1b 78 1b 4f 50");
  });

  it("paced keys arrive as well, one after the other", async () => {
    const session = start("stty raw -echo; echo ready; head -c 3 | od -An -c", PTY);
    await printed(session, "ready");
    await call({ action: "send-keys", sessionId: session.id, keys: ["x", "y", "z"], paceMs: 30 });
    await session.ended;
    expect(session.aggregated()).toContain("x   y   z");
  });

  it("arrow keys follow what the program asked for (pty-sendkeys-burst-and-unknown)", async () => {
    const session = start("stty raw -echo; printf '\\033[?1hready'; head -c 3 | od -An -tx1", PTY);
    await printed(session, "ready");
    await call({ action: "send-keys", sessionId: session.id, keys: ["Up"] });
    await session.ended;
    expect(session.aggregated()).toContain("1b 4f 41");
  });

  it("an unknown key or byte refuses all of it before anything is sent (pty-sendkeys-burst-and-unknown)", async () => {
    const session = start("stty raw -echo; echo ready; head -c 1 | od -An -tx1", PTY);
    await printed(session, "ready");
    const unknown = await call({ action: "send-keys", sessionId: session.id, literal: "a", keys: ["Entr"] });
    expect(unknown.details.status).toBe("failed");
    expect(unknown.text).toMatch(/Unknown key "Entr".*Did you mean "enter"/);
    expect((await call({ action: "send-keys", sessionId: session.id, hex: ["xyz"] })).text).toContain("not a byte");
    expect((await call({ action: "send-keys", sessionId: session.id })).text).toBe("No key data provided.");
    await call({ action: "send-keys", sessionId: session.id, keys: ["b"] });
    await session.ended;
    expect(session.aggregated()).toContain(" 62");
  });

  it("keys need a terminal", async () => {
    const session = start("cat", OPEN);
    const { text, details } = await call({ action: "send-keys", sessionId: session.id, keys: ["Enter"] });
    expect(details.status).toBe("failed");
    expect(text).toContain("has no terminal");
  });
});

describe("paste (pty-paste-bracketed)", () => {
  const dump = (setup: string, bytes: number) => `stty raw -echo; ${setup} printf ready; head -c ${bytes} | od -An -c`;

  it("is bracketed for a program that asked for it, line ends as CR", async () => {
    const session = start(dump("printf '\\033[?2004h';", 17), PTY);
    await printed(session, "ready");
    const { details } = await call({ action: "paste", sessionId: session.id, text: "a\nb\r\nc" });
    expect(details).toMatchObject({ bracketed: true, bytes: 17 });
    await session.ended;
    expect(session.aggregated().replace(/\s+/g, " ")).toContain("033 [ 2 0 0 ~ a \\r b \\r c 033 [ 2 0 1 ~");
  });

  it("is plain for one that did not, so nothing is glued to the first word", async () => {
    const session = start("echo ready; read x; echo got=$x", PTY);
    await printed(session, "ready");
    const { details } = await call({ action: "paste", sessionId: session.id, text: "line1\n" });
    expect(details.bracketed).toBe(false);
    await session.ended;
    expect(session.aggregated()).toContain("got=line1");
  });

  it("can be told, and an end mark inside the text can not break out of it", async () => {
    const session = start(dump("", 21), PTY);
    await printed(session, "ready");
    await call({ action: "paste", sessionId: session.id, text: "safe\x1b[201~evil\n", bracketed: true });
    await session.ended;
    expect(session.aggregated().replace(/\s+/g, " ")).toContain("0 0 ~ s a f e e v i l \\r 033 [ 2 0 1 ~");
    const empty = start("sleep 60", PTY);
    expect((await call({ action: "paste", sessionId: empty.id, text: "", bracketed: false })).text).toBe(
      "No paste text provided.",
    );
  });
});

describe("resize", () => {
  /** Says its size at the start and whenever it is told of a new one. */
  const WATCH = "trap 'stty size' WINCH; stty size; while :; do sleep 0.02; done";

  it("reaches the program in the terminal: the new size is there and SIGWINCH comes", async () => {
    const session = start(WATCH, PTY);
    await printed(session, "30 120\r\n");
    const { text, details } = await call({ action: "resize", sessionId: session.id, cols: 100, rows: 40 });
    expect(text).toBe(`Session ${session.id} now has a terminal of 100 columns and 40 rows.`);
    expect(details).toMatchObject({ status: "running", cols: 100, rows: 40 });
    await printed(session, "40 100\r\n");
    // One of the two alone; numbers as text, which models send.
    await call({ action: "resize", sessionId: session.id, rows: "24" });
    await printed(session, "24 100\r\n");
    await call({ action: "resize", sessionId: session.id, cols: 80 });
    await printed(session, "24 80\r\n");
    const { details: listed } = await call({ action: "list" });
    expect(listed.sessions).toMatchObject([{ sessionId: session.id, cols: 80, rows: 24 }]);
  });

  it("reaches the job in the foreground of an interactive shell", async () => {
    const session = start("exec bash --norc --noprofile -i", PTY);
    await call({
      action: "write",
      sessionId: session.id,
      data: `sh -c 'trap "stty size; exit" WINCH; echo re""ady; while :; do sleep 0.02; done'\n`,
    });
    await printed(session, "ready\r\n");
    await call({ action: "resize", sessionId: session.id, cols: 132, rows: 50 });
    await printed(session, "50 132\r\n");
  });

  it.each([
    [{}, /resize needs cols \(1 to 500\), rows \(1 to 200\), or both/],
    [{ cols: 0, rows: 24 }, /cols must be a whole number from 1 to 500; 0 is not. The size was not changed/],
    [{ cols: 501 }, /cols must be a whole number from 1 to 500/],
    [{ rows: 201 }, /rows must be a whole number from 1 to 200/],
    [{ rows: 24.5 }, /rows must be a whole number/],
    [{ cols: -80 }, /cols must be a whole number/],
    [{ cols: "wide" }, /Invalid cols.*must be a number/],
  ])("of %j is refused and changes nothing", async (size, why) => {
    const session = start("sleep 5", PTY);
    const { text, details } = await call({ action: "resize", sessionId: session.id, ...size });
    expect(details.status).toBe("failed");
    expect(text).toMatch(why);
    expect(session.handle?.terminal).toMatchObject({ cols: 120, rows: 30 });
  });

  it("needs a terminal that is still there", async () => {
    const pipe = start("sleep 5");
    expect((await call({ action: "resize", sessionId: pipe.id, cols: 80 })).text).toMatch(/has no terminal.*pty: true/);
    const gone = start("true", PTY);
    await gone.ended;
    expect((await call({ action: "resize", sessionId: gone.id, cols: 80 })).text).toMatch(/has ended/);
    expect((await call({ action: "resize", sessionId: "nobody", cols: 80 })).text).toBe("No session found for nobody.");
    const foreground = start("sleep 5", PTY, false);
    expect((await call({ action: "resize", sessionId: foreground.id, cols: 80 })).text).toMatch(/not backgrounded/);
  });

  it("works on after the input has ended", async () => {
    const session = start(WATCH, PTY);
    await printed(session, "30 120");
    await call({ action: "write", sessionId: session.id, data: "", eof: true });
    await call({ action: "resize", sessionId: session.id, cols: 90 });
    await printed(session, "30 90\r\n");
  });
});

describe("ending", () => {
  it("kill answers at once, the end shows up in poll, and a second kill finds nothing (kill-graceful-then-hard, exec.md 15.19)", async () => {
    const session = start("trap 'echo cleaned; exit 0' TERM; echo up; while :; do sleep 0.05; done");
    await printed(session, "up");
    const killed = await call({ action: "kill", sessionId: session.id });
    expect(killed.text).toContain(`Termination requested for session ${session.id}.`);
    expect(killed.details.status).toBe("running");
    await call({ action: "kill", sessionId: session.id });
    const { text, details } = await call({ action: "poll", sessionId: session.id, timeout: 10_000 });
    await session.ended;
    const last = details.status === "killed" ? text : (await call({ action: "poll", sessionId: session.id })).text;
    expect(session.aggregated()).toContain("cleaned");
    expect(last).toContain("Process stopped by request (code 0).");
    expect(session.status).toBe("killed");
    expect((await call({ action: "kill", sessionId: session.id })).text).toBe(
      `No active session found for ${session.id}.`,
    );
  });

  it("clear takes finished ones only, remove takes both", async () => {
    const running = start("sleep 60");
    const finished = start("true");
    await finished.ended;
    expect((await call({ action: "clear", sessionId: running.id })).text).toBe(
      `No finished session found for ${running.id}.`,
    );
    expect((await call({ action: "clear", sessionId: finished.id })).details.status).toBe("completed");
    expect((await call({ action: "poll", sessionId: finished.id })).text).toContain("No session found");
    expect((await call({ action: "remove", sessionId: running.id })).text).toContain("termination requested");
    expect((await call({ action: "list" })).text).toBe("No running or recent sessions.");
    expect((await running.ended).reason).toBe("manual-cancel");
  });

  it("a terminal session in the background is listed and writable (pty-fallback-and-shape)", async () => {
    const session = start("echo up; sleep 60", PTY);
    await printed(session, "up");
    expect((await call({ action: "list" })).details.sessions).toEqual([
      expect.objectContaining({ sessionId: session.id, stdinWritable: true }),
    ]);
  });
});
