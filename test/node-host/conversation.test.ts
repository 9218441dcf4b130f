/** A person and an agent use a node: the card names it, the command runs there, the completion comes back. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { PTY_COLS, PTY_ROWS } from "../../src/core/process/pty.ts";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "../support/gateway.ts";
import { connected, startTestNode, type TestNode, type TestNodeOptions } from "../support/node.ts";
import { redisAvailable, startRedis } from "../support/redis.ts";
import { requireOrSkip } from "../support/require.ts";
import { eventually } from "../support/state.ts";

const parts: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const part of parts.splice(0).reverse()) await part.stop();
});

async function world(
  config: object = {},
  node: TestNodeOptions = {},
  more: TestGatewayOptions = {},
): Promise<{ gateway: TestGateway; node: TestNode }> {
  const gateway = await startTestGateway({ ...more, config: { tools: { exec: { mode: "ask" } }, ...config } });
  parts.push(gateway);
  const started = await startTestNode(gateway, node);
  parts.push(started);
  await connected(started);
  return { gateway, node: started };
}

const OPEN = { tools: { exec: { mode: "full" } } };

describe("a conversation with a node", () => {
  it("asks on the gateway with the node's name, runs there after Allow once, and brings the completion back", async () => {
    const { gateway, node } = await world();
    const person = await gateway.person();
    await person.say("/exec host=node node=mac-1 pwd; echo $OPENCLAW_SHELL; echo $OPENCLAW_CHANNEL_CONTEXT");
    const command = "pwd; echo $OPENCLAW_SHELL; echo $OPENCLAW_CHANNEL_CONTEXT";
    const card = await person.request(command);
    expect(card).toMatchObject({ host: "node", node: "mac-1", cwd: join(node.stateDir, "workspace") });
    await person.decide(card, "allow-once");
    const ended = await person.ended(command);
    expect(ended).toMatchObject({ outcome: "completed", exitCode: 0, host: "node", node: "mac-1" });
    expect(ended.tail).toContain(join(node.stateDir, "workspace"));
    const { entries } = await person.call("audit.read", { limit: 100 });
    expect(entries.map(({ event }) => event)).toContainEqual(
      expect.objectContaining({ type: "run-started", host: "node", node: { id: node.deviceId, name: "mac-1" } }),
    );
    expect(ended.tail).toContain("exec\n");
    expect(ended.tail).toContain('{"sender":{"id":"operator"},"chat":{"id":"main"}}');
  });

  it("Run again asks for it on the same node, and nowhere else when that is away", async () => {
    const { gateway, node } = await world();
    const person = await gateway.person();
    await person.say("/exec host=node echo again >> again");
    const command = "echo again >> again";
    await person.decide(await person.request(command), "allow-once");
    const { runId } = await person.ended(command);
    await person.press({ kind: "run", action: "run-again", runId });
    const second = await person.request(command);
    expect(second).toMatchObject({ host: "node", node: "mac-1" });
    await person.decide(second, "allow-once");
    await eventually(() => readFileSync(join(node.stateDir, "workspace", "again"), "utf8") === "again\nagain\n");
    await node.stop();
    parts.splice(parts.indexOf(node), 1);
    await eventually(async () => (await person.call("nodes.list", {})).nodes.every((one) => !one.connected));
    await person.press({ kind: "run", action: "run-again", runId });
    await person.see(
      "text",
      (one) => one.tone === "error" && /mac-1 is not connected\. Nothing was run/.test(one.text ?? ""),
    );
    expect(existsSync(join(gateway.stateDir, "workspace", "again"))).toBe(false);
  });

  it("what nobody decided in time can be asked again, for the same node", async () => {
    const { gateway } = await world({ approvals: { timeoutSec: 1 } });
    const person = await gateway.person();
    await person.say("/exec host=node echo late answer");
    const expired = await person.see(
      "approval",
      (one) => one.command === "echo late answer" && one.state === "expired",
    );
    await person.press({ kind: "approval-action", action: "ask-again", approvalId: expired.approvalId });
    const second = await person.see(
      "approval",
      (one) => one.command === "echo late answer" && one.approvalId !== expired.approvalId,
    );
    expect(second).toMatchObject({ host: "node", node: "mac-1" });
  });

  it("runs nothing after Deny", async () => {
    const { gateway, node } = await world();
    const person = await gateway.person();
    await person.say("/exec host=node touch denied");
    await person.decide(await person.request("touch denied"), "deny");
    await person.see("approval", (one) => one.state === "denied");
    expect(existsSync(join(node.stateDir, "workspace", "denied"))).toBe(false);
  });

  it("an agent's call: yields to the background, takes input, is polled and killed as on the gateway", async () => {
    const { gateway } = await world(OPEN);
    const started = await gateway.tool("exec", { command: "cat", host: "node", stdin: "open", background: true });
    if (!started.body.ok) throw new Error(started.body.error.message);
    const { sessionId } = started.body.result.details;
    expect(started.body.result.details).toMatchObject({ status: "running" });
    const wrote = await gateway.tool("process", { action: "write", sessionId, data: "hello\n" });
    expect(wrote.body).toMatchObject({ ok: true });
    await eventually(async () => {
      const log = await gateway.tool("process", { action: "log", sessionId });
      return log.body.ok && log.body.result.content[0]?.text.includes("hello");
    });
    await gateway.tool("process", { action: "write", sessionId, data: "bye\n", eof: true });
    await eventually(async () => {
      const polled = await gateway.tool("process", { action: "poll", sessionId });
      return polled.body.ok && polled.body.result.details.exitCode === 0;
    });
  });

  it("a terminal there has the size it is given, and a kill ends everything the command started", async () => {
    const { gateway, node } = await world(OPEN);
    const started = await gateway.tool("exec", {
      command: "sleep 300 & echo child $! > pids; stty size; cat",
      host: "node",
      pty: true,
      background: true,
    });
    if (!started.body.ok) throw new Error(started.body.error.message);
    const { sessionId } = started.body.result.details;
    const logged = async (text: string) =>
      eventually(async () => {
        const log = await gateway.tool("process", { action: "log", sessionId });
        return log.body.ok && log.body.result.content[0]?.text.includes(text);
      });
    await logged(`${PTY_ROWS} ${PTY_COLS}`);
    expect((await gateway.tool("process", { action: "resize", sessionId, cols: 120, rows: 40 })).body.ok).toBe(true);
    await gateway.tool("process", { action: "kill", sessionId });
    await eventually(async () => {
      const polled = await gateway.tool("process", { action: "poll", sessionId });
      return polled.body.ok && polled.body.result.details.status !== "running";
    });
    const pid = Number(/child (\d+)/.exec(readFileSync(join(node.stateDir, "workspace", "pids"), "utf8"))?.[1]);
    await eventually(
      () => !existsSync(`/proc/${pid}`) || /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8")),
    );
  });

  it("keeps all of a large output in order, and the exit code", async () => {
    const { gateway } = await world(OPEN);
    const result = await gateway.tool("exec", { command: "seq 1 400000; exit 3", host: "node" });
    if (!result.body.ok) throw new Error(result.body.error.message);
    expect(result.body.result.details).toMatchObject({ exitCode: 3 });
    const lines =
      (result.body.result.details.aggregated as string | undefined) ?? result.body.result.content[0]?.text ?? "";
    expect(lines).toContain("400000");
    const numbers = lines.match(/^\d+$/gm)?.map(Number) ?? [];
    // The beginning is dropped somewhere in a line.
    expect(numbers.length).toBeGreaterThan(10_000);
    expect(numbers.slice(1).every((value, index) => index === 0 || value === (numbers[index] ?? 0) + 1)).toBe(true);
  });

  it("ends at its timeout, on the node", async () => {
    const { gateway } = await world(OPEN);
    const result = await gateway.tool("exec", { command: "sleep 60", host: "node", timeout: 1 });
    if (!result.body.ok) throw new Error(result.body.error.message);
    expect(result.body.result.details).toMatchObject({ timedOut: true });
  });

  it("node-cwd-of-gateway: no workdir is the node's default, a given one is looked up there and named in the error", async () => {
    const { gateway, node } = await world(OPEN);
    const here = await gateway.tool("exec", { command: "pwd", host: "node" });
    expect(JSON.stringify(here.body)).toContain(join(node.stateDir, "workspace"));
    const missing = join(gateway.stateDir, "only-here-not");
    const refused = await gateway.tool("exec", { command: "touch ran", workdir: missing, host: "node" });
    expect(refused.body).toMatchObject({ ok: true, result: { details: { failureKind: "workdir-unavailable" } } });
    expect(JSON.stringify(refused.body)).toContain(missing);
    mkdirSync(join(node.stateDir, "workspace", "sub"));
    const inside = await gateway.tool("exec", { command: "pwd", workdir: "sub", host: "node" });
    expect(JSON.stringify(inside.body)).toContain(join(node.stateDir, "workspace", "sub"));
  });

  it("refuses PATH, LD_* and other names that change what runs, before anything is asked", async () => {
    const { gateway, node } = await world();
    for (const env of [{ PATH: "/tmp" }, { LD_PRELOAD: "/tmp/x.so" }, { BASH_ENV: "/tmp/x" }]) {
      const answer = await gateway.tool("exec", { command: "touch ran", host: "node", env });
      expect(answer.body).toMatchObject({ ok: false, error: { code: "env-forbidden" } });
    }
    expect(existsSync(join(node.stateDir, "workspace", "ran"))).toBe(false);
  });

  it("says so when a call is too large to send, and the node stays connected", async () => {
    const { gateway, node } = await world(OPEN);
    const env = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`BIG${index}`, "x".repeat(120_000)]));
    const answer = await gateway.tool("exec", { command: "touch ran", host: "node", env });
    expect(answer.body).toMatchObject({ ok: false });
    const long = `echo ${"a b ".repeat(30_000)}`;
    const looked = await gateway.tool("exec", { command: long, host: "node" });
    expect(JSON.stringify(looked.body)).not.toContain("not connected");
    const fine = await gateway.tool("exec", { command: "echo fine", host: "node" });
    expect(JSON.stringify(fine.body)).toContain("fine");
    expect(node.lines.filter((line) => line.startsWith("Connected to gateway"))).toHaveLength(1);
    expect(existsSync(join(node.stateDir, "workspace", "ran"))).toBe(false);
  });

  it("a file changed between approval and run keeps the command from running", async () => {
    const { gateway, node } = await world();
    const script = join(node.stateDir, "workspace", "job.sh");
    writeFileSync(script, "echo approved\n");
    const person = await gateway.person();
    await person.say("/exec host=node sh job.sh");
    const card = await person.request("sh job.sh");
    writeFileSync(script, "touch swapped\n");
    await person.decide(card, "allow-once");
    const ended = await person.ended("sh job.sh");
    expect(ended).toMatchObject({ outcome: "not-started" });
    expect(existsSync(join(node.stateDir, "workspace", "swapped"))).toBe(false);
  });

  it("the node's own file wins: its deny holds whatever the gateway allows, and its ask brings the card", async () => {
    const deny = await world(OPEN, { approvals: { version: 1, defaults: { security: "deny" } } });
    const answer = await deny.gateway.tool("exec", { command: "touch ran", host: "node" });
    expect(answer.body).toMatchObject({ ok: false, error: { code: "exec-denied" } });
    expect(JSON.stringify(answer.body)).toContain("mac-1");

    const ask = await world(OPEN, { approvals: { version: 1, defaults: { security: "full", ask: "always" } } });
    const person = await ask.gateway.person();
    await person.say("/exec host=node echo asked");
    await person.decide(await person.request("echo asked"), "allow-once");
    expect((await person.ended("echo asked")).tail).toContain("asked");
  });

  it("Allow always is kept in the node's own file and used there, for exactly this command", async () => {
    const { gateway, node } = await world();
    const person = await gateway.person();
    await person.say("/exec host=node /bin/echo always");
    await person.decide(await person.request("/bin/echo always"), "allow-always");
    await person.ended("/bin/echo always");
    expect(existsSync(join(node.stateDir, "exec-approvals.json"))).toBe(true);
    expect(readFileSync(join(node.stateDir, "exec-approvals.json"), "utf8")).toContain("echo");
    const again = await gateway.tool("exec", { command: "/bin/echo always", host: "node" });
    expect(again.body).toMatchObject({ ok: true, result: { details: { exitCode: 0 } } });
    const other = await gateway.tool("exec", { command: "/bin/echo other", host: "node" });
    expect(other.body).toMatchObject({ ok: true, result: { details: { status: "approval-pending" } } });

    const card = await person.see("approval", (one) => one.command === "/bin/echo always" && one.revocable === true);
    await person.press({ kind: "revoke", approvalId: card.approvalId });
    await person.see("approval", (one) => one.approvalId === card.approvalId && one.revokedBy !== undefined);
    const afterwards = await gateway.tool("exec", { command: "/bin/echo always", host: "node" });
    expect(afterwards.body).toMatchObject({ ok: true, result: { details: { status: "approval-pending" } } });
  });

  it("what Allow always stored on a node that is away can not be taken back, and that is said", async () => {
    const { gateway, node } = await world();
    const person = await gateway.person();
    await person.say("/exec host=node /bin/echo kept");
    await person.decide(await person.request("/bin/echo kept"), "allow-always");
    await person.ended("/bin/echo kept");
    const card = await person.see("approval", (one) => one.revocable === true);
    await node.stop();
    parts.splice(parts.indexOf(node), 1);
    await eventually(async () => (await person.call("nodes.list", {})).nodes.every((one) => !one.connected));
    await person.press({ kind: "revoke", approvalId: card.approvalId });
    await person.see("text", (one) => one.tone === "error" && /mac-1 is not connected/.test(one.text ?? ""));
    expect(person.screen().some((one) => one.kind === "approval" && one.revokedBy !== undefined)).toBe(false);
  });

  it("/exec explain says what would become of it on the node, and runs nothing", async () => {
    const { gateway, node } = await world();
    const person = await gateway.person();
    await person.say("/exec host=node");
    await eventually(() => person.screen().length > 1);
    await person.say("/exec explain touch explained");
    await person.see("text", (one) => one.code === "touch explained");
    expect(existsSync(join(node.stateDir, "workspace", "explained"))).toBe(false);
  });
});

requireOrSkip("redis-server", redisAvailable)("a node of a gateway with its state in Redis", () => {
  it("is paired, asked and told as with the embedded state", async () => {
    const redis = await startRedis();
    parts.push(redis);
    const { gateway } = await world({}, {}, { redisUrl: redis.url });
    const person = await gateway.person();
    await person.say("/exec host=node echo by redis");
    await person.decide(await person.request("echo by redis"), "allow-once");
    expect(await person.ended("echo by redis")).toMatchObject({ outcome: "completed", node: "mac-1" });
    expect((await person.call("nodes.list", {})).nodes).toMatchObject([{ name: "mac-1", connected: true }]);
    await person.call("nodes.remove", { node: "mac-1" });
    expect((await person.call("nodes.list", {})).nodes).toEqual([]);
  });
});
