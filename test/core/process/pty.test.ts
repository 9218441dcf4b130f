import { readdirSync, readlinkSync } from "node:fs";
import { afterEach, expect, it } from "vitest";
import { createSupervisor, type Supervisor } from "../../../src/core/process/supervisor.ts";
import type { SpawnPlan } from "../../../src/core/process/types.ts";
import { requireOrSkip } from "../../support/require.ts";
import { bashPlan, ENV, eventually, isAlive, quickSupervisor, runToEnd } from "./support.ts";

const SIZE = { cols: 120, rows: 30 };

let supervisor: Supervisor;
afterEach(async () => {
  await supervisor.shutdown();
});

function ptyPlan(command: string, extra: Partial<SpawnPlan> = {}): SpawnPlan {
  return bashPlan(command, { pty: SIZE, ...extra });
}

/** Descriptors of terminals that this process holds open. */
function openTerminals(): number {
  return readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return /\/dev\/(ptmx|pts)/.test(readlinkSync(`/proc/self/fd/${fd}`));
    } catch {
      return false;
    }
  }).length;
}

const describePty = requireOrSkip("a terminal (node-pty on Linux)", process.platform === "linux");

describePty("a command in a terminal", () => {
  it("has a terminal of 120 by 30 and says so in TERM", async () => {
    supervisor = quickSupervisor();
    const { output, end, handle } = await runToEnd(supervisor, ptyPlan("stty size; tty; echo $TERM; exit 4"));
    expect(output).toMatch(/^30 120\r\n\/dev\/pts\/\d+\r\nxterm-256color\r\n$/);
    expect(end).toMatchObject({ reason: "exit", exitCode: 4, exitSignal: null });
    expect(handle.pty).toBe(true);
    expect(handle.warnings).toEqual([]);
  });

  it.each([
    ["screen", "screen"],
    ["dumb", "xterm-256color"],
    ["", "xterm-256color"],
  ])("TERM=%s becomes %s", async (given, seen) => {
    supervisor = quickSupervisor();
    const { output } = await runToEnd(supervisor, ptyPlan("echo $TERM", { env: { ...ENV, TERM: given } }));
    expect(output.trim()).toBe(seen);
  });

  it("loses no output at exit, in 100 runs of 20,480 characters (pty-exit-before-data)", async () => {
    supervisor = quickSupervisor();
    const text = "0123456789abcdef".repeat(1280);
    const plan: SpawnPlan = { ...ptyPlan(""), file: "/bin/echo", args: ["-n", text] };
    let lost = 0;
    for (let run = 0; run < 100; run++) {
      const { output } = await runToEnd(supervisor, plan);
      if (output !== text) lost++;
    }
    expect(lost).toBe(0);
  }, 60_000);

  it("loses no output at exit when 20 terminals end at once", async () => {
    supervisor = quickSupervisor();
    const runs = Array.from({ length: 20 }, () => runToEnd(supervisor, ptyPlan("seq 1 20000")));
    for (const { output } of await Promise.all(runs)) {
      expect(output.endsWith("19999\r\n20000\r\n")).toBe(true);
      expect(output.length).toBe(108_894 + 20_000);
    }
  }, 60_000);

  it.each([
    ["written raw", "stty raw; head -c 300000 /dev/zero | tr '\\0' r", "r".repeat(300_000)],
    ["in capitals", "stty olcuc; echo text", "TEXT\r\n"],
    ["with NUL and bytes that are no text", "stty -opost; printf 'a\\000\\0000123\\377'", "a\\x00\\x000123\ufffd"],
    ["of a program that kills itself", "printf done; kill -KILL $$", "done"],
    ["of a program that leaves others behind", "echo done; (trap '' HUP; exec sleep 30) &", "done\r\n"],
    ["nothing", "true", ""],
  ])("gives all output and nothing else at exit: %s (pty-exit-before-data)", async (_, command, expected) => {
    supervisor = quickSupervisor();
    const ended = await Promise.all(Array.from({ length: 5 }, () => runToEnd(supervisor, ptyPlan(command))));
    for (const { output } of ended) expect(output).toBe(expected);
  });

  it("ends although its output was stopped by ^S", async () => {
    supervisor = quickSupervisor();
    const { output, end } = await runToEnd(supervisor, ptyPlan("echo ready; sleep 0.3; exit 7"), (handle) => {
      void handle.write("\x13");
    });
    expect([output, end.exitCode]).toEqual(["ready\r\n", 7]);
  });

  it("ends by a signal with the signal's name and no exit code (exec.md 15.17)", async () => {
    supervisor = quickSupervisor();
    const { end } = await runToEnd(supervisor, ptyPlan("kill -KILL $$"));
    expect(end).toMatchObject({ reason: "signal", exitCode: null, exitSignal: "SIGKILL" });
  });

  it("takes input, echoes it, and ends it with EOF; after that nothing can be written", async () => {
    supervisor = quickSupervisor();
    const { output, end, handle } = await runToEnd(
      supervisor,
      ptyPlan("echo ready; read x; echo got=$x; cat; echo eof"),
      async (running) => {
        await running.write("abc\r");
        await running.endInput();
        expect(running.stdinWritable).toBe(false);
      },
    );
    expect(output).toContain("got=abc\r\n");
    expect(output.endsWith("eof\r\n")).toBe(true);
    expect(end.exitCode).toBe(0);
    await expect(handle.write("x")).rejects.toMatchObject({ code: "invalid-argument" });
  });

  it("answers a question for the cursor position, and hides it from the output", async () => {
    supervisor = quickSupervisor();
    const { output } = await runToEnd(
      supervisor,
      ptyPlan(`stty -echo; printf 'ask\\033[6n'; IFS= read -rs -d R answer; printf 'len=%s' "\${#answer}"`),
    );
    expect(output).toBe("asklen=5");
  });

  it("learns how the program wants its arrow keys and pastes", async () => {
    supervisor = quickSupervisor();
    const { handle } = await runToEnd(supervisor, ptyPlan("printf '\\033[?1h\\033[?2004h'; sleep 0.2"));
    expect(handle.terminal).toEqual({ cols: 120, rows: 30, cursorKeys: "application", bracketedPaste: true });
  });

  it("follows a change of its size, tells who listens, and has none after the end", async () => {
    supervisor = quickSupervisor();
    const told: number[][] = [];
    const { output, handle } = await runToEnd(
      supervisor,
      ptyPlan("trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.05; done"),
      (running) => {
        running.onResize?.((...size) => told.push(size));
        running.resize(100, 40);
      },
    );
    expect(output).toContain("40 100");
    expect(told).toEqual([[100, 40]]);
    expect(handle.terminal).toMatchObject({ cols: 100, rows: 40 });
    expect(() => handle.resize(80, 24)).toThrow("no terminal to resize");
  });

  it("is stopped with all that runs in it, also jobs in groups of their own", async () => {
    supervisor = quickSupervisor();
    const { output, end } = await runToEnd(supervisor, ptyPlan("set -m; sleep 60 & echo $!; sleep 60"), (handle) =>
      setTimeout(() => handle.stop("manual-cancel"), 100),
    );
    expect(end).toMatchObject({ reason: "manual-cancel" });
    expect(isAlive(Number(output.split("\r\n", 1)[0]))).toBe(false);
  });

  it("an interactive shell, which ignores SIGTERM, ends at once when it is stopped", async () => {
    supervisor = createSupervisor();
    const { end, tookMs } = await runToEnd(supervisor, ptyPlan("exec bash --noprofile --norc -i"), (handle) =>
      setTimeout(() => handle.stop("manual-cancel"), 200),
    );
    expect(end).toMatchObject({ reason: "manual-cancel", exitCode: null, exitSignal: "SIGHUP" });
    expect(tookMs).toBeLessThan(3000);
  });

  it("keeps the typed name of a multi-call program", async () => {
    supervisor = quickSupervisor();
    const { output } = await runToEnd(supervisor, { ...ptyPlan("echo $0"), argv0: "typed-name" });
    expect(output).toBe("typed-name\r\n");
  });

  it("gives its descriptors back, after 60 runs and after a kill (pty-fd-leak)", async () => {
    supervisor = quickSupervisor();
    await runToEnd(supervisor, ptyPlan("true"));
    const before = openTerminals();
    for (let run = 0; run < 60; run += 10) {
      await Promise.all(Array.from({ length: 10 }, () => runToEnd(supervisor, ptyPlan("true"))));
    }
    await runToEnd(supervisor, ptyPlan("echo x; sleep 60"), (handle) => handle.stop("manual-cancel"));
    await runToEnd(supervisor, ptyPlan("setsid sleep 2 & echo x"));
    await eventually("descriptors are back", () => openTerminals() <= before);
    expect(process.listenerCount("SIGCHLD")).toBe(0);
  }, 60_000);

  it("times out like any other", async () => {
    supervisor = quickSupervisor();
    const { end } = await runToEnd(supervisor, ptyPlan("sleep 60", { timeoutMs: 200 }));
    expect(end).toMatchObject({ reason: "overall-timeout", timedOut: true });
  });
});

describePty("without node-pty", () => {
  it("runs with pipes, says so, and stays writable (pty-fallback-and-shape)", async () => {
    supervisor = createSupervisor({
      loadPty: () => {
        throw new Error("Cannot find module 'node-pty'");
      },
    });
    const { output, end, handle } = await runToEnd(supervisor, ptyPlan("echo ready; read x; echo got=$x"), (running) =>
      running.write("y\n"),
    );
    expect(output).toBe("ready\ngot=y\n");
    expect(end.exitCode).toBe(0);
    expect(handle.pty).toBe(false);
    expect(handle.warnings).toEqual([expect.stringContaining("running without one")]);
  });
});
