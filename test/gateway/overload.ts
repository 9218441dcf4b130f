/** More commands than may run at once: they wait, are seen, can be taken out, and start in turn. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "../support/gateway.ts";
import { eventually } from "../support/state.ts";

/** A prefix of its own: what an earlier test left in the queue is not this one's. */
const config = (limits: object) => ({
  tools: { exec: { mode: "full" } },
  limits,
  redis: { prefix: `${crypto.randomUUID()}:` },
});

export function overload(mode: string, optionsFor: () => Promise<TestGatewayOptions>): void {
  describe(`more commands than may run at once, ${mode}`, () => {
    let gateway: TestGateway | undefined;
    afterEach(async () => {
      await gateway?.stop();
      gateway = undefined;
    });
    const up = async (limits: object) => {
      gateway = await startTestGateway({ ...(await optionsFor()), config: config(limits) });
      return gateway;
    };
    const lines = async (name: string) =>
      (await readFile(join(gateway?.stateDir ?? "", "workspace", name), "utf8").catch(() => ""))
        .split("\n")
        .slice(0, -1);

    it("one waits with a card that says for what, shows in /status and /process, and starts by itself", async () => {
      const { person } = await up({ maxConcurrentRuns: 1 });
      const me = await person();
      await me.say("/exec sleep 60; echo first");
      const first = await me.see("run", (card) => card.command.includes("first") && card.state === "running");
      await me.say("/exec echo second");
      const waiting = await me.see("run", (card) => card.command === "echo second" && card.queued === true);
      expect(waiting).toMatchObject({ state: "running", actions: ["stop"] });
      expect(waiting.notes.join()).toMatch(/Waits in line: 1 commands run.*limits\.maxConcurrentRuns/);
      await me.say("/status");
      await me.see(
        "text",
        (card) =>
          card.fields?.some((field) => field.label === "Waiting in line" && field.note === waiting.sessionId) === true,
      );
      await me.say("/process list");
      await me.see(
        "text",
        (card) =>
          card.fields?.some((field) => field.label === waiting.sessionId && /^waits in line/.test(field.value)) ===
          true,
      );
      await me.press({ kind: "run", action: "stop", runId: first.runId });
      expect(await me.ended("echo second")).toMatchObject({ runId: waiting.runId, outcome: "completed" });
    });

    it.each([
      ["the Stop button", "press"],
      ["/process kill", "kill"],
      ["/stop", "stop"],
    ])("%s takes it out of the line; it never runs", async (_, how) => {
      const { person } = await up({ maxConcurrentRuns: 1 });
      const [busy, me] = [await person("busy"), await person("mine")];
      await busy.say("/exec sleep 60");
      await busy.see("run", (card) => card.command === "sleep 60" && card.state === "running");
      await me.say("/exec echo ran >> never");
      const waiting = await me.see("run", (card) => card.queued === true);
      if (how === "press") await me.press({ kind: "run", action: "stop", runId: waiting.runId });
      else await me.say(how === "kill" ? `/process kill ${waiting.sessionId}` : "/stop");
      const ended = await me.ended("echo ran >> never");
      expect(ended).toMatchObject({ outcome: "killed" });
      expect(ended.notes.join()).toMatch(/never ran/);
      await busy.say("/stop");
      await busy.ended("sleep 60");
      expect(await lines("never")).toEqual([]);
    });

    it("a flood in one conversation costs another at most one place", async () => {
      const { person } = await up({ maxConcurrentRuns: 2, maxQueuedRuns: 200 });
      const [flood, quiet] = [await person("flood"), await person("quiet")];
      await Promise.all(Array.from({ length: 40 }, (_, n) => flood.say(`/exec sleep 0.2; echo flood ${n} >> order`)));
      await eventually(async () => (await lines("order")).length >= 2);
      const before = (await lines("order")).length;
      await quiet.say("/exec echo quiet >> order");
      await quiet.ended("echo quiet >> order");
      const place = (await lines("order")).indexOf("quiet");
      expect(place).toBeLessThan(before + 8);
      await flood.say("/stop");
    });

    it("refuses beyond maxQueuedRuns with what to do, and everything accepted runs exactly once", async () => {
      const { person } = await up({ maxConcurrentRuns: 1, maxQueuedRuns: 4 });
      const me = await person();
      await me.say("/exec sleep 60");
      const first = await me.see("run", (card) => card.command === "sleep 60" && card.state === "running");
      for (let n = 0; n < 4; n++) await me.say(`/exec echo ${n} >> ran`);
      const refused = await me.see("text", (card) => card.tone === "error" && /maxQueuedRuns/.test(card.text ?? ""));
      expect(refused.text).toMatch(/Nothing was run/);
      await me.press({ kind: "run", action: "stop", runId: first.runId });
      await me.ended("echo 1 >> ran");
      expect(await lines("ran")).toEqual(["0", "1"]);
    });

    it("after a restart what a person queued starts exactly once; what a caller waited for is reported, not run", async () => {
      const up1 = await up({ maxConcurrentRuns: 1 });
      const before = await up1.person();
      await before.say("/exec sleep 60");
      await before.see("run", (card) => card.command === "sleep 60" && card.state === "running");
      await before.say("/exec echo ran >> queued");
      await before.see("run", (card) => card.command === "echo ran >> queued" && card.queued === true);
      const asked = await up1.tool("exec", { command: "echo ran >> asked", background: true });
      expect(asked.body).toMatchObject({ ok: true, result: { details: { status: "running", queued: true } } });
      await up1.restart();
      const after = await up1.person();
      expect(await after.ended("echo ran >> queued")).toMatchObject({ outcome: "completed" });
      await after.say("/exec echo later");
      await after.ended("echo later");
      expect(await lines("queued")).toEqual(["ran"]);
      expect(await lines("asked")).toEqual([]);
    });

    it("a call that waits longer than its yield window is answered, and polls to its end", async () => {
      const { person, tool } = await up({ maxConcurrentRuns: 1 });
      const me = await person();
      await me.say("/exec sleep 60");
      await me.see("run", (card) => card.command === "sleep 60" && card.state === "running");
      const { body } = await tool("exec", { command: "echo from the line", yieldMs: 50 });
      if (!body.ok) throw new Error(body.error.message);
      expect(body.result.content[0]?.text).toMatch(/Waits in line/);
      const sessionId = body.result.details.sessionId as string;
      await me.say("/stop");
      const polled = await eventually(async () => {
        const answer = await tool("process", { action: "poll", sessionId, timeout: 2_000 });
        return answer.body.ok && answer.body.result.details.status === "completed" && answer.body.result.details;
      });
      expect(polled).toMatchObject({ aggregated: "from the line\n" });
    });

    it("refuses a command longer than limits.maxCommandChars", async () => {
      const { person } = await up({ maxCommandChars: 20 });
      const me = await person();
      await me.say(`/exec echo ${"x".repeat(30)}`);
      await me.see("text", (card) => /35 characters; limits\.maxCommandChars allows 20/.test(card.text ?? ""));
    });
  });
}
