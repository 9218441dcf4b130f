import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { processLimits } from "../../../src/core/process/limits.ts";
import { ProcessSessions, type ProcessSessionsOptions } from "../../../src/core/process/registry.ts";
import type { ProcessSession } from "../../../src/core/process/session.ts";
import type { Supervisor } from "../../../src/core/process/supervisor.ts";
import type { SpawnPlan } from "../../../src/core/process/types.ts";
import { bashPlan, eventually, quickSupervisor } from "./support.ts";

let supervisor: Supervisor;
let sessions: ProcessSessions;
let runs = 0;

beforeEach(() => {
  supervisor = quickSupervisor();
});
afterEach(async () => {
  vi.useRealTimers();
  await supervisor.shutdown();
  await sessions.close();
});

function make(options: Partial<ProcessSessionsOptions> = {}): ProcessSessions {
  sessions = new ProcessSessions({ limits: () => processLimits({}), ...options });
  return sessions;
}

function reserve(command: string, extra: { agentId?: string; callId?: string } = {}): ProcessSession {
  return sessions.reserve({
    runId: `run-${++runs}`,
    command,
    cwd: "/tmp",
    host: "gateway",
    agentId: "main",
    sessionKey: "agent:main:test",
    ...extra,
  });
}

function start(
  command: string,
  extra: { agentId?: string; plan?: Partial<SpawnPlan>; foreground?: boolean } = {},
): ProcessSession {
  const session = reserve(command, extra.agentId === undefined ? {} : { agentId: extra.agentId });
  session.attach(supervisor.start(bashPlan(command, extra.plan)));
  if (extra.foreground !== true) session.background();
  return session;
}

describe("identity", () => {
  it("ids can be said and typed, and are unique among all sessions", () => {
    make({ random: () => 0 });
    const ids = Array.from({ length: 16 }, () => reserve("true").id);
    expect(new Set(ids).size).toBe(16);
    expect(ids[0]).toBe("amber-acorn");
    expect(ids[1]).toBe("amber-acorn-2");
    for (const id of ids) expect(id).toMatch(/^[a-z0-9-]{1,64}$/);
  });

  it("another agent's session is as unknown as one that never was (exec.md 15.23, poll-unknown-session)", () => {
    make();
    const session = start("sleep 5", { agentId: "alice" });
    expect(sessions.find(session.id, "agent:bob")).toBeUndefined();
    expect(sessions.list("agent:bob")).toEqual([]);
    expect(sessions.find(session.id, "agent:alice")).toBe(session);
    expect(sessions.byRun(session.runId)).toBe(session);
  });

  it("a repeated tool call finds the session of the first (duplicate-retry-spawn)", () => {
    make();
    const session = reserve("deploy.sh", { callId: "c1" });
    expect(sessions.byCall("agent:main", "c1")).toBe(session);
    expect(sessions.byCall("agent:main", "c2")).toBeUndefined();
    expect(sessions.byCall("agent:other", "c1")).toBeUndefined();
  });

  it("lists what is in the background, newest first, under a short name", () => {
    make();
    start("sleep 5", { foreground: true });
    const first = start("FOO=1 make -j4 all >/dev/null");
    const second = start("sleep 5; echo done");
    expect(sessions.list("agent:main")).toEqual([second, first]);
    expect([first.name, second.name]).toEqual(["make all", "sleep 5"]);
  });
});

describe("foreground or background, never both (exec.md 15.18)", () => {
  it("an ended session can not be put into the background any more", async () => {
    make();
    const session = start("true", { foreground: true });
    await session.ended;
    expect(session.background()).toBe(false);
    expect(session.backgrounded).toBe(false);
    expect(sessions.list("agent:main")).toEqual([]);
  });

  it("a backgrounded one tells its end exactly once, after its state is final", async () => {
    make();
    const seen: string[] = [];
    sessions.onEnd((ended) => seen.push(`${ended.id} ${ended.status} ${ended.end?.exitCode} ${ended.aggregated()}`));
    const session = start("echo hi; exit 2");
    await session.ended;
    expect(seen).toEqual([`${session.id} completed 2 hi\n`]);
  });

  it("a listener that throws does not keep others from hearing", async () => {
    const errors: unknown[] = [];
    make({ onListenerError: (error) => errors.push(error) });
    let heard = 0;
    sessions.onEnd(() => {
      throw new Error("bad listener");
    });
    sessions.onEnd(() => {
      heard++;
    });
    await start("true").ended;
    expect(heard).toBe(1);
    expect(errors).toHaveLength(1);
  });
});

describe("status of what has ended (poll-status-exit-vs-signal)", () => {
  it.each([
    ["exit 0", "completed"],
    ["exit 3", "completed"],
    ["exit 127", "failed"],
    ["kill -TERM $$", "failed"],
  ])("%s is %s", async (command, status) => {
    make();
    const session = start(command);
    expect(session.status).toBe("running");
    await session.ended;
    expect(session.status).toBe(status);
    expect(session.waitingForInput).toBe(false);
  });

  it("a stop on request is killed, a stop before the start is passed on, a failed start is failed", async () => {
    make();
    const killed = start("sleep 60");
    killed.stop();
    await killed.ended;
    expect(killed.status).toBe("killed");

    const early = reserve("sleep 60");
    early.stop();
    expect(early.stopWanted).toBe(true);
    early.attach(supervisor.start(bashPlan("sleep 60")));
    expect((await early.ended).reason).toBe("manual-cancel");

    const failed = reserve("nope");
    failed.fail("could not be started");
    expect(failed.status).toBe("failed");
    expect(failed.end).toMatchObject({ reason: "spawn-failed", notes: ["could not be started"] });
  });
});

describe("what is kept", () => {
  it("the newest 50 ended sessions; running ones always (exec.md 15.23)", async () => {
    make();
    const running = start("sleep 60");
    const ended: ProcessSession[] = [];
    for (let index = 0; index < 53; index++) {
      const session = start("true");
      ended.push(session);
      await session.ended;
    }
    const listed = sessions.list("agent:main");
    expect(listed).toHaveLength(51);
    expect(listed).toContain(running);
    expect(listed).not.toContain(ended[2]);
    expect(listed).toContain(ended[3]);
  });

  it("foreground leftovers do not push out what is listed", async () => {
    make({ maxFinished: 2 });
    const kept = start("true");
    await kept.ended;
    for (let index = 0; index < 4; index++) await start("true", { foreground: true }).ended;
    expect(sessions.list("agent:main")).toEqual([kept]);
    expect(sessions.all()).toHaveLength(3);
  });

  it("together not more than so many characters, the newest whole in any case", async () => {
    make({ maxRetainedChars: 25_000 });
    const flood = "head -c 20000 /dev/zero | tr '\\0' x";
    const first = start(flood);
    await first.ended;
    const second = start(flood);
    await second.ended;
    expect(sessions.list("agent:main")).toEqual([second]);
    const huge = start("head -c 100000 /dev/zero | tr '\\0' x");
    await huge.ended;
    expect(sessions.list("agent:main")).toEqual([huge]);
    expect(huge.aggregated()).toHaveLength(100_000);
  });

  it("until its time is over, counted from its end; a running one never expires (exec.md 15.23)", async () => {
    let now = 1_000_000;
    const clock = { now: () => now, monotonic: () => performance.now() };
    make({ clock, limits: () => ({ ...processLimits({}), jobTtlMs: 60 }) });
    const running = start("sleep 60");
    const ended = start("true");
    await ended.ended;
    // The timer runs in real time and asks this clock: as long as it stands still nothing is over.
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(sessions.list("agent:main")).toEqual([ended, running]);
    now += 60;
    await eventually("it has expired", () => sessions.list("agent:main").length === 1);
    expect(sessions.find(ended.id, "agent:main")).toBeUndefined();
    expect(sessions.list("agent:main")).toEqual([running]);
  });

  it("a removed running session is hidden at once, stopped, and forgotten at its end", async () => {
    make();
    const session = start("sleep 60");
    sessions.remove(session);
    expect(sessions.find(session.id, "agent:main")).toBeUndefined();
    expect(sessions.list("agent:main")).toEqual([]);
    expect((await session.ended).reason).toBe("manual-cancel");
    await eventually("it is forgotten", () => sessions.byRun(session.runId) === undefined);
  });
});

describe("unread output", () => {
  it("comes once and in order, while the log keeps all of it (poll-drains-log-keeps)", async () => {
    make();
    const session = start("for i in $(seq 1 50); do printf 'x%.0s' $(seq 1 99); echo $i; done");
    let polled = "";
    while (session.end === undefined || session.hasUnread) {
      await session.waitForNews(5000);
      const delivery = session.read();
      polled += delivery.text;
      delivery.acknowledge();
    }
    expect(polled).toBe(session.aggregated());
    expect(polled.match(/\n/g)).toHaveLength(50);
  });

  it("is given again until it is acknowledged", async () => {
    make();
    const session = start("echo one");
    await session.ended;
    const lost = session.read();
    expect(lost.text).toBe("one\n");
    const again = session.read();
    expect(again.text).toBe("one\n");
    again.acknowledge();
    expect(session.read().text).toBe("");
  });

  it("a wait ends with output, with the end, with an abort, and with its time", async () => {
    make();
    const session = start("read x; echo out; read x; echo -n", { plan: { stdin: "open" } });
    const since = performance.now();
    await session.waitForNews(50);
    expect(performance.now() - since).toBeGreaterThan(40);

    const aborted = new AbortController();
    const waiting = session.waitForNews(60_000, aborted.signal);
    aborted.abort();
    await waiting;

    const output = session.waitForNews(60_000);
    await session.write("\n");
    await output;
    expect(session.read().text).toBe("out\n");
    session.read().acknowledge();

    const end = session.waitForNews(60_000);
    await session.write("\n");
    await end;
    await session.ended;
  });

  it("the end counts as observed when read, as acknowledged when it arrived (exec.md 15.21)", async () => {
    make();
    const acknowledged: string[] = [];
    sessions.onEndAcknowledged((session) => acknowledged.push(session.id));
    const session = start("true");
    session.observeEnd();
    expect(session.endObserved).toBe(false);
    await session.ended;
    session.observeEnd();
    expect([session.endObserved, session.endAcknowledged]).toEqual([true, false]);
    session.acknowledgeEnd();
    session.acknowledgeEnd();
    expect(acknowledged).toEqual([session.id]);
  });
});

describe("waiting for input", () => {
  it("means: stdin open and silent for a while", async () => {
    let monotonic = 0;
    const clock = { now: () => Date.now(), monotonic: () => monotonic };
    make({ clock });
    const open = start("read x", { plan: { stdin: "open" } });
    const closed = start("sleep 60");
    monotonic = 14_999;
    expect(open.waitingForInput).toBe(false);
    monotonic = 15_000;
    expect(open.waitingForInput).toBe(true);
    expect(closed.waitingForInput).toBe(false);
    await open.write("x\n");
    await open.ended;
    expect(open.waitingForInput).toBe(false);
  });
});

describe("the log on disk", () => {
  const flood = "seq 1 60000";

  it("has all that memory dropped, in a file of one's own", async () => {
    const logFolder = join(mkdtempSync(join(tmpdir(), "openclaw-logs-")), "logs");
    make({ logFolder });
    await sessions.start();
    const session = start(flood);
    await session.ended;
    expect(session.lost).toBe(true);
    expect(session.aggregated().length).toBe(200_000);
    const log = await session.logFile();
    expect(log.complete).toBe(true);
    const lines = readFileSync(log.path, "utf8").split("\n");
    expect(lines).toHaveLength(60_001);
    expect(lines.slice(0, 3)).toEqual(["1", "2", "3"]);
    expect(lines.at(-2)).toBe("60000");
    expect(statSync(log.path).mode & 0o777).toBe(0o600);
    expect(statSync(logFolder).mode & 0o777).toBe(0o700);
    sessions.forget(session);
    await eventually("the file is gone", () => !existsSync(log.path));
  });

  it("stops at its limit and says that it is not complete", async () => {
    const logFolder = mkdtempSync(join(tmpdir(), "openclaw-logs-"));
    make({ logFolder, logMaxBytes: 250_000 });
    const session = start(flood);
    await session.ended;
    const log = await session.logFile();
    expect(log).toMatchObject({ complete: false, bytes: 250_000 });
    expect(statSync(log.path).size).toBe(250_000);
  });

  it("of all sessions together stay within their limit: the oldest ended ones go, what runs and the newest stay", async () => {
    const logFolder = mkdtempSync(join(tmpdir(), "openclaw-logs-"));
    writeFileSync(join(logFolder, "of-an-earlier-life.log"), "x".repeat(100_000));
    utimesSync(join(logFolder, "of-an-earlier-life.log"), new Date(), new Date(Date.now() - 60_000));
    make({ logFolder, logMaxBytes: 250_000, logMaxTotalBytes: 600_000 });
    await sessions.start();
    const done = [];
    for (let turn = 0; turn < 3; turn++) {
      const session = start(flood);
      await session.ended;
      done.push(session);
    }
    const [first, second, third] = done as [ProcessSession, ProcessSession, ProcessSession];
    await Promise.all(done.map((session) => session.logWritten));
    const oldestFirst = ["of-an-earlier-life.log", ...[first, second, third].map(({ id }) => `${id}.log`)];
    // A disk that is slow for a moment makes a log shorter: how many fit differs, which go first does not.
    await eventually("there is room again, made by the oldest", () => {
      const names = readdirSync(logFolder);
      const bytes = names.reduce(
        (sum, name) => sum + (statSync(join(logFolder, name), { throwIfNoEntry: false })?.size ?? 0),
        0,
      );
      const listed = sessions.all().map(({ id }) => `${id}.log`);
      return (
        bytes <= 600_000 &&
        names.includes(`${third.id}.log`) &&
        names.toSorted().join() === oldestFirst.slice(-names.length).toSorted().join() &&
        listed.toSorted().join() ===
          names
            .filter((name) => name !== oldestFirst[0])
            .toSorted()
            .join()
      );
    });
  });

  it("is made from memory when nothing was dropped, without colours", async () => {
    const logFolder = mkdtempSync(join(tmpdir(), "openclaw-logs-"));
    make({ logFolder });
    const session = start("printf '\\033[31mred\\033[0m\\n'");
    await session.ended;
    const log = await session.logFile();
    expect(readFileSync(log.path, "utf8")).toBe("red\n");
    expect(log.complete).toBe(true);
    expect(session.aggregated("colored")).toBe("\x1b[31mred\x1b[0m\n");
  });

  it("never follows a link that somebody put in its place", async () => {
    const logFolder = mkdtempSync(join(tmpdir(), "openclaw-logs-"));
    const victim = join(logFolder, "victim");
    writeFileSync(victim, "precious");
    make({ logFolder, random: () => 0 });
    symlinkSync(victim, join(logFolder, "amber-acorn.log"));
    const session = start(flood);
    await session.ended;
    const log = await session.logFile();
    expect(readFileSync(victim, "utf8")).toBe("precious");
    expect(log).toMatchObject({ complete: false, path: join(logFolder, "amber-acorn.part.log") });
  });

  it("old files of an earlier process are swept at the start, fresh ones stay", async () => {
    const logFolder = mkdtempSync(join(tmpdir(), "openclaw-logs-"));
    for (const name of ["old.log", "fresh.log", "other.txt"]) writeFileSync(join(logFolder, name), "x");
    const longAgo = (Date.now() - 4 * 3_600_000) / 1000;
    for (const name of ["old.log", "other.txt"]) utimesSync(join(logFolder, name), longAgo, longAgo);
    make({ logFolder });
    await sessions.start();
    expect(["old.log", "fresh.log", "other.txt"].map((name) => existsSync(join(logFolder, name)))).toEqual([
      false,
      true,
      true,
    ]);
  });
});

describe("limits from the environment", () => {
  it("are clamped, and nonsense is ignored", () => {
    expect(processLimits({})).toEqual({
      yieldMs: 10_000,
      maxOutputChars: 200_000,
      pendingMaxChars: 30_000,
      jobTtlMs: 1_800_000,
      inputWaitIdleMs: 15_000,
    });
    expect(
      processLimits({
        OPENCLAW_BASH_YIELD_MS: "-5",
        OPENCLAW_BASH_MAX_OUTPUT_CHARS: "5000",
        OPENCLAW_BASH_PENDING_MAX_OUTPUT_CHARS: "100000",
        OPENCLAW_BASH_JOB_TTL_MS: "1",
        OPENCLAW_PROCESS_INPUT_WAIT_IDLE_MS: "2.5",
      }),
    ).toEqual({ yieldMs: 10, maxOutputChars: 5000, pendingMaxChars: 5000, jobTtlMs: 60_000, inputWaitIdleMs: 15_000 });
  });

  it("read the older names where the newer are empty", () => {
    expect(processLimits({ PI_BASH_YIELD_MS: "50", OPENCLAW_BASH_YIELD_MS: " " }).yieldMs).toBe(50);
    expect(processLimits({ PI_BASH_YIELD_MS: "50", OPENCLAW_BASH_YIELD_MS: "60" }).yieldMs).toBe(60);
  });
});
