import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  completionPhrase,
  createSystemEvents,
  isWorthTelling,
  MAX_EVENTS_PER_SESSION,
} from "../../../src/core/events/system-events.ts";
import type { RunRecord } from "../../../src/core/exec/run-record.ts";
import { LANGUAGES } from "../../../src/core/words/languages.ts";
import { inLanguage } from "../../../src/core/words/say.ts";
import { manualClock, openTestState, type TestState } from "../../support/state.ts";
import { endedRun } from "./ended-run.ts";

const quietly = { notifyOnExit: true, notifyOnExitEmptySuccess: false };

describe("is an end worth telling?", () => {
  it.each<[string, Partial<RunRecord>, string, boolean]>([
    ["success with output", {}, "ok", true],
    ["success without output", {}, "", false],
    ["success with blanks only", {}, " \n", false],
    ["success with colours only", {}, "\u001b[0m", false],
    ["failure without output", { outcome: "failed", exitCode: 2 }, "", true],
    ["a signal without output", { outcome: "failed", exitCode: null, exitSignal: "SIGSEGV" }, "", true],
    ["a timeout without output", { outcome: "timed-out" }, "", true],
    ["a stop that somebody asked for", { outcome: "killed" }, "much output", false],
    ["lost with a killed gateway", { outcome: "lost" }, "", true],
  ])("wake-silent-success: %s", (_name, more, output, expected) => {
    expect(isWorthTelling(endedRun(more), quietly, output)).toBe(expected);
  });

  it("wake-silent-success: the empty success too when notifyOnExitEmptySuccess is on, nothing when notifyOnExit is off", () => {
    expect(isWorthTelling(endedRun({}), { ...quietly, notifyOnExitEmptySuccess: true }, "")).toBe(true);
    expect(isWorthTelling(endedRun({ outcome: "failed" }), { ...quietly, notifyOnExit: false }, "x")).toBe(false);
  });
});

describe("what a session is told", () => {
  /** How readers of these texts recognise one (exec.md section 12). */
  const KNOWN = /^exec (completed|failed) \(([a-z0-9_-]{1,64}), (code -?\d+|signal [^)]+)\)( :: .*)?$/i;

  it.each<[string, Partial<RunRecord>]>([
    ["exit 0", {}],
    ["exit 2", { outcome: "failed", exitCode: 2 }],
    ["a signal", { outcome: "failed", exitCode: null, exitSignal: "SIGKILL" }],
    ["a timeout", { outcome: "timed-out", exitCode: null, exitSignal: "SIGTERM" }],
    ["an end nobody saw", { outcome: "lost", exitCode: null }],
  ])("wake-reason-not-recognised: %s is recognised as a completion", (_name, more) => {
    // What follows the snippet after a timeout is advice, on the same line.
    expect(completionPhrase(endedRun(more), "RESULT-42\n").text).toMatch(KNOWN);
  });

  it("is said to people in their language, with the same facts", () => {
    const timedOut = { outcome: "timed-out", exitCode: null, exitSignal: "SIGTERM" } as const;
    const spoken = LANGUAGES.map((language) =>
      inLanguage(completionPhrase(endedRun(timedOut), "RESULT-42\n"), language),
    );
    expect(new Set(spoken).size).toBe(LANGUAGES.length);
    for (const text of spoken) expect(text).toMatch(/^Exec .+\(.+SIGTERM\) :: RESULT-42 \S.+\.$/);
  });

  it("wake-without-payload: holds the last words, on one line and bounded", () => {
    const { text } = completionPhrase(endedRun({}), `${"x".repeat(5_000)}\nRESULT-42\n`);
    expect(text).not.toContain("\n");
    expect(text.length).toBeLessThan(300);
    expect(completionPhrase(endedRun({}), "a\nRESULT-42\n").text).toContain(":: a RESULT-42");
  });
});

describe("events of a session", () => {
  let state: TestState;
  beforeEach(async () => {
    state = await openTestState(manualClock());
  });
  afterEach(() => state.dispose());

  it("wake-wrong-session-key: are found under their own session only, once per command", async () => {
    const events = createSystemEvents(state.store);
    await events.add("agent:main:a", { contextKey: "exec:one", text: "first", atMs: 1 });
    await events.add("agent:main:a", { contextKey: "exec:one", text: "again", atMs: 2 });
    expect((await events.pending("agent:main:a")).map((event) => event.text)).toEqual(["first"]);
    expect(await events.pending("agent:main:b")).toEqual([]);
  });

  it("an end that was told and is told again after a kill is known; the same name at another moment is news", async () => {
    const events = createSystemEvents(state.store);
    const event = { contextKey: "exec:quiet-otter", text: "ended", atMs: 1_000 };
    await events.add("agent:main:a", event);
    await events.remove("agent:main:a", "exec:quiet-otter");
    await events.add("agent:main:a", event);
    expect(await events.pending("agent:main:a")).toEqual([]);
    await events.add("agent:main:a", { ...event, atMs: 2_000 });
    expect(await events.pending("agent:main:a")).toHaveLength(1);
  });

  it("wake-poll-consumes: taking one back leaves the others", async () => {
    const events = createSystemEvents(state.store);
    for (const name of ["one", "two"]) {
      await events.add("agent:main:a", { contextKey: `exec:${name}`, text: name, atMs: 1 });
    }
    await events.remove("agent:main:a", "exec:one");
    expect((await events.pending("agent:main:a")).map((event) => event.text)).toEqual(["two"]);
  });

  it("keep the newest twenty", async () => {
    const events = createSystemEvents(state.store);
    for (let n = 0; n < MAX_EVENTS_PER_SESSION + 4; n++) {
      await events.add("agent:main:a", { contextKey: `exec:${n}`, text: String(n), atMs: n });
    }
    const kept = (await events.pending("agent:main:a")).map((event) => event.text);
    expect(kept).toHaveLength(MAX_EVENTS_PER_SESSION);
    expect(kept[0]).toBe("4");
  });
});
