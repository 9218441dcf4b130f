import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.ts";
import { BoundedFile } from "../../../src/core/process/bounded-file.ts";
import { surplus } from "../../../src/core/process/log-folder.ts";
import { MAX_RECORDINGS, Recordings } from "../../../src/core/process/recording.ts";
import { bridgeSignals } from "../../../src/core/process/signal-bridge.ts";
import type { Supervisor } from "../../../src/core/process/supervisor.ts";
import { bashPlan, eventually, isAlive, quickSupervisor } from "./support.ts";

const folder = () => mkdtempSync(join(tmpdir(), "openclaw-files-"));

describe("a bounded file", () => {
  it("has every piece in order, also characters that fall on the border of a block", async () => {
    const path = join(folder(), "a.log");
    const file = new BoundedFile(path, 50_000_000);
    let expected = "";
    for (let index = 0; index < 3000; index++) {
      const piece = `${index}€😀`.repeat(1 + (index % 40));
      expected += piece;
      file.write(piece);
      // Plain bytes of all sizes in between, also larger than a block.
      const plain = Buffer.alloc(index % 97 === 0 ? 300_000 : index % 50, 97 + (index % 26));
      expected += plain.toString("latin1");
      file.writePlain(plain);
      plain.fill(0);
      if (index % 500 === 0) await file.flush();
    }
    const state = await file.flush();
    expect(state).toEqual({ path, bytes: Buffer.byteLength(expected), complete: true });
    expect(readFileSync(path, "utf8")).toBe(expected);
    await file.close();
    file.write("late");
    expect((await file.flush()).complete).toBe(false);
    expect(readFileSync(path, "utf8")).toBe(expected);
  });

  it("takes plain bytes up to its limit, and when a block is exactly full", async () => {
    const path = join(folder(), "a.log");
    const file = new BoundedFile(path, 3 * 131_072 + 10);
    file.write("a".repeat(131_072));
    file.writePlain(Buffer.alloc(131_072, "b"));
    file.write("c".repeat(131_072));
    file.writePlain(Buffer.alloc(11, "d"));
    file.writePlain(Buffer.from("e"));
    expect(await file.flush()).toMatchObject({ bytes: 3 * 131_072 + 10, complete: false });
    expect(readFileSync(path, "latin1").replace(/(.)\1*/g, "$1")).toBe("abcd");
    await file.close();
  });

  it("ends at its limit, on a whole character, and says that something is missing", async () => {
    const path = join(folder(), "a.log");
    const file = new BoundedFile(path, 1000);
    file.write("€".repeat(5000));
    const state = await file.flush();
    expect(state.complete).toBe(false);
    expect(readFileSync(path, "utf8")).toBe("€".repeat(333));
    await file.close();
  });

  it("a folder that is not there costs the file, not the program", async () => {
    const file = new BoundedFile(join(folder(), "none", "a.log"), 1000);
    file.write("x");
    expect(await file.flush()).toMatchObject({ complete: false, bytes: 0 });
  });

  it("makes a file that only we can read, also where a readable one was", async () => {
    const path = join(folder(), "a.log");
    writeFileSync(path, "old", { mode: 0o644 });
    const file = new BoundedFile(path, 1000);
    file.write("new");
    await file.close();
    expect(readFileSync(path, "utf8")).toBe("new");
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});

describe("files that are too many together", () => {
  it("go by rank, and of equal rank by age: files of the same moment have the same time", async () => {
    const dir = folder();
    const write = (name: string, secondsAgo: number) => {
      writeFileSync(join(dir, name), "x".repeat(100));
      const at = new Date(1_700_000_000_000 - secondsAgo * 1000);
      utimesSync(join(dir, name), at, at);
    };
    for (const name of ["a.log", "b.log", "c.log", "other.txt"]) write(name, 0);
    write("young-stranger.log", 10);
    write("old-stranger.log", 20);
    const ranks: Record<string, number> = { "c.log": 0, "a.log": 1, "b.log": 2 };
    const order = ["old-stranger.log", "young-stranger.log", "c.log", "a.log", "b.log"];
    for (const [kept, expected] of [5, 4, 3, 2, 1, 0].map((kept) => [kept, order.slice(0, 5 - kept)] as const)) {
      expect(await surplus(dir, ".log", kept * 100, (name) => ranks[name] ?? -1)).toEqual(expected);
    }
    expect(await surplus(dir, ".log", 499, () => 0)).toEqual(["old-stranger.log"]);
  });
});

describe("recordings", () => {
  let supervisor: Supervisor;
  afterEach(async () => {
    await supervisor.shutdown();
  });

  async function record(command: string, runId: string, recordings: Recordings, pty = true) {
    supervisor ??= quickSupervisor();
    const handle = supervisor.start(bashPlan(command, pty ? { pty: { cols: 120, rows: 30 } } : {}));
    const recording = recordings.record(handle, { runId, command, cols: 120, rows: 30, clock: systemClock });
    handle.onOutput(() => {});
    if (pty) handle.resize(100, 40);
    await recording.finished;
  }

  it("are asciicast v2 with every escape sequence of the session, and can be listed and read", async () => {
    supervisor = quickSupervisor();
    const recordings = new Recordings(folder());
    await recordings.start(Date.now());
    await record("printf '\\033[2Jhi\\033[31m'; sleep 0.5; echo €", "run-1", recordings);
    await record("echo two", "run-2", recordings, false);
    const listed = await recordings.list();
    expect(listed.map(({ runId }) => runId).sort()).toEqual(["run-1", "run-2"]);
    const { text, ...info } = await recordings.read("run-1");
    expect(info).toMatchObject({ cols: 120, rows: 30, command: expect.stringContaining("printf") });
    const [header, ...events] = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(header).toMatchObject({ version: 2, width: 120, height: 30 });
    const output = events.filter(([, kind]) => kind === "o").map(([, , data]) => data);
    expect(output.join("")).toBe("\x1b[2Jhi\x1b[31m€\r\n");
    expect(events).toContainEqual([expect.any(Number), "r", "100x40"]);
    const times = events.map(([time]) => time);
    expect([...times].sort((a, b) => a - b)).toEqual(times);
    expect(times.at(-1)).toBeGreaterThan(0.09);
    expect((await recordings.read("run-2")).text).toContain('"two\\r\\n"');
    expect(statSync(info.path).mode & 0o777).toBe(0o600);
  });

  it("end with a whole line when they are full", async () => {
    supervisor = quickSupervisor();
    const recordings = new Recordings(folder(), 2000);
    await record("for i in $(seq 1 200); do echo line $i; sleep 0.002; done", "full", recordings);
    const lines = (await recordings.read("full")).text.trim().split("\n");
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
    expect(lines.length).toBeGreaterThan(3);
  });

  it("that are too many or too large together make room, the oldest first", async () => {
    const path = folder();
    const made = (runId: string, timestamp: number, bytes: number) => {
      const header = JSON.stringify({ version: 2, width: 80, height: 24, timestamp, command: runId });
      writeFileSync(join(path, `${runId}.cast`), `${header}\n`.padEnd(bytes, " "));
    };
    for (const [at, runId] of ["oldest", "older", "newer", "newest"].entries()) made(runId, 1000 + at, 400);
    const recordings = new Recordings(path, 1000, 1000);
    await recordings.start(Date.now());
    expect((await recordings.list()).map((one) => one.runId)).toEqual(["newest", "newer"]);
    for (let at = 0; at < MAX_RECORDINGS + 3; at++) made(`r${at}`, 2000 + at, 1);
    const small = new Recordings(path);
    await small.sweep(Date.now());
    const kept = await small.list();
    expect(kept.length).toBe(MAX_RECORDINGS);
    expect(kept[0]?.runId).toBe(`r${MAX_RECORDINGS + 2}`);
  });

  it("that are not there, or no recordings, are not found; a link is not followed", async () => {
    supervisor = quickSupervisor();
    const path = folder();
    const recordings = new Recordings(path);
    writeFileSync(join(path, "bad.cast"), "not json");
    symlinkSync("/etc/passwd", join(path, "link.cast"));
    for (const runId of ["none", "bad", "link", "../etc/passwd"]) {
      await expect(recordings.read(runId)).rejects.toMatchObject({ code: "not-found" });
    }
    expect(await recordings.list()).toEqual([]);
  });
});

describe("the signal bridge", () => {
  it("passes a signal on, tells about it, and listens no more once the child is gone", async () => {
    const before = process.listenerCount("SIGHUP");
    const child = spawn("sleep", ["60"], { stdio: "ignore" });
    const heard: string[] = [];
    bridgeSignals(child, { signals: ["SIGHUP"], onSignal: (signal) => heard.push(signal) });
    expect(process.listenerCount("SIGHUP")).toBe(before + 1);
    process.kill(process.pid, "SIGHUP");
    await eventually("the child is gone", () => child.exitCode !== null || child.signalCode !== null);
    expect(child.signalCode).toBe("SIGHUP");
    expect(heard).toEqual(["SIGHUP"]);
    expect(isAlive(child.pid ?? 0)).toBe(false);
    expect(process.listenerCount("SIGHUP")).toBe(before);
  });

  it("lets go when detached, twice is the same, and when the child never started", async () => {
    const count = () => ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"].map((signal) => process.listenerCount(signal));
    const before = count();
    const child = spawn("sleep", ["60"], { stdio: "ignore" });
    const bridge = bridgeSignals(child);
    expect(count()).toEqual(before.map((listeners) => listeners + 1));
    bridge.detach();
    bridge.detach();
    expect(count()).toEqual(before);
    child.kill("SIGKILL");
    const failed = spawn("/nonexistent", [], { stdio: "ignore" });
    const closed = new Promise((resolve) => failed.once("error", resolve));
    bridgeSignals(failed);
    await closed;
    expect(count()).toEqual(before);
  });
});
