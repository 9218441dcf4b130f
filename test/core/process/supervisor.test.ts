import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.ts";
import { ExecError } from "../../../src/core/errors.ts";
import { armDeadline } from "../../../src/core/process/deadline.ts";
import { parseProcStat } from "../../../src/core/process/proc-table.ts";
import { createSupervisor, type Supervisor } from "../../../src/core/process/supervisor.ts";
import { inEnglish } from "../../../src/core/words/phrase.ts";
import { bashPlan, eventually, isAlive, quickSupervisor, runToEnd } from "./support.ts";

let supervisor: Supervisor;
afterEach(async () => {
  await supervisor.shutdown();
});

/** The pid that the command printed on its first line. */
function printedPid(output: string): number {
  return Number(output.split("\n", 1)[0]);
}

describe("how a command ends", () => {
  it("gives output of both streams and the exit code", async () => {
    supervisor = quickSupervisor();
    const { output, end } = await runToEnd(supervisor, bashPlan("echo out; echo err >&2; exit 3"));
    expect(output.split("\n").sort()).toEqual(["", "err", "out"]);
    expect(end).toMatchObject({ reason: "exit", exitCode: 3, exitSignal: null, timedOut: false, notes: [] });
  });

  it("names the signal that ended it, with no exit code (exec.md 15.17, poll-status-exit-vs-signal)", async () => {
    supervisor = quickSupervisor();
    const { end } = await runToEnd(supervisor, bashPlan("kill -KILL $$"));
    expect(end).toMatchObject({ reason: "signal", exitCode: null, exitSignal: "SIGKILL" });
  });

  it("keeps output that came before anyone listened", async () => {
    supervisor = quickSupervisor();
    const handle = supervisor.start(bashPlan("printf early"));
    await handle.ended;
    let output = "";
    handle.onOutput((_, text) => {
      output += text;
    });
    expect(output).toBe("early");
  });

  it("gives raw bytes to a recorder and clean text to everyone else", async () => {
    supervisor = quickSupervisor();
    const handle = supervisor.start(bashPlan("printf '\\033[2Jx'"));
    const raw: Buffer[] = [];
    let text = "";
    handle.onRawOutput?.((_, chunk) => raw.push(Buffer.from(chunk)));
    handle.onOutput((_, piece) => {
      text += piece;
    });
    await handle.ended;
    expect(Buffer.concat(raw).toString()).toBe("\x1b[2Jx");
    expect(text).toBe("x");
  });

  it("survives that the command deletes its own working directory (exec.md 15.14)", async () => {
    supervisor = quickSupervisor();
    const cwd = mkdtempSync(join(tmpdir(), "openclaw-cwd-"));
    const { end } = await runToEnd(supervisor, bashPlan(`rmdir ${cwd} && echo gone`, { cwd }));
    expect(end.exitCode).toBe(0);
  });
});

describe("a grandchild that holds the output open", () => {
  it("ends shortly after the shell with the output so far, a note, and the group stopped (exec.md 15.2, exit-while-grandchild-holds-pipe)", async () => {
    supervisor = quickSupervisor();
    const { output, end, tookMs } = await runToEnd(supervisor, bashPlan("sleep 600 | cat & echo $!; echo started"));
    expect(output).toContain("started");
    expect(end).toMatchObject({ reason: "exit", exitCode: 0 });
    expect(end.notes.map(inEnglish)).toEqual([
      expect.stringContaining("held the output open"),
      "2 processes it left running were stopped.",
    ]);
    expect(tookMs).toBeLessThan(1500);
    await eventually("the group is gone", () => !isAlive(printedPid(output)));
  });

  it("collects output that keeps coming, up to the cap", async () => {
    supervisor = quickSupervisor();
    const { output, end, tookMs } = await runToEnd(
      supervisor,
      bashPlan("(while :; do echo more; sleep 0.05; done) & echo now"),
    );
    expect(output.match(/more/g)?.length).toBeGreaterThan(5);
    expect(end.exitCode).toBe(0);
    expect(tookMs).toBeGreaterThan(1000);
    expect(tookMs).toBeLessThan(3000);
  });

  it("does not wait for one that left the group, nor let a later deadline change the result (exec.md 15.3)", async () => {
    supervisor = quickSupervisor();
    const plan = bashPlan("setsid sleep 5 & echo $!", { timeoutMs: 900 });
    const { output, end, tookMs } = await runToEnd(supervisor, plan);
    expect(end).toMatchObject({ reason: "exit", exitCode: 0, timedOut: false });
    expect(tookMs).toBeLessThan(1500);
    process.kill(printedPid(output), "SIGKILL");
  });

  it("lets a daemon with its own session and no output live, and does not claim to have stopped it (exec.md 15.4)", async () => {
    supervisor = quickSupervisor();
    const { output, end, tookMs } = await runToEnd(
      supervisor,
      bashPlan("nohup setsid sleep 30 >/dev/null 2>&1 & echo $!"),
    );
    expect(end.notes).toEqual([]);
    expect(tookMs).toBeLessThan(1000);
    expect(isAlive(printedPid(output))).toBe(true);
    process.kill(printedPid(output), "SIGKILL");
  });

  it("stops what was left in the group although it holds no output, and says so", async () => {
    supervisor = quickSupervisor();
    const { output, end } = await runToEnd(supervisor, bashPlan("sleep 30 >/dev/null 2>&1 & echo $!"));
    expect(end.notes.map(inEnglish)).toEqual(["1 process it left running was stopped."]);
    await eventually("it is gone", () => !isAlive(printedPid(output)));
  });
});

describe("stopping", () => {
  it("escalates to SIGKILL when SIGTERM is ignored (exec.md 15.1)", async () => {
    supervisor = quickSupervisor();
    const plan = bashPlan("trap '' TERM; while :; do sleep 0.1; done", { timeoutMs: 200 });
    const { end, tookMs } = await runToEnd(supervisor, plan);
    expect(end).toMatchObject({ reason: "overall-timeout", timedOut: true, exitCode: null, exitSignal: "SIGKILL" });
    expect(tookMs).toBeGreaterThan(580);
    expect(tookMs).toBeLessThan(1500);
  });

  it("waits 5 s between SIGTERM and SIGKILL unless told otherwise (exec.md 15.1)", async () => {
    supervisor = createSupervisor();
    const plan = bashPlan("trap '' TERM; while :; do sleep 0.2; done", { timeoutMs: 300 });
    const { tookMs } = await runToEnd(supervisor, plan);
    expect(tookMs).toBeGreaterThan(5250);
    expect(tookMs).toBeLessThan(6500);
  });

  it("lets a program clean up after SIGTERM, and its last output arrives (kill-graceful-then-hard)", async () => {
    supervisor = quickSupervisor();
    const { output, end } = await runToEnd(
      supervisor,
      bashPlan("trap 'echo cleaned; exit 0' TERM; echo up; while :; do sleep 0.05; done"),
      (handle) => handle.stop("manual-cancel"),
    );
    expect(output).toContain("cleaned");
    expect(end).toMatchObject({ reason: "manual-cancel", exitCode: 0, timedOut: false });
  });

  it("kills a member that ignores SIGTERM although the leader is gone already (kill-graceful-then-hard)", async () => {
    supervisor = quickSupervisor();
    const { output, end, tookMs } = await runToEnd(
      supervisor,
      bashPlan("(trap '' TERM; echo $BASHPID; while :; do sleep 0.1; done) & wait"),
      (handle) => handle.stop("manual-cancel"),
    );
    expect(end).toMatchObject({ reason: "manual-cancel" });
    expect(tookMs).toBeGreaterThan(380);
    expect(isAlive(printedPid(output))).toBe(false);
  });

  it("reaches a child that left the group while its parent lives", async () => {
    supervisor = quickSupervisor();
    const { output } = await runToEnd(supervisor, bashPlan("setsid sleep 60 & echo $!; wait"), (handle) =>
      setTimeout(() => handle.stop("manual-cancel"), 50),
    );
    expect(isAlive(printedPid(output))).toBe(false);
  });

  it("is the same twice, and nothing once it has ended (exec.md 15.19)", async () => {
    supervisor = quickSupervisor();
    const { end, handle } = await runToEnd(supervisor, bashPlan("echo up; sleep 60"), (running) => {
      running.stop("manual-cancel");
      running.stop("overall-timeout");
    });
    expect(end.reason).toBe("manual-cancel");
    handle.stop("manual-cancel");
    expect(await handle.ended).toBe(end);
  });

  it("leaves no zombie and no orphan behind a whole tree (exec.md 15.12)", async () => {
    supervisor = quickSupervisor();
    const script = "for i in 1 2 3; do (sleep 60 & sleep 60) & done; echo $$; wait";
    const { output } = await runToEnd(supervisor, bashPlan(script), (handle) =>
      setTimeout(() => handle.stop("manual-cancel"), 100),
    );
    const group = printedPid(output);
    const left = readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        try {
          const stat = parseProcStat(readFileSync(`/proc/${name}/stat`, "latin1"));
          return stat !== undefined && stat.group === group && !stat.zombie ? [stat] : [];
        } catch {
          return [];
        }
      });
    expect(left).toEqual([]);
  });

  it("shutdown ends everything, waits for it, and starts nothing more (exec.md 15.24)", async () => {
    supervisor = quickSupervisor();
    const handles = Array.from({ length: 5 }, () => supervisor.start(bashPlan("sleep 60 & sleep 60")));
    expect(supervisor.live).toBe(5);
    await supervisor.shutdown();
    expect(supervisor.live).toBe(0);
    for (const handle of handles) {
      expect((await handle.ended).reason).toBe("shutdown");
      expect(isAlive(handle.pid ?? 0)).toBe(false);
    }
    expect(() => supervisor.start(bashPlan("true"))).toThrow(expect.objectContaining({ code: "draining" }));
  });
});

describe("time limits", () => {
  it("counts from the spawn, fractions of a second as well (exec.md 15.25, default-timeout-on-background)", async () => {
    supervisor = quickSupervisor();
    const { end, tookMs } = await runToEnd(supervisor, bashPlan("sleep 60", { timeoutMs: 250 }));
    expect(end).toMatchObject({ reason: "overall-timeout", timedOut: true, exitSignal: "SIGTERM" });
    expect(tookMs).toBeGreaterThan(240);
    // Far from the minute it asked for, on a machine of any speed.
    expect(tookMs).toBeLessThan(15_000);
  });

  it("none means none (exec.md 15.11)", async () => {
    supervisor = quickSupervisor();
    const { end } = await runToEnd(supervisor, bashPlan("sleep 0.5; echo lived"));
    expect(end).toMatchObject({ reason: "exit", exitCode: 0 });
  });

  it("a limit longer than a timer can hold does not fire at once (exec.md 15.25)", async () => {
    supervisor = quickSupervisor();
    const { end } = await runToEnd(supervisor, bashPlan("sleep 0.1", { timeoutMs: 9e12 }));
    expect(end.reason).toBe("exit");
  });

  it("a timer that comes before its time is armed again", async () => {
    let monotonic = 0;
    const clock = { now: systemClock.now, monotonic: () => monotonic };
    let fired = 0;
    const deadline = armDeadline(clock, 20, () => {
      fired++;
    });
    // The clock stands still: the timer wakes, sees that nothing has passed, and waits again.
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(fired).toBe(0);
    monotonic = 20;
    await eventually("it fires", () => fired === 1);
    deadline.cancel();
  });
});

describe("input", () => {
  it("is at its end from the start unless asked for (exec.md 15.9)", async () => {
    supervisor = quickSupervisor();
    const { output, end, handle } = await runToEnd(supervisor, bashPlan("cat; read x; echo read=$?"));
    expect(output).toBe("read=1\n");
    expect(end.exitCode).toBe(0);
    await expect(handle.write("x")).rejects.toMatchObject({ code: "invalid-argument" });
  });

  it("open: what is written arrives, and its end too", async () => {
    supervisor = quickSupervisor();
    const handle = supervisor.start(bashPlan("cat; echo done", { stdin: "open" }));
    let output = "";
    handle.onOutput((_, text) => {
      output += text;
    });
    await handle.write("hello\n");
    await handle.endInput();
    expect(handle.stdinWritable).toBe(false);
    await handle.ended;
    expect(output).toBe("hello\ndone\n");
  });

  it("a program that closed it gives an error to the writer and nothing else (exec.md 15.10, spawn-e2big-epipe)", async () => {
    supervisor = quickSupervisor();
    const { end } = await runToEnd(
      supervisor,
      bashPlan("exec 0<&-; echo closed; sleep 0.4", { stdin: "open" }),
      (handle) => {
        handle.write("x".repeat(100_000)).catch(() => {});
        setTimeout(() => void handle.write("y").catch(() => {}), 50);
      },
    );
    expect(end).toMatchObject({ reason: "exit", exitCode: 0 });
  });

  it("a program that does not read: bytes are taken up to a limit, then refused at once (spawn-e2big-epipe)", async () => {
    supervisor = quickSupervisor();
    const handle = supervisor.start(bashPlan("sleep 60", { stdin: "open" }));
    await handle.write(Buffer.alloc(1_000_000));
    expect(handle.queuedInput).toBeGreaterThan(0);
    await expect(handle.write(Buffer.alloc(1_000_000))).rejects.toMatchObject({ code: "payload-too-large" });
    handle.stop("manual-cancel");
    await handle.ended;
  });
});

describe("a start that fails", () => {
  const failureOf = async (start: () => { readonly spawned: Promise<void> }): Promise<ExecError> => {
    try {
      await start().spawned;
    } catch (error) {
      if (error instanceof ExecError) return error;
    }
    throw new Error("it did not fail with an ExecError");
  };

  it("too large: one word over 128 KiB, in the command or the environment (exec.md 15.13, spawn-e2big-epipe)", async () => {
    supervisor = quickSupervisor();
    const large = "x".repeat(200_000);
    const command = await failureOf(() => supervisor.start(bashPlan(large)));
    expect(command).toMatchObject({ code: "spawn-failed", details: { errno: "E2BIG" } });
    const environment = await failureOf(() => supervisor.start(bashPlan("true", { env: { BIG: large } })));
    expect(environment.message).toContain("too large");
    expect(supervisor.live).toBe(0);
    const { output } = await runToEnd(supervisor, bashPlan(`echo ${"x".repeat(100_000)}`));
    expect(output.length).toBe(100_001);
  });

  it("a missing working directory is named, not the shell (exec.md 15.14)", async () => {
    supervisor = quickSupervisor();
    const cwd = mkdtempSync(join(tmpdir(), "openclaw-cwd-"));
    rmSync(cwd, { recursive: true });
    const error = await failureOf(() => supervisor.start(bashPlan("true", { cwd })));
    expect(error.code).toBe("workdir-unavailable");
    expect(error.message).toContain(cwd);
  });

  it("says what was missing or forbidden", async () => {
    supervisor = quickSupervisor();
    const missing = await failureOf(() => supervisor.start({ ...bashPlan(""), file: "/nonexistent/tool" }));
    expect(missing).toMatchObject({ code: "spawn-failed", details: { errno: "ENOENT" } });
    const forbidden = await failureOf(() => supervisor.start({ ...bashPlan(""), file: "/etc/passwd" }));
    expect(forbidden).toMatchObject({ code: "spawn-failed", details: { errno: "EACCES" } });
    const handle = supervisor.start({ ...bashPlan(""), file: "/nonexistent/tool" });
    expect(await handle.ended).toMatchObject({ reason: "spawn-failed", exitCode: null });
    expect(handle.pid).toBeUndefined();
  });

  it("a NUL is refused with the place it is in, never cut off (exec.md 15.15)", async () => {
    supervisor = quickSupervisor();
    const codeOf = async (plan: Parameters<Supervisor["start"]>[0]) =>
      (await failureOf(() => supervisor.start(plan))).code;
    expect(await codeOf(bashPlan("echo a\0b; echo c"))).toBe("command-has-nul");
    expect(await codeOf(bashPlan("true", { env: { X: "x\0y" } }))).toBe("env-invalid");
    expect(await codeOf(bashPlan("true", { cwd: "/tmp\0x" }))).toBe("workdir-unavailable");
    expect(await codeOf(bashPlan("echo a\0b", { pty: { cols: 80, rows: 24 } }))).toBe("command-has-nul");
  });
});

describe("a flood", () => {
  it("is collected to its end, the deadline fires in time and the event loop stays free (exec.md 15.22, pipe-backpressure-event-loop)", async () => {
    supervisor = quickSupervisor();
    let worst = 0;
    let last = performance.now();
    const beat = setInterval(() => {
      worst = Math.max(worst, performance.now() - last - 10);
      last = performance.now();
    }, 10);
    let chars = 0;
    const handle = supervisor.start(bashPlan("yes", { timeoutMs: 1500 }));
    handle.onOutput((_, text) => {
      chars += text.length;
    });
    const end = await handle.ended;
    clearInterval(beat);
    expect(end).toMatchObject({ reason: "overall-timeout" });
    expect(end.durationMs).toBeLessThan(2500);
    expect(chars).toBeGreaterThan(10_000_000);
    expect(worst).toBeLessThan(500);
  });

  it("loses nothing: every line of 20 MB arrives once and in order", async () => {
    supervisor = quickSupervisor();
    let expected = 1;
    let rest = "";
    const handle = supervisor.start(bashPlan("seq 1 2500000"));
    handle.onOutput((_, text) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line !== String(expected)) throw new Error(`line ${expected} came as ${line.slice(0, 40)}`);
        expected++;
      }
    });
    const end = await handle.ended;
    expect(end.exitCode).toBe(0);
    expect(rest).toBe("");
    expect(expected).toBe(2_500_001);
  });
});

describe("the process table", () => {
  it("reads names with blanks and brackets", () => {
    const stat = "42 (a) b (c) S 1 40 39 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 0 0";
    expect(parseProcStat(stat)).toEqual({
      pid: 42,
      ppid: 1,
      group: 40,
      session: 39,
      startTicks: 987654,
      zombie: false,
    });
    expect(parseProcStat("no such thing")).toBeUndefined();
  });

  it("gives the start time of a child, which tells a reused pid apart", async () => {
    supervisor = quickSupervisor();
    const handle = supervisor.start(bashPlan("sleep 5"));
    const stat = parseProcStat(readFileSync(`/proc/${handle.pid}/stat`, "latin1"));
    expect(handle.startTicks).toBe(stat?.startTicks);
    expect(stat).toMatchObject({ group: handle.pid, session: handle.pid });
    expect(readFileSync(`/proc/${handle.pid}/oom_score_adj`, "utf8").trim()).toBe("1000");
  });
});
