import { type ChildProcess, spawn } from "node:child_process";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import {
  acquireStateLock,
  findRunningGateway,
  LOCK_FILE,
  type LockRecord,
  SILENT_MS,
} from "../../src/gateway/state-lock.ts";
import { tied } from "../support/tied.ts";

let stateDir: string;
let children: LockChild[] = [];

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "state-lock-"));
});

afterEach(async () => {
  await Promise.all(children.map((child) => child.kill()));
  children = [];
  rmSync(stateDir, { recursive: true, force: true });
});

/** A process of its own: the lock is about processes. */
class LockChild {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor() {
    const script = fileURLToPath(new URL("./lock-child.ts", import.meta.url));
    this.#process = spawn(...tied(process.execPath, ["--import", "tsx", script, stateDir]), {
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#lines = createInterface({ input: this.#process.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  }

  static async start(): Promise<LockChild> {
    const child = new LockChild();
    children.push(child);
    await child.heard();
    return child;
  }

  get pid(): number {
    return this.#process.pid as number;
  }

  async heard(): Promise<string> {
    return (await this.#lines.next()).value as string;
  }

  ask(line: "go" | "release"): Promise<string> {
    this.#process.stdin?.write(`${line}\n`);
    return this.heard();
  }

  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const gone = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.kill("SIGKILL");
    await gone;
  }
}

const path = () => join(stateDir, LOCK_FILE);
const recordNow = () => JSON.parse(readFileSync(path(), "utf8")) as LockRecord;
const acquire = () => acquireStateLock({ stateDir, clock: systemClock, version: "1" });
const write = (record: Partial<LockRecord>) => writeFileSync(path(), JSON.stringify(record), { mode: 0o600 });

async function record(): Promise<LockRecord> {
  const lock = await acquire();
  const found = recordNow();
  lock.release();
  return found;
}

describe("one gateway per state directory", () => {
  test("the second is told who is there: pid, port, since when", async () => {
    const first = await LockChild.start();
    expect(await first.ask("go")).toBe("held");
    const refused = acquire();
    await expect(refused).rejects.toMatchObject({ code: "gateway-running", details: { pid: first.pid, port: 1234 } });
    await expect(refused).rejects.toThrow(new RegExp(`pid ${first.pid}, port 1234, since \\d{4}-\\d\\d-\\d\\d`));
    expect(findRunningGateway(stateDir, Date.now())).toMatchObject({ pid: first.pid, url: "http://127.0.0.1:1234" });
  });

  test("a holder that was killed holds nothing any more", async () => {
    const first = await LockChild.start();
    await first.ask("go");
    await first.kill();
    expect(findRunningGateway(stateDir, Date.now())).toBeUndefined();
    const lock = await acquire();
    expect(recordNow().pid).toBe(process.pid);
    lock.release();
    expect(readdirSync(stateDir)).toEqual([]);
  });

  test("a pid that was given to another process is not taken for the holder", async () => {
    const own = await record();
    write({ ...own, instance: "old", startTicks: (own.startTicks ?? 0) - 1 });
    (await acquire()).release();
  });

  test("a holder in another container counts while it gives signs of life", async () => {
    const own = await record();
    write({ ...own, instance: "other", space: "another boot pid:[1]", hostname: "box-2" });
    await expect(acquire()).rejects.toThrow(/on box-2: pid/);
    const silent = new Date(Date.now() - SILENT_MS - 1000);
    utimesSync(path(), silent, silent);
    (await acquire()).release();
  });

  test("of many that find a dead holder exactly one takes over, every time", async () => {
    const own = await record();
    const racers = await Promise.all(Array.from({ length: 4 }, () => LockChild.start()));
    for (let round = 0; round < 15; round += 1) {
      write({ ...own, instance: `dead-${round}`, pid: 4_194_303, startTicks: 1 });
      const results = await Promise.all(racers.map((racer) => racer.ask("go")));
      expect(results.toSorted()).toEqual(["gateway-running", "gateway-running", "gateway-running", "held"]);
      const winner = racers[results.indexOf("held")] as LockChild;
      expect(recordNow().pid).toBe(winner.pid);
      await winner.ask("release");
      expect(readdirSync(stateDir)).toEqual([]);
    }
  });

  test("a claimer that died in the middle of a takeover is followed, not waited for", async () => {
    const own = await record();
    const dead = { ...own, pid: 4_194_303, startTicks: 1 };
    write({ ...dead, instance: "first" });
    writeFileSync(`${path()}.claim-first`, JSON.stringify({ ...dead, instance: "second" }));
    const lock = await acquire();
    expect(recordNow().pid).toBe(process.pid);
    lock.release();
    expect(readdirSync(stateDir)).toEqual([]);
  });

  test("a file that is no lock of ours is left alone and named", async () => {
    writeFileSync(path(), "{}");
    await expect(acquire()).rejects.toMatchObject({ code: "state-damaged" });
    expect(readFileSync(path(), "utf8")).toBe("{}");
    rmSync(path());
    symlinkSync("/etc/hostname", path());
    await expect(acquire()).rejects.toMatchObject({ code: "state-damaged" });
  });

  test("the file is private", async () => {
    const lock = await acquire();
    lock.listening({ url: "http://127.0.0.1:1", port: 1 });
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    lock.release();
    lock.release();
  });
});
