/** The gateway believes a node nothing it can check: what a hostile or broken one can not do to others. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { openApprovalsFile } from "../../src/core/approvals/approvals-file.ts";
import { systemClock } from "../../src/core/clock.ts";
import { NodePolicy } from "../../src/node-host/policy.ts";
import { parsePrepare } from "../../src/protocol/node-frames.ts";
import { startTestGateway, type TestGateway, TOKEN } from "../support/gateway.ts";
import { connected, startTestNode } from "../support/node.ts";
import { newDevice, RawNode } from "../support/raw-node.ts";
import { eventually } from "../support/state.ts";

const parts: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const part of parts.splice(0).reverse()) await part.stop();
});

async function startGateway(exec: object = { mode: "full" }, nodes: object = {}): Promise<TestGateway> {
  const gateway = await startTestGateway({ config: { tools: { exec }, gateway: { nodes } } });
  parts.push(gateway);
  return gateway;
}

async function raw(gateway: TestGateway, name = "raw"): Promise<RawNode> {
  const node = await RawNode.connect(gateway.url, { name, device: newDevice(), auth: { token: TOKEN } });
  parts.push(node);
  expect(node.answer).toMatchObject({ ok: true });
  node.event("node.runs", { runs: [] });
  return node;
}

const END = {
  reason: "exit",
  exitCode: 0,
  exitSignal: null,
  timedOut: false,
  durationMs: 1,
  notes: [],
  lastSeq: 0,
  tail: "forged",
};

/** Answers as a real node would, signed with its key, but judged by a policy that a test has changed. */
async function preparesHonestly(node: RawNode, policy: object): Promise<void> {
  const { id, params } = await node.asked("system.run.prepare");
  const stateDir = await mkdtemp(join(tmpdir(), "openclaw-exec-raw-"));
  parts.push({ stop: () => rm(stateDir, { recursive: true, force: true }) });
  const { privateKey, publicKey, id: deviceId } = node.device;
  const judge = new NodePolicy({
    ...{ privateKey, publicKey, deviceId },
    approvalsFile: await openApprovalsFile({
      path: join(stateDir, "exec-approvals.json"),
      clock: systemClock,
      newId: () => crypto.randomUUID(),
    }),
    clock: systemClock,
    path: () => ["/usr/bin", "/bin"],
    home: stateDir,
    workspace: stateDir,
  });
  const request = parsePrepare(params);
  const server = node.answer?.payload?.server as { gatewayId: string };
  const payload = await judge.prepare({ ...request, policy: { ...request.policy, ...policy } }, server.gatewayId);
  node.event("node.invoke.result", { id, ok: true, payload });
}

/** An answer to prepare that is well formed and signed by nobody: changed as a test wants. */
async function answers(node: RawNode, change: (payload: Record<string, unknown>) => object, nth = 1) {
  const { id } = await node.asked("system.run.prepare", nth);
  const hash = "0".repeat(64);
  const payload = {
    cwd: "/tmp",
    decision: {
      kind: "allow",
      plan: { kind: "verbatim", text: "echo hi" },
      binding: { hash, cwd: { path: "/tmp", dev: 1, ino: 1 }, files: [] },
      segments: [],
      reasons: [],
    },
    security: "full",
    ask: "off",
    askFallback: "deny",
    ticket: "x.y",
  };
  node.event("node.invoke.result", { id, ok: true, payload: change(payload) });
}

describe("a node that does not play by the rules", () => {
  it("can not pass off another decision, a foreign ticket or nonsense as its word: nothing is asked or run", async () => {
    const gateway = await startGateway();
    const node = await raw(gateway);
    const changes: ((payload: Record<string, unknown>) => object)[] = [
      (payload) => payload,
      (payload) => ({ ...payload, ticket: undefined }),
      (payload) => ({ ...payload, decision: { kind: "allow" } }),
      (payload) => ({ ...payload, decision: { kind: "ask", offered: ["rm"] } }),
      () => ({}),
      (payload) => ({ ...payload, security: "everything" }),
    ];
    for (const [index, change] of changes.entries()) {
      const called = gateway.tool("exec", { command: "echo hi", host: "node" });
      await answers(node, change, index + 1);
      expect((await called).body).toMatchObject({ ok: false, error: { code: "host-unavailable" } });
    }
    expect(node.got("node.invoke.request").filter((one) => one.command === "system.run")).toEqual([]);
    expect((await gateway.tool("process", { action: "list" })).body).toMatchObject({ ok: true });
  });

  it("can not talk the gateway out of its own deny, nor claim a code of the gateway", async () => {
    const gateway = await startGateway({ mode: "deny" });
    const node = await raw(gateway);
    const denied = await gateway.tool("exec", { command: "echo hi", host: "node" });
    expect(denied.body).toMatchObject({ ok: false, error: { code: "exec-denied" } });
    expect(node.got("node.invoke.request")).toEqual([]);

    const open = await startGateway();
    const other = await raw(open);
    const called = open.tool("exec", { command: "echo hi", host: "node" });
    const { id } = await other.asked("system.run.prepare");
    other.event("node.invoke.result", { id, ok: false, error: { code: "unauthorized", message: "log in again" } });
    expect((await called).body).toMatchObject({ ok: false, error: { code: "exec-denied" } });
  });

  it("can not end, feed or answer for what runs on another node", async () => {
    const gateway = await startGateway();
    const honest = await startTestNode(gateway, { displayName: "honest" });
    parts.push(honest);
    await connected(honest);
    const thief = await raw(gateway, "thief");
    const person = await gateway.person();
    await person.say("/exec host=node node=honest sleep 2; echo true end");
    const command = "sleep 2; echo true end";
    const { runId } = await person.see("run", (one) => one.command === command && one.state === "running");
    const data = Buffer.from("forged output\n").toString("base64");
    thief.event("node.run.output", { runId, seq: 1, stream: "stdout", data });
    thief.event("node.run.ended", { runId, end: END });
    thief.event("node.run.input-taken", { runId, id: 1, queued: 0, writable: true });
    const ended = await person.ended(command);
    expect(ended.tail).toContain("true end");
    expect(ended.tail).not.toContain("forged");
    // Late, as the end of a run that is no longer waited for: not its to tell either.
    thief.event("node.run.ended", { runId, end: { ...END, exitCode: 9 } });
    await eventually(() => thief.got("node.run.settled").some((one) => one.runId === runId));
    expect((await person.ended(command)).exitCode).toBe(0);
    expect(thief.closed).toBeUndefined();
  });

  it("is hung up on for a gap in its output, a frame that does not fit, and one that is too large", async () => {
    const gateway = await startGateway();
    const nonsense = await raw(gateway, "nonsense");
    nonsense.event("node.run.output", { runId: "r", seq: 0, stream: "stdout", data: "" });
    expect(await nonsense.end()).toMatchObject({ code: 4002 });
    const unknown = await raw(gateway, "unknown");
    unknown.event("nodes.approve", { request: "x" });
    expect(await unknown.end()).toMatchObject({ code: 4002 });
    const request = await raw(gateway, "request");
    request.send({ type: "req", id: "2", method: "nodes.list", params: {} });
    expect(await request.end()).toMatchObject({ code: 4002 });
    const huge = await raw(gateway, "huge");
    huge.sendText(`"${"x".repeat(3 * 1024 * 1024)}"`);
    expect((await huge.end()).code).toBe(1009);
    expect((await gateway.tool("exec", { command: "echo alive" })).body).toMatchObject({ ok: true });
  });

  it("may flood with frames only so long", async () => {
    const gateway = await startGateway();
    const node = await raw(gateway);
    for (let index = 0; index < 61_000; index++) {
      node.event("node.run.input-taken", { runId: "none", id: index, queued: 0, writable: false });
    }
    expect(await node.end()).toMatchObject({ code: 4002 });
    expect((await gateway.tool("exec", { command: "echo alive" })).body).toMatchObject({ ok: true });
  });

  it("is not believed when it allows what this gateway always asks about", async () => {
    const gateway = await startGateway({ security: "full", ask: "always" });
    const node = await raw(gateway, "eager");
    const called = gateway.tool("exec", { command: "echo hi", host: "node" });
    await preparesHonestly(node, { ask: "off" });
    const { body } = await called;
    expect(body).toMatchObject({
      ok: true,
      result: { details: { status: "approval-pending", nodeId: node.device.id } },
    });
    expect(node.got("node.invoke.request").filter((one) => one.command === "system.run")).toEqual([]);
  });

  it("is not waited for without end: a start that is not confirmed is called off, and its outcome is unknown", async () => {
    const gateway = await startGateway();
    const node = await raw(gateway, "slow");
    const called = gateway.tool("exec", { command: "echo hi", host: "node" });
    await preparesHonestly(node, {});
    const { id, params } = await node.asked("system.run");
    const { body } = await called;
    expect(JSON.stringify(body)).toMatch(/did not say in time that it runs/);
    expect(node.got("node.invoke.cancel")).toEqual([{ id }]);
    expect(node.got("node.run.stop")).toMatchObject([{ runId: params.runId }]);
    // Its late word changes nothing but what is told of the end.
    node.event("node.invoke.result", { id, ok: true, payload: { pty: false, stdinWritable: false, warnings: [] } });
    node.event("node.run.ended", { runId: params.runId, end: { ...END, reason: "manual-cancel", exitCode: null } });
    await eventually(() => node.got("node.run.settled").some((one) => one.runId === params.runId));
  }, 40_000);

  it("is not waited for without end: a silent prepare is an error and is called off", async () => {
    const gateway = await startGateway();
    const node = await raw(gateway);
    const called = gateway.tool("exec", { command: "echo hi", host: "node" });
    const { id } = await node.asked("system.run.prepare");
    expect((await called).body).toMatchObject({ ok: false, error: { code: "host-unavailable" } });
    expect(node.got("node.invoke.cancel")).toEqual([{ id }]);
  }, 30_000);

  it("gets an approval's run only itself: while it is away nothing runs elsewhere", async () => {
    const gateway = await startGateway({ mode: "ask" });
    const one = await startTestNode(gateway, { displayName: "one" });
    parts.push(one);
    const two = await startTestNode(gateway, { displayName: "two" });
    parts.push(two);
    await connected(one);
    await connected(two);
    const person = await gateway.person();
    await person.say("/exec host=node node=one touch ran");
    const card = await person.request("touch ran");
    expect(card.node).toBe("one");
    await person.call("nodes.rename", { node: "two", name: "one" });
    await person.call("nodes.remove", { node: one.deviceId });
    await person.decide(card, "allow-once");
    expect(await person.ended("touch ran")).toMatchObject({ outcome: "not-started" });
    expect(existsSync(join(two.stateDir, "workspace", "ran"))).toBe(false);
    expect(existsSync(join(one.stateDir, "workspace", "ran"))).toBe(false);
  });
});

describe("which node a call means", () => {
  it("node-ghost-and-selection: none, one, several, unknown, offline and bound are told apart before anything is asked", async () => {
    const gateway = await startGateway({ mode: "ask" });
    const call = async (more: object = {}) => {
      const { body } = await gateway.tool("exec", { command: "echo hi", host: "node", ...more });
      return body.ok ? "asked" : body.error.message;
    };
    expect(await call()).toMatch(/no node is paired/);
    const one = await startTestNode(gateway, { displayName: "one" });
    parts.push(one);
    await connected(one);
    expect(await call()).toBe("asked");
    const two = await startTestNode(gateway, { displayName: "two" });
    parts.push(two);
    await connected(two);
    expect(await call()).toMatch(/several nodes are connected: one \(.{8}\), two/);
    expect(await call({ node: "one" })).toBe("asked");
    expect(await call({ node: two.deviceId.slice(0, 10) })).toBe("asked");
    expect(await call({ node: "thre" })).toMatch(/no node "thre".*one/);
    const person = await gateway.person();
    await person.say("/exec host=node node=two");
    await eventually(() =>
      person.screen().some((card) => card.kind === "text" && JSON.stringify(card).includes("two")),
    );
    await person.say("/exec echo by session");
    expect((await person.request("echo by session")).node).toBe("two");
    expect((await person.call("chat.complete", { text: "/exec node=" })).items.map((item) => item.label)).toEqual([
      "node=one",
      "node=two",
    ]);
    await two.stop();
    parts.splice(parts.indexOf(two), 1);
    await eventually(async () => /not connected/.test(await call({ node: "two" })));
    expect(await call()).toBe("asked");
  });

  it("an agent bound to one node can not be sent to another", async () => {
    const gateway = await startGateway({ mode: "full", node: "one" });
    const one = await startTestNode(gateway, { displayName: "one" });
    parts.push(one);
    const two = await startTestNode(gateway, { displayName: "two" });
    parts.push(two);
    await connected(one);
    await connected(two);
    const other = await gateway.tool("exec", { command: "touch ran", host: "node", node: "two" });
    expect(other.body).toMatchObject({ ok: false, error: { code: "host-not-allowed" } });
    expect(existsSync(join(two.stateDir, "workspace", "ran"))).toBe(false);
    const right = await gateway.tool("exec", { command: "echo right", host: "node" });
    expect(JSON.stringify(right.body)).toContain("right");
  });
});
