/** Both ways to start a child give the same child: what is said here holds for each of them. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type DirectSpawn, loadDirectSpawn } from "../../../src/core/process/direct-spawn.ts";
import { createSupervisor, type Supervisor } from "../../../src/core/process/supervisor.ts";
import { requireOrSkip } from "../../support/require.ts";
import { bashPlan, eventually, isAlive, runToEnd } from "./support.ts";

const direct = loadDirectSpawn();
let folder: string;
let supervisor: Supervisor;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "openclaw-exec-spawn-"));
});
afterEach(async () => {
  await supervisor.shutdown();
  rmSync(folder, { recursive: true, force: true });
});

/** 1 to 31; the C library keeps some of those above for itself. */
const STANDARD_SIGNALS = 0x7fffffffn;

/** Bits of a signal mask of `/proc/<pid>/status`. */
function signals(status: string, field: string): bigint {
  return BigInt(`0x${new RegExp(`${field}:\\s+([0-9a-f]+)`).exec(status)?.[1] ?? "f"}`);
}

describe.each<[string, DirectSpawn | null]>([
  ["started directly", direct ?? null],
  ["started by Node", null],
])("a child %s", (name, directSpawn) => {
  const suite =
    name === "started directly"
      ? requireOrSkip("native/spawn.c (npm install builds it)", direct !== undefined)
      : describe;
  suite("behaves the same", () => {
    beforeEach(() => {
      supervisor = createSupervisor({ directSpawn, graceMs: 400, giveUpMs: 1500, drainQuietMs: 300 });
    });

    it("has exactly the environment, arguments and folder that were planned", async () => {
      const env = { PATH: "/usr/bin:/bin", GRÜSSE: "gut=\n🦞", EMPTY: "" };
      const plan = bashPlan("", {
        file: process.execPath,
        argv0: "claw",
        args: ["-e", "console.log(JSON.stringify([process.argv0, process.cwd(), process.env]))", "🦞"],
        cwd: folder,
        env,
      });
      const { output } = await runToEnd(supervisor, plan);
      expect(JSON.parse(output)).toEqual(["claw", folder, env]);
    });

    it("leads a session and group of its own", async () => {
      const { output } = await runToEnd(supervisor, bashPlan("cut -d' ' -f1,5,6 /proc/$$/stat; echo $$"));
      const [stat, pid] = output.split("\n");
      expect(stat).toBe(`${pid} ${pid} ${pid}`);
    });

    it("is handed no descriptor of the gateway", async () => {
      const listing = { file: "/bin/ls", args: ["/proc/self/fd"] };
      const inherited = execFileSync(listing.file, listing.args, { encoding: "utf8" });
      const busy = supervisor.start(bashPlan("cat", { stdin: "open" }));
      expect((await runToEnd(supervisor, bashPlan("", listing))).output).toBe(inherited);
      await busy.endInput();
      await busy.ended;
    });

    it("has every signal at its default and none blocked, whatever the gateway does with them", async () => {
      const { output } = await runToEnd(supervisor, bashPlan("", { file: "/bin/cat", args: ["/proc/self/status"] }));
      for (const field of ["SigBlk", "SigIgn", "SigCgt"]) expect(signals(output, field) & STANDARD_SIGNALS).toBe(0n);
    });

    it("tells exit codes and signals by their usual names", async () => {
      expect((await runToEnd(supervisor, bashPlan("exit 7"))).end).toMatchObject({ exitCode: 7, exitSignal: null });
      for (const signal of ["SIGABRT", "SIGKILL", "SIGSEGV", "SIGTERM"]) {
        const { end } = await runToEnd(supervisor, bashPlan(`kill -${signal} $$`));
        expect(end).toMatchObject({ reason: "signal", exitCode: null, exitSignal: signal });
      }
    });

    it("reads nothing from a closed stdin, and to its end what an open one was given", async () => {
      expect((await runToEnd(supervisor, bashPlan("wc -c"))).output.trim()).toBe("0");
      const handle = supervisor.start(bashPlan("wc -c", { stdin: "open" }));
      let output = "";
      handle.onOutput((_, text) => {
        output += text;
      });
      await handle.write("x".repeat(300_000));
      await handle.endInput();
      await handle.ended;
      expect(output.trim()).toBe("300000");
      await expect(handle.write("late")).rejects.toThrow();
    });

    it("loses nothing of a flood on both outputs", async () => {
      const plan = bashPlan(
        "(head -c 3000000 /dev/zero | tr '\\0' e >&2) & head -c 5000000 /dev/zero | tr '\\0' o; wait",
      );
      let [out, err] = [0, 0];
      const handle = supervisor.start(plan);
      handle.onOutput((stream, text) => {
        if (stream === "stdout") out += text.length;
        else err += text.length;
      });
      await handle.ended;
      expect([out, err]).toEqual([5_000_000, 3_000_000]);
    });

    it("is stopped with all that it started", async () => {
      const handle = supervisor.start(bashPlan("sleep 300 & echo $!; wait"));
      let output = "";
      handle.onOutput((_, text) => {
        output += text;
      });
      await eventually("the pid was printed", () => output.includes("\n"));
      handle.stop("manual-cancel");
      expect(await handle.ended).toMatchObject({ reason: "manual-cancel" });
      await eventually("the grandchild is gone", () => !isAlive(Number(output.trim())));
    });

    it("is refused with the same words: no program, no permission, no folder, too long", async () => {
      const locked = join(folder, "locked");
      writeFileSync(locked, "#!/bin/sh\n");
      chmodSync(locked, 0o600);
      const refusals = [
        bashPlan("", { file: join(folder, "nothing"), args: [] }),
        bashPlan("", { file: locked, args: [] }),
        bashPlan("true", { cwd: join(folder, "gone") }),
      ].map(async (plan) => supervisor.start(plan).spawned.then(String, (error) => `${error.code}: ${error.message}`));
      const [missing, forbidden, nowhere] = await Promise.all(refusals);
      expect(missing).toMatch(/^spawn-failed: .*nothing/);
      expect(forbidden).toMatch(/^spawn-failed: .*locked/);
      expect(nowhere).toMatch(/^workdir-unavailable: .*gone/);
      expect(() => supervisor.start(bashPlan("", { args: ["x".repeat(200_000)] }))).toThrow(/too (long|large)/i);
    });

    it("runs a script that names no interpreter", async () => {
      const script = join(folder, "script");
      writeFileSync(script, "echo from $0\n", { mode: 0o755 });
      const { output, end } = await runToEnd(supervisor, bashPlan("", { file: script, args: [] }));
      expect([output.trim(), end.exitCode]).toEqual([`from ${script}`, 0]);
    });

    it("is found on its own PATH by name", async () => {
      writeFileSync(join(folder, "greet"), "#!/bin/sh\necho hello\n", { mode: 0o755 });
      const plan = bashPlan("", { file: "greet", args: [], env: { PATH: `${folder}:/usr/bin:/bin` } });
      expect((await runToEnd(supervisor, plan)).output).toBe("hello\n");
    });

    it("leaves no descriptor behind, also where nothing was started", async () => {
      const open = () => readdirSync("/proc/self/fd").length;
      await runToEnd(supervisor, bashPlan("true"));
      const before = open();
      for (let round = 0; round < 20; round++) {
        await Promise.all([
          ...Array.from({ length: 5 }, () => runToEnd(supervisor, bashPlan("echo hi; echo no >&2"))),
          supervisor.start(bashPlan("", { file: join(folder, "nothing") })).spawned.catch(() => {}),
        ]);
      }
      await eventually("all are closed", () => open() <= before);
    });
  });
});
