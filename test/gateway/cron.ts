/** Jobs at a later time: through the policy like everything else, over restarts, each tick once. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "../support/gateway.ts";
import { eventually } from "../support/state.ts";

const FULL = { tools: { exec: { mode: "full" } } };
const ASK = { tools: { exec: { mode: "ask" } } };

export function cronJobs(mode: string, optionsFor: () => Promise<TestGatewayOptions>): void {
  describe(`jobs at a later time, ${mode}`, () => {
    let gateway: TestGateway | undefined;
    afterEach(async () => {
      await gateway?.stop();
      gateway = undefined;
    });
    const up = async (config: object) => {
      gateway = await startTestGateway({ ...(await optionsFor()), config });
      return gateway;
    };
    const ran = async (name: string) =>
      (await readFile(join(gateway?.stateDir ?? "", "workspace", name), "utf8").catch(() => "")).split("\n").length - 1;

    it("runs a command once at its time, with its card in the chat that asked, and is gone then", async () => {
      const me = await (await up(FULL)).person();
      await me.say("/cron add at=1s -- echo ran >> once");
      await me.see("text", (card) => /Job [0-9a-f]{8} is set/.test(card.title ?? ""));
      expect(await me.ended("echo ran >> once")).toMatchObject({ outcome: "completed" });
      await eventually(async () => (await me.call("cron.list", {})).jobs.length === 0);
      expect(await ran("once")).toBe(1);
    });

    it("what the policy asks about waits for an approver; the run counts as the job's, not as a person's", async () => {
      const me = await (await up(ASK)).person();
      await me.say("/cron add at=1s name=asks -- echo asked");
      const card = await me.request("echo asked");
      expect(card.requester).toMatchObject({ kind: "system", display: expect.stringContaining("job asks of") });
      await me.decide(card, "allow-once");
      expect(await me.ended("echo asked")).toMatchObject({ outcome: "completed" });
    });

    it("a job that the policy denies says so in its chat instead of staying silent", async () => {
      const me = await (await up({ tools: { exec: { security: "deny" } } })).person();
      await me.say("/cron add at=1s -- echo denied");
      await me.see("text", (card) => /was not run/.test(card.title ?? "") && /denied/.test(card.text ?? ""));
    });

    it("keeps jobs and their times over a restart; a time that passed meanwhile is made good once", async () => {
      const one = await up(FULL);
      const me = await one.person();
      await me.call("cron.add", { every: "10s", command: "echo ran >> every", name: "often" });
      await me.call("cron.add", { at: "2s", command: "echo ran >> missed" });
      await me.call("cron.add", { cron: "0 9 * * 1-5", timezone: "Europe/Amsterdam", command: "true" });
      await gateway?.restart();
      const after = await one.person();
      const { jobs } = await after.call("cron.list", {});
      expect(jobs.map((job) => job.when.kind).sort()).toEqual(["at", "cron", "every"]);
      for (const job of jobs) expect(job.nextAtMs).toBeGreaterThan(Date.now() - 60_000);
      await after.ended("echo ran >> missed");
      expect(await ran("missed")).toBe(1);
    });

    it("run starts it now beside its times, once per message; remove ends it", async () => {
      const me = await (await up(FULL)).person();
      const job = await me.call("cron.add", { every: "1h", command: "echo ran >> now", name: "hourly" });
      await me.say("/cron run hourly", "the-same-message");
      await me.say("/cron run hourly", "the-same-message");
      await me.ended("echo ran >> now");
      const listed = await eventually(async () =>
        (await me.call("cron.list", {})).jobs.find((one) => one.id === job.id && one.last),
      );
      expect(listed.last?.result).toBe("started");
      expect(await ran("now")).toBe(1);
      await me.say("/cron remove hourly");
      await eventually(async () => (await me.call("cron.list", {})).jobs.length === 0);
    });

    it("tells a session an event; without a model it is said in the chat as it stands", async () => {
      const me = await (await up(FULL)).person();
      await me.say("/cron add at=1s as=event -- Look whether the build is done");
      await me.see("text", (card) => card.text === "Look whether the build is done");
    });

    it.each([
      ["/cron add every=1s -- true", /at least 10s/],
      ["/cron add evry=1h -- true", /Did you mean "every"/],
      ["/cron add every=1h", /What should be done/],
      ["/cron add every=1h at=3h -- true", /exactly once/],
      ['/cron add cron="99 * * * *" -- true', /cron expression "99 \* \* \* \*"/],
      ["/cron add at=2001-01-01T00:00 -- true", /has passed/],
      ["/cron add at=tomorrow -- true", /no moment/],
      ['/cron add cron="0 9 * * *" tz=Mars/Olympus -- true', /Mars\/Olympus/],
      ["/cron remove nothing", /no job "nothing"/],
      ["/cron lst", /Did you mean "list"/],
    ])("answers %j clearly and adds nothing", async (text, expected) => {
      const me = await (await up(FULL)).person();
      await me.say(text);
      await me.see("text", (card) => expected.test(card.text ?? ""));
      expect((await me.call("cron.list", {})).jobs).toEqual([]);
    });
  });
}
