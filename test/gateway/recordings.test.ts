import { mkdir, readdir, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { createRedactor } from "../../src/channels/text/redact.ts";
import { maskEvents, PAGE_BYTES } from "../../src/gateway/replays.ts";
import type { MethodResults, ReplayEvent } from "../../src/protocol/frames.ts";
import { type Person, startTestGateway, type TestGateway, TOKEN } from "../support/gateway.ts";

let gateway: TestGateway;
async function started(record: string | undefined, agents?: object): Promise<Person> {
  gateway = await startTestGateway({
    config: {
      tools: { exec: { mode: "full", ...(record ? { record } : {}) } },
      ...(agents ? { agents } : {}),
    },
  });
  return gateway.person();
}

async function run(args: object, more?: object): Promise<void> {
  const { body } = await gateway.tool("exec", { yieldMs: 60_000, ...args }, more);
  expect(body).toMatchObject({ ok: true });
}

const listed = async (person: Person) => (await person.call("recordings.list", {})).recordings;
const folder = () => join(gateway.stateDir, "recordings");

async function whole(person: Person, runId: string): Promise<{ events: ReplayEvent[]; pages: number }> {
  const events: ReplayEvent[] = [];
  let offset: number | undefined = 0;
  let pages = 0;
  while (offset !== undefined) {
    const page: MethodResults["recordings.read"] = await person.call("recordings.read", { runId, offset });
    events.push(...page.events);
    pages++;
    offset = page.next;
  }
  return { events, pages };
}
const shown = (events: readonly ReplayEvent[]) => events.map(([, , data]) => data).join("");

describe("recordings of runs", () => {
  afterEach(() => gateway.stop());

  it("are not made unless somebody asks for them", async () => {
    const person = await started(undefined);
    await run({ command: "echo hi", pty: true });
    expect(await listed(person)).toEqual([]);
    expect(await readdir(folder())).toEqual([]);
  });

  it("are made of terminal sessions alone under record: pty, with colours and times", async () => {
    const person = await started("pty");
    await run({ command: "echo plain" });
    await run({ command: "printf '\\033[31mred\\033[0m\\n'", pty: true });
    const recordings = await listed(person);
    expect(recordings).toMatchObject([
      { command: "printf '\\033[31mred\\033[0m\\n'", startedAtMs: expect.any(Number) },
    ]);
    const page = await person.call("recordings.read", { runId: recordings[0]?.runId ?? "" });
    expect(page).toMatchObject({ cols: 120, rows: 30 });
    expect(page.next).toBeUndefined();
    expect(shown(page.events)).toBe("\u001b[31mred\u001b[0m\r\n");
    expect((await stat(folder())).mode & 0o777).toBe(0o700);
  });

  it("are made of every run under record: all, from its first byte on", async () => {
    const person = await started("all");
    await run({ command: "echo first; echo second >&2; sleep 0.3; echo third" });
    const [recording] = await listed(person);
    const { events } = await whole(person, recording?.runId ?? "");
    expect(shown(events)).toContain("first\r\n");
    expect(shown(events)).toContain("second\r\n");
    expect(events.at(-1)?.[2]).toBe("third\r\n");
    // Counted from when the recording began, a little after the spawn.
    expect(events.at(-1)?.[0]).toBeGreaterThan(0.1);
  });

  it("follow each agent's own setting", async () => {
    const person = await started("off", {
      list: [
        { id: "main", default: true },
        { id: "ops", tools: { exec: { record: "all" } } },
      ],
    });
    await run({ command: "echo main", workdir: "/tmp" });
    await run({ command: "echo ops", workdir: "/tmp" }, { agentId: "ops" });
    expect((await listed(person)).map((one) => one.command)).toEqual(["echo ops"]);
  });

  it("are offered on the card of a finished run, and can be read the moment it says so", async () => {
    const person = await started("all");
    await person.say("/exec echo carded");
    const card = await person.ended("echo carded");
    expect(card.recorded).toBe(true);
    expect(shown((await whole(person, card.runId)).events)).toBe("carded\r\n");
  });

  it("come in bounded pages that join without a gap", async () => {
    const person = await started("all");
    await run({ command: "seq 1 120000" });
    const [recording] = await listed(person);
    const { events, pages } = await whole(person, recording?.runId ?? "");
    expect(pages).toBeGreaterThan(2);
    expect(pages).toBeLessThanOrEqual(Math.ceil((recording?.bytes ?? 0) / PAGE_BYTES));
    expect(
      shown(events)
        .split("\r\n")
        .filter((line) => line !== ""),
    ).toEqual(Array.from({ length: 120_000 }, (_, at) => `${at + 1}`));
  });

  it("show no secret of the gateway, neither in what ran nor in what was shown", async () => {
    const person = await started("all");
    await run({ command: `echo ${TOKEN}` });
    const [recording] = await listed(person);
    expect(recording?.command).not.toContain(TOKEN);
    const { events } = await whole(person, recording?.runId ?? "");
    expect(shown(events)).toBe(`${"•".repeat(TOKEN.length)}\r\n`);
  });

  it("of a run nobody recorded are refused with what to do", async () => {
    const person = await started("all");
    await expect(person.call("recordings.read", { runId: "../../openclaw" })).rejects.toMatchObject({
      code: "not-found",
      message: expect.stringContaining("tools.exec.record"),
    });
  });

  it("that are too old are gone after the next start", async () => {
    await started("all");
    const old = join(folder(), "old.cast");
    await mkdir(folder(), { recursive: true });
    await writeFile(old, `${JSON.stringify({ version: 2, width: 80, height: 24, timestamp: 1, command: "old" })}\n`);
    await utimes(old, new Date(0), new Date(0));
    await run({ command: "echo young" });
    await gateway.restart();
    expect((await listed(await gateway.person())).map((one) => one.command)).toEqual(["echo young"]);
  });
});

describe("masking a recording", () => {
  const secret = "hunter2-is-no-phrases";
  const secrets = createRedactor([secret]);

  it("finds a secret that came in pieces, with colours in between, and keeps every piece's place", () => {
    const events: ReplayEvent[] = [
      [0, "o", "key hun"],
      [0.1, "o", "ter2-is\u001b[1m-no"],
      [0.2, "r", "80x24"],
      [0.3, "o", "-phrases\u001b[0m done"],
    ];
    expect(maskEvents(events, secrets)).toEqual([
      [0, "o", "key •••"],
      [0.1, "o", "•••••••\u001b[1m•••"],
      [0.2, "r", "80x24"],
      [0.3, "o", "••••••••\u001b[0m done"],
    ]);
  });

  it("changes neither lengths nor escape sequences nor what is no secret, however the output was cut", () => {
    const word = fc.constantFrom(secret, "\u001b[31m", "\u001b]0;title\u0007", "ls -la", "\r\n", " ", "é", "x");
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), fc.array(fc.nat(80), { maxLength: 6 }), (words, cuts) => {
        const text = words.join("");
        const edges = [0, ...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length];
        const events = edges.slice(1).map((end, at): ReplayEvent => [at, "o", text.slice(edges[at], end)]);
        const masked = maskEvents(events, secrets);
        expect(masked.map(([, , data]) => data.length)).toEqual(events.map(([, , data]) => data.length));
        const joined = shown(masked);
        expect(joined).not.toContain(secret);
        expect(joined.replaceAll("•", "")).toBe(text.replaceAll(secret, ""));
      }),
    );
  });
});
