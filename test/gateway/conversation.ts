/**
 * The conversation every mode has to hold: type /exec, press, get the completion back. Run against the embedded mode
 * and against Redis.
 */

import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { slugOf } from "../../src/core/approvals/record.ts";
import type { AuditPage } from "../../src/core/audit/events.ts";
import type { Card } from "../../src/core/cards.ts";
import { type Person, startTestGateway, type TestGateway, type TestGatewayOptions } from "../support/gateway.ts";
import { eventually } from "../support/state.ts";

export function conversation(mode: string, optionsFor: () => Promise<TestGatewayOptions>): void {
  describe(`a conversation, ${mode}`, () => {
    let gateway: TestGateway;
    let options: TestGatewayOptions;
    let person: Person;
    let turn = 0;
    /** A command no other test has used, so that cards are told apart. */
    const fresh = (command: string) => `${command} ${mode.replace(/\W/g, "")}${++turn}`;
    const ranTimes = async (name: string) => {
      const text = await readFile(join(gateway.stateDir, "workspace", name), "utf8").catch(() => "");
      return text.split("\n").filter((line) => line !== "").length;
    };

    beforeAll(async () => {
      options = await optionsFor();
      gateway = await startTestGateway(options);
      person = await gateway.person();
    });
    afterAll(() => gateway.stop());

    it("asks, runs after Allow once, and brings the output back", async () => {
      const command = fresh("echo hi");
      await person.say(`/exec ${command}`);
      const card = await person.request(command);
      expect(card.offered).toEqual(["allow-once", "allow-always", "deny"]);
      expect(card.reasons.join()).toMatch(/not on the allowlist/);
      expect(card.cwd).toBe("~/workspace");
      expect(card.always.join()).toContain(join(gateway.stateDir, "workspace"));
      await person.decide(card, "allow-once");
      const ended = await person.ended(command);
      expect(ended).toMatchObject({ outcome: "completed", exitCode: 0, approvalId: card.approvalId });
      expect(ended.tail).toContain("hi");
      await person.see("approval", (one) => one.approvalId === card.approvalId && /exit 0/.test(one.statusLine ?? ""));
    });

    it("runs nothing after Deny, and keeps the reason on the card", async () => {
      const command = fresh("touch denied");
      await person.say(`/exec ${command}`);
      await person.decide(await person.request(command), "deny", "not today");
      const card = await person.see("approval", (one) => one.command === command && one.state === "denied");
      expect(card).toMatchObject({ comment: "not today", decidedBy: { id: "operator" }, offered: [] });
      expect(person.screen().some((one) => one.kind === "run" && one.command === command)).toBe(false);
      await expect(stat(join(gateway.stateDir, "workspace", command.slice("touch ".length)))).rejects.toThrow();
    });

    it("remembers Allow always for exactly this command, and asks again for another", async () => {
      const command = fresh("echo always");
      await person.say(`/exec ${command}`);
      await person.decide(await person.request(command), "allow-always");
      await person.ended(command);
      await person.say(`/exec ${command}`);
      await eventually(
        () => person.screen().filter((one) => one.kind === "run" && one.command === command).length === 2,
      );
      expect(person.screen().filter((one) => one.kind === "approval" && one.command === command)).toHaveLength(1);
      await person.say(`/exec ${command} more`);
      await person.request(`${command} more`);
    });

    it("sends a long command to the background and its end arrives by itself", async () => {
      const command = `sleep 3; echo ${fresh("done")}`;
      await person.say(`/exec ${command}`);
      await person.decide(await person.request(command), "allow-once");
      const running = await person.see("run", (one) => one.command === command && one.state === "running");
      expect(running.actions).toContain("stop");
      const ended = await person.ended(command);
      expect(ended).toMatchObject({ runId: running.runId, outcome: "completed" });
    });

    it("stops a running command by its button", async () => {
      const command = fresh("sleep 60 #");
      await person.say(`/exec ${command}`);
      await person.decide(await person.request(command), "allow-once");
      const running = await person.see("run", (one) => one.command === command && one.state === "running");
      await person.press({ kind: "run", action: "stop", runId: running.runId });
      expect(await person.ended(command)).toMatchObject({ outcome: "killed" });
    });

    it("shows a second device the same conversation, and the decision at once", async () => {
      const second = await gateway.person();
      const command = fresh("echo two devices");
      await person.say(`/exec ${command}`);
      const [here, there] = await Promise.all([person.request(command), second.request(command)]);
      expect(there.approvalId).toBe(here.approvalId);
      await second.decide(there, "allow-once");
      const decided = await person.see(
        "approval",
        (one) => one.approvalId === here.approvalId && one.state === "allowed",
      );
      expect(decided.offered).toEqual([]);
      await Promise.all([person.ended(command), second.ended(command)]);
    });

    it("same-decision-twice-idempotent: ten presses at once start one run", async () => {
      const command = fresh("echo ran >> presses; echo");
      await person.say(`/exec ${command}`);
      const card = await person.request(command);
      await Promise.all(Array.from({ length: 10 }, () => person.decide(card, "allow-once")));
      await person.ended(command);
      expect(await ranTimes("presses")).toBe(1);
    });

    it("answers a press that comes too late with who decided, and changes nothing", async () => {
      const command = fresh("echo late");
      await person.say(`/exec ${command}`);
      const card = await person.request(command);
      await person.decide(card, "deny");
      await person.see("approval", (one) => one.approvalId === card.approvalId && one.state === "denied");
      await person.decide(card, "allow-once");
      await person.see(
        "text",
        (one) => one.tone === "error" && (one.text ?? "").includes(`${card.slug} was already denied`),
      );
      expect(person.screen().some((one) => one.kind === "run" && one.command === command)).toBe(false);
    });

    it("takes the same message once, however often it is sent", async () => {
      const command = fresh("echo ran >> messages; echo");
      const clientId = crypto.randomUUID();
      for (let index = 0; index < 3; index++) await person.say(`/exec ${command}`, clientId);
      await person.decide(await person.request(command), "allow-once");
      await person.ended(command);
      expect(person.screen().filter((one) => one.kind === "said" && one.text.includes(command))).toHaveLength(1);
      expect(await ranTimes("messages")).toBe(1);
    });

    it("decides by /approve with the slug, in either order, and refuses what it does not know", async () => {
      for (const order of ["id-first", "decision-first"]) {
        const command = fresh("echo by text");
        await person.say(`/exec ${command}`);
        const slug = slugOf((await person.request(command)).approvalId);
        await person.say(order === "id-first" ? `/approve ${slug} allow-once` : `/approve once ${slug}`);
        await person.ended(command);
      }
      await person.say("/approve deadbeef deny");
      await person.see("text", (one) => one.tone === "error" && (one.text ?? "").includes('"deadbeef"'));
    });

    it("card-hides-tail-of-command: shows the whole command, whatever its length", async () => {
      const command = fresh(`echo ${"x".repeat(5_000)} end`);
      await person.say(`/exec ${command}`);
      const card = await person.request(command);
      expect(card.command).toBe(command);
      await person.decide(card, "deny");
    });

    it.each([
      ["/exec host=prod-1 ls", /not a host name/],
      ["/exec timeout=-1 ls", /timeout=-1/],
      ["/exec workdir=/nowhere/at/all ls", /working directory "\/nowhere\/at\/all"/],
      ["/exec hots=node ls", /Did you mean "host"/],
      ["/exec --", /no command after --/],
      ["/process kill no-such", /No active session|no-such/],
      ["/process log", /Which session/],
      ["/exec node=", /node= needs the id or name of a paired node/],
      ["/exce ls", /Did you mean \/exec/],
    ])("answers %j clearly and runs nothing", async (text, expected) => {
      const before = person.screen().length;
      await person.say(text);
      await eventually(() =>
        person
          .screen()
          .slice(before)
          .find((one) => expected.test(wordsOf(one))),
      );
    });

    it("shows and sets session values with where each comes from", async () => {
      const other = await gateway.person("policy");
      await other.say("/exec ask=always");
      await other.see(
        "text",
        (one) => one.fields?.some((field) => field.label === "ask" && field.value === "always") === true,
      );
      await other.say("/exec");
      const shown = await other.see("text", (one) => one.title?.startsWith("How commands run") === true);
      expect(shown.fields).toContainEqual({ label: "ask", value: "always", note: expect.stringMatching(/\/exec/) });
      const command = fresh("echo asked always");
      await other.say(`/exec ${command}`);
      expect((await other.request(command)).offered).toEqual(["allow-once", "deny"]);
      await other.say("/stop");
      await other.see("approval", (one) => one.command === command && one.state === "cancelled");
    });

    it("keeps the conversation and what waits over a restart, and runs nothing twice", async () => {
      const waiting = fresh("echo ran >> restarts; echo");
      await person.say(`/exec ${waiting}`);
      const before = await person.request(waiting);
      await gateway.restart();
      person = await gateway.person();
      const after = await person.see(
        "approval",
        (one) => one.approvalId === before.approvalId && /restarted/.test(one.statusLine ?? ""),
      );
      expect(after.state).toBe("pending");
      await person.decide(after, "allow-once");
      await person.ended(waiting);
      expect(await ranTimes("restarts")).toBe(1);
      expect(person.screen().some((one) => one.kind === "said" && one.text.includes("echo hi"))).toBe(true);
    });

    it("the same over /tools/invoke: pending, decided by a person, ended", async () => {
      const command = fresh("echo over http");
      const { body } = await gateway.tool("exec", { command });
      if (!body.ok) throw new Error(body.error.message);
      expect(body.result.details).toMatchObject({ status: "approval-pending", command });
      await person.decide(await person.request(command), "allow-once");
      expect((await person.ended(command)).tail).toContain("over http");
    });

    it("writes all of it into an audit trail whose chain holds", async () => {
      const page: AuditPage = await person.call("audit.read", { limit: 1000 });
      const types = new Set(page.entries.map((entry) => entry.event.type));
      for (const type of [
        "request",
        "decision",
        "approval-requested",
        "approval-resolved",
        "run-started",
        "run-ended",
      ]) {
        expect(types).toContain(type);
      }
      const starts = page.entries.flatMap(({ event }) => (event.type === "run-started" ? [event.runId] : []));
      expect(new Set(starts).size).toBe(starts.length);
    });
  });
}

/** Of an answer to what was typed. */
function wordsOf(card: Card): string {
  if (card.kind === "menu") return card.title;
  return card.kind === "text" ? `${card.text ?? ""}${card.code ?? ""}` : "";
}
