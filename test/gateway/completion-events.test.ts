/** What the session of an agent is told of its commands (exec.md section 12), through the whole gateway and its store. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import type { SystemEvent } from "../../src/core/events/system-events.ts";
import { STATE_FILE } from "../../src/core/store/open-state.ts";
import { openSqliteStore } from "../../src/core/store/sqlite-store.ts";
import type { Store } from "../../src/core/store/store.ts";
import { ModelEmulator } from "../emulators/model/model-emulator.ts";
import { startTestGateway, type TestGateway, TOKEN } from "../support/gateway.ts";
import { eventually } from "../support/state.ts";

const SESSION = "agent:main:events";
let gateway: TestGateway;
let store: Store;

async function open(exec: object): Promise<void> {
  gateway = await startTestGateway({ config: { tools: { exec } } });
  store = openSqliteStore({ file: join(gateway.stateDir, STATE_FILE), clock: systemClock });
}
afterEach(async () => {
  await store.close();
  await gateway.stop();
});

async function call(tool: string, args: object): Promise<{ text: string; details: Record<string, unknown> }> {
  const { body } = await gateway.tool(tool, args, { sessionKey: SESSION });
  if (!body.ok) throw new Error(body.error.message);
  return { text: body.result.content[0]?.text ?? "", details: body.result.details };
}

async function background(command: string, more: object = {}): Promise<string> {
  const { details } = await call("exec", { command, background: true, ...more });
  expect(details.status).toBe("running");
  return String(details.sessionId);
}

const poll = (sessionId: string) => call("process", { action: "poll", sessionId, timeout: 30_000 });

/** Every run has ended and what had to be told of it has been. */
const allHandedOn = () => eventually(async () => (await store.list("run-open")).length === 0, 20_000);

/** What stands in the session now. */
async function events(): Promise<string[]> {
  await allHandedOn();
  return texts();
}

async function texts(): Promise<string[]> {
  const found = await store.list<SystemEvent>("system-event", { prefix: `${SESSION}|` });
  return found.map(({ value }) => value.text).sort();
}

const short = (sessionId: string) => sessionId.slice(0, 8);

describe("the end of a background command", () => {
  beforeEach(() => open({ mode: "full" }));

  it("is told once, also of equal commands, and nothing is told of one in the foreground", async () => {
    expect((await call("exec", { command: "echo foreground" })).details.status).toBe("completed");
    const first = await background("echo RESULT-42");
    const records = await store.list<{ sessionId: string; notify?: object }>("run");
    expect(records.find(({ value }) => value.sessionId === first)?.value.notify).toEqual({
      notifyOnExit: true,
      notifyOnExitEmptySuccess: false,
    });
    const second = await background("echo RESULT-42");
    expect(await events()).toEqual(
      [first, second].map((id) => `Exec completed (${short(id)}, code 0) :: RESULT-42`).sort(),
    );
  });

  it("exec.md 15.20: nothing of a silent success and of one that was stopped; a silent failure once", async () => {
    await background("true");
    const stopped = await background("echo much; exec sleep 60");
    await eventually(async () => (await call("process", { action: "log", sessionId: stopped })).text.includes("much"));
    await call("process", { action: "kill", sessionId: stopped });
    const failure = await background("exit 2");
    expect(await events()).toEqual([`Exec completed (${short(failure)}, code 2)`]);
  });

  it("exec.md 15.11: a timeout that struck in the background is told once, with the warning (default-timeout-on-background)", async () => {
    const timed = await background("echo begun; exec sleep 60", { timeout: 0.5 });
    const endless = await background("exec sleep 60", { timeout: 0 });
    const { text, details } = await poll(timed).then(() => poll(timed));
    expect(text).toContain("timed out");
    expect(details).toMatchObject({ status: "failed", exitReason: "overall-timeout", timedOut: true });
    const { text: listed } = await call("process", { action: "list" });
    expect(listed).toMatch(new RegExp(`^${timed} +failed .*\\[overall-timeout\\]`, "m"));
    expect(listed).toMatch(new RegExp(`^${endless} +running`, "m"));
    await call("process", { action: "kill", sessionId: endless });
    const unseen = await background("echo begun; exec sleep 60", { timeout: 0.5 });
    expect(await events()).toEqual([
      expect.stringMatching(
        new RegExp(`^Exec failed \\(${short(unseen)}, signal SIGTERM\\) :: begun .*may have had effects`),
      ),
    ]);
  });

  it("wake-poll-consumes: a poll that shows the end comes instead of the event, in whatever order the two come", async () => {
    const unpolled: string[] = [];
    for (let round = 0; round < 12; round++) {
      // Ends while it is waited for, at the moment it is asked for, and before.
      const delay = ["0.05", "0", "0.01"][round % 3];
      const polled = await background(`sleep ${delay}; echo polled`);
      if (round % 3 === 2) await allHandedOn();
      let said = "";
      while (!said.includes("Process exited with code 0")) said = (await poll(polled)).text;
      if (round % 4 === 0) unpolled.push(await background("echo unpolled"));
    }
    expect(await events()).toEqual(unpolled.map((id) => `Exec completed (${short(id)}, code 0) :: unpolled`).sort());
  });

  it("exec.md 15.21: a poll takes back the event of its own session and no other", async () => {
    const first = await background("echo one");
    const second = await background("echo two");
    expect(await events()).toHaveLength(2);
    expect((await poll(first)).text).toContain("one");
    await eventually(async () => (await texts()).length === 1);
    expect(await texts()).toEqual([`Exec completed (${short(second)}, code 0) :: two`]);
    // Looking without polling to the end takes nothing back.
    await call("process", { action: "log", sessionId: second });
    await call("process", { action: "list" });
    expect(await events()).toHaveLength(1);
  });
});

describe("the end of a background command while the agent rests", () => {
  it.each([
    ["wake-interval-zero: no heartbeats", { every: "0m" }],
    ["outside its hours", { every: "30m", activeHours: { start: "00:00", end: "00:00" } }],
    ["wake-reason-not-recognised: nothing on its list", { every: "30m" }],
    ["heartbeats that speak nowhere", { every: "30m", target: "none" }],
  ])(
    "is told at once in the chat that asked, and the agent is woken by it: %s",
    async (_why, heartbeat) => {
      const model = await ModelEmulator.start();
      gateway = await startTestGateway({
        env: model.env,
        config: {
          tools: { exec: { mode: "full" } },
          models: { providers: model.providers("openai-completions") },
          agents: { defaults: { model: "house/small", heartbeat } },
        },
      });
      store = openSqliteStore({ file: join(gateway.stateDir, STATE_FILE), clock: systemClock });
      await mkdir(join(gateway.stateDir, "workspace"), { recursive: true });
      await writeFile(join(gateway.stateDir, "workspace", "HEARTBEAT.md"), "# Nothing yet\n");
      const command = "sleep 1; date +%s%3N > ended; echo RESULT-42";
      model.script({ calls: [{ name: "exec", args: { command, background: true } }] }, { text: "Started." });
      model.script({ text: "It is forty-two." });
      const person = await gateway.person("main");
      await person.say("start it");
      await person.see("text", ({ text = "" }) => /Exec completed .*RESULT-42/.test(text));
      const ended = Number(await readFile(join(gateway.stateDir, "workspace", "ended"), "utf8"));
      // Two seconds are promised; the rest is for a machine that has much other work.
      expect(Date.now() - ended).toBeLessThan(10_000);
      await person.see("text", ({ text }) => text === "It is forty-two.");
      await model.stop();
    },
    60_000,
  );
});

describe("the end of a background command, with notifyOnExit off", () => {
  beforeEach(() => open({ mode: "full", notifyOnExit: false }));

  it("is told to nobody", async () => {
    await background("echo quiet");
    expect(await events()).toEqual([]);
  });
});

describe("a command that a person decides", () => {
  beforeEach(() => open({ mode: "ask", approvalRunningNoticeMs: 100 }));

  async function ask(command: string) {
    const { details } = await call("exec", { command });
    expect(details.status).toBe("approval-pending");
    return { approvalId: String(details.approvalId), person: await gateway.person() };
  }

  it("running-notice-once: `Exec running`, then `Exec finished` alone", async () => {
    const command = "sleep 1; echo done";
    const { approvalId, person } = await ask(command);
    await person.decide(await person.request(command), "allow-once");
    const running = await eventually(async () => (await texts())[0], 20_000);
    expect(running).toMatch(
      new RegExp(`^Exec running \\(gateway id=${approvalId}, session=[a-z0-9-]+, >1s\\): sleep 1;`),
    );
    await person.ended(command);
    const [finished, ...more] = await events();
    expect(finished).toMatch(
      new RegExp(`^Exec finished \\(gateway id=${approvalId}, session=[a-z0-9-]+, code 0\\)\ndone$`),
    );
    expect(more).toEqual([]);
  });

  it("denied-does-not-wake: a denial is told to nobody, and wakes nobody", async () => {
    const { person } = await ask("echo denied");
    await person.decide(await person.request("echo denied"), "deny");
    await person.see("approval", (card) => card.command === "echo denied" && card.state === "denied");
    // What is asked for afterwards, and told, stands there alone: had a denial been told, it would have come before.
    const { person: again } = await ask("echo allowed");
    await again.decide(await again.request("echo allowed"), "allow-once");
    await again.ended("echo allowed");
    await allHandedOn();
    const told = await eventually(async () => {
      const found = await texts();
      return found.length > 0 && found;
    });
    expect(told).toEqual([expect.stringMatching(/^Exec finished .*\nallowed$/)]);
    const metrics = await fetch(`${gateway.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
    const woken = await eventually(async () => (await metrics.text()).match(/^\S*wakes_total\{.*$/gm) ?? undefined);
    expect(woken.join()).toContain('reason="exec-event"');
    expect(woken.join()).not.toContain('reason="approval"');
  });
});
