/** Two gateways on one Redis: decided anywhere, reached anywhere, taken over when one is killed. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { TelegramEmulator } from "../emulators/telegram/emulator.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { type ProductLives, productLives } from "../support/product-lives.ts";
import { type RedisServer, redisAvailable, startRedis } from "../support/redis.ts";
import { requireOrSkip } from "../support/require.ts";
import { eventually } from "../support/state.ts";

const FULL = { tools: { exec: { mode: "full" } } };
const ASK = { tools: { exec: { mode: "ask" } } };

requireOrSkip("redis-server", redisAvailable)("two gateways on one Redis", () => {
  let redis: RedisServer;
  const up: TestGateway[] = [];
  const lives: ProductLives[] = [];
  beforeAll(async () => {
    redis = await startRedis({ persist: true });
  });
  afterEach(async () => {
    for (const gateway of up.splice(0)) await gateway.stop();
    for (const product of lives.splice(0)) await product.dispose();
  });
  afterAll(() => redis.stop());

  const pair = async (config: object): Promise<readonly [TestGateway, TestGateway]> => {
    const first = await startTestGateway({ redisUrl: redis.url, config });
    up.push(first);
    const second = await startTestGateway({ redisUrl: redis.url, config });
    up.push(second);
    return [first, second];
  };
  const product = async (config: object, env: Record<string, string> = {}): Promise<ProductLives> => {
    const one = await productLives({ config, env: { ...env, REDIS_URL: redis.url } });
    lives.push(one);
    return one;
  };

  it("a request that one asked is decided at the other, and the one that asked runs it", async () => {
    const [a, b] = await pair(ASK);
    const command = "echo asked at a >> where";
    const { body } = await a.tool("exec", { command });
    expect(body).toMatchObject({ ok: true, result: { details: { status: "approval-pending" } } });
    const person = await b.person();
    await person.decide(await person.request(command), "allow-once");
    await person.ended(command);
    expect(await readFile(join(a.stateDir, "workspace", "where"), "utf8")).toBe("asked at a\n");
  });

  it("concurrent-allow-and-deny: two answers at two gateways in one moment: one counts, at both, and the run agrees", async () => {
    const [a, b] = await pair(ASK);
    const people = [await a.person(), await b.person()] as const;
    const outcomes = new Set<string>();
    for (let round = 0; round < 12; round++) {
      const command = `echo ran >> race-${round}`;
      await a.tool("exec", { command });
      const { approvalId: id } = await people[0].request(command);
      await people[1].request(command);
      // Each goes first in turn: otherwise the nearer one always wins.
      const answers = [
        () => people[round % 2]?.call("approvals.resolve", { id, decision: "allow-once" }),
        () => people[(round + 1) % 2]?.call("approvals.resolve", { id, decision: "deny" }),
      ];
      if (round % 4 > 1) answers.reverse();
      const settled = await Promise.allSettled(answers.map((answer) => answer()));
      expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      const [lost] = settled.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []));
      const cards = await Promise.all(
        people.map((person) => person.see("approval", (card) => card.approvalId === id && card.state !== "pending")),
      );
      const [state] = cards.map((card) => card.state);
      expect(cards.map((card) => card.state)).toEqual([state, state]);
      expect(lost).toContain(`already ${state}`);
      outcomes.add(state ?? "");
      const made = join(a.stateDir, "workspace", `race-${round}`);
      if (state === "allowed") {
        await people[0].ended(command);
        expect(await readFile(made, "utf8")).toBe("ran\n");
      } else {
        await expect(readFile(made, "utf8")).rejects.toThrow("ENOENT");
      }
    }
    expect([...outcomes].sort()).toEqual(["allowed", "denied"]);
  }, 120_000);

  it("a request that is put off, and one that is asked once more, come once, though two gateways hear of it", async () => {
    const [a, b] = await pair({ ...ASK, approvals: { snoozeSec: 1 } });
    const people = [await a.person(), await b.person()] as const;
    const command = "echo ran >> put-off";
    await people[0].say(`/exec ${command}`);
    const { approvalId } = await people[1].request(command);
    const snooze = { kind: "approval-action", action: "snooze", approvalId } as const;
    await Promise.all(people.map((person) => person.press(snooze)));
    const again = await people[1].see("approval", (card) => card.snoozes?.[0]?.over === true);
    const shown = () => people[1].screen().filter((card) => card.kind === "approval" && card.command === command);
    expect(shown()).toHaveLength(1);
    await people[0].say("/stop");
    await people[1].see("approval", (card) => card.approvalId === again.approvalId && card.askable === true);
    const ask = { kind: "approval-action", action: "ask-again", approvalId } as const;
    await Promise.all(people.map((person) => person.press(ask)));
    const fresh = await people[1].request(command);
    await people[1].decide(fresh, "allow-once");
    await people[1].ended(command);
    expect(shown()).toHaveLength(2);
    expect(people[1].screen().filter((card) => card.kind === "run" && card.command === command)).toHaveLength(1);
  });

  it("a session that one runs is listed, read, fed and killed through the other", async () => {
    const [a, b] = await pair(FULL);
    const { body } = await a.tool("exec", {
      command: "echo from a; read line; echo heard $line; sleep 60",
      stdin: "open",
      background: true,
    });
    if (!body.ok) throw new Error(body.error.message);
    const sessionId = body.result.details.sessionId as string;
    const call = async (args: object) => {
      const answer = (await b.tool("process", args)).body;
      if (!answer.ok) throw new Error(answer.error.message);
      return answer.result;
    };
    const listed = await call({ action: "list" });
    expect(listed.content[0]?.text).toMatch(new RegExp(`On gateway ${a.gateway.gatewayId}:\n${sessionId} running`));
    await call({ action: "write", sessionId, data: "you\n" });
    await eventually(async () => (await call({ action: "log", sessionId })).content[0]?.text.includes("heard you"));
    await call({ action: "kill", sessionId });
    const ended = await eventually(async () => {
      const polled = await call({ action: "poll", sessionId, timeout: 1_000 });
      return polled.details.status === "killed" && polled.details;
    });
    expect(ended).toMatchObject({ status: "killed" });
    expect((await call({ action: "poll", sessionId: "no-such" })).details.status).toBe("failed");
  });

  it("the log of a run and its Stop button work at whichever gateway they are used", async () => {
    const [a, b] = await pair(FULL);
    const [here, there] = await Promise.all([a.person("both"), b.person("both")]);
    await here.say("/exec echo shown; sleep 60");
    const seen = await Promise.all(
      [here, there].map((one) => one.see("run", (card) => card.command === "echo shown; sleep 60")),
    );
    const runId = seen[0]?.runId ?? "";
    for (const one of [here, there]) {
      await eventually(async () => (await one.call("run.log", { runId })).text === "shown");
    }
    await there.press({ kind: "run", action: "stop", runId });
    expect(await here.ended("echo shown; sleep 60")).toMatchObject({ outcome: "killed" });
  });

  it("/stop ends what a conversation runs on every gateway", async () => {
    const [a, b] = await pair(FULL);
    for (const gateway of [a, b]) {
      await gateway.tool(
        "exec",
        { command: "sleep 61", background: true },
        { sessionKey: "agent:main:web:chat:spread" },
      );
    }
    const person = await a.person("spread");
    await person.say("/stop");
    await person.see("text", (card) => card.text === "Stopped 2 commands.");
  });

  it("a command whose gateway was killed is reported as lost by the other, and is never run again", async () => {
    const a = await product(FULL);
    const caller = await a.person("lost");
    // Said before the other is there, so that it runs here.
    await caller.say("/exec echo ran >> once; sleep 300");
    const running = await caller.see("run", (card) => card.state === "running");
    await caller.say("/exec ask=always");
    await caller.say("/exec echo allowed >> later");
    const asked = await caller.request("echo allowed >> later");
    const b = await product(FULL);
    await a.kill();
    const watcher = await b.person("lost");
    const lost = await watcher.see("run", (card) => card.runId === running.runId && card.outcome === "lost", 40_000);
    expect(lost.notes.join()).toMatch(/is gone.*how it ended is unknown.*not be run again/);
    const waiting = await watcher.see("approval", (card) => /that asked is gone/.test(card.statusLine ?? ""));
    await watcher.decide(waiting, "allow-once");
    await watcher.see("approval", (card) => card.approvalId === asked.approvalId && card.state === "allowed");
    await a.start();
    expect(await watcher.ended("echo allowed >> later")).toMatchObject({ outcome: "completed" });
    expect(await readFile(join(a.workspace, "later"), "utf8")).toBe("allowed\n");
    const back = await a.person("lost");
    await back.say("/status");
    await back.see("text", (card) => card.title !== undefined);
    expect(await readFile(join(a.workspace, "once"), "utf8")).toBe("ran\n");
  }, 180_000);

  it("a chat account has one gateway, and the other answers within 10 s of its kill -9", async () => {
    const emulator = new TelegramEmulator();
    await emulator.start();
    try {
      const owner = emulator.addPerson(101, "Alice", { username: "alice" });
      const config = {
        ...FULL,
        channels: { telegram: { apiRoot: emulator.url, allowFrom: [owner] } },
        commands: { ownerAllowFrom: [`telegram:${owner}`] },
      };
      const env = { TELEGRAM_BOT_TOKEN: emulator.token };
      const a = await product(config, env);
      await emulator.say(owner, owner, "/exec echo first");
      await emulator.waitForMessage((message) => message.text.includes("first") && /exit code 0/.test(message.text));
      const b = await product(config, env);
      const watcher = await b.person();
      await watcher.say("/status");
      await watcher.see("text", (card) =>
        (card.fields ?? []).some((field) => field.label === "telegram" && /stands by/.test(field.note ?? "")),
      );
      await a.kill();
      const begun = performance.now();
      await emulator.say(owner, owner, "/exec echo second");
      await emulator.waitForMessage((message) => message.text.includes("second"), 12_000);
      expect(performance.now() - begun).toBeLessThan(10_000);
    } finally {
      for (const one of lives.splice(0)) await one.dispose();
      await emulator.stop();
    }
  }, 90_000);
});
