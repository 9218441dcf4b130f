/** The wire between gateway and node goes, stalls and comes back: nothing runs twice, nothing is lost without a word. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "../support/gateway.ts";
import { connected, startTestNode, type TestNode, type TestNodeOptions } from "../support/node.ts";
import { eventually } from "../support/state.ts";
import { type TcpProxy, tcpProxy } from "../support/tcp-proxy.ts";

const parts: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const part of parts.splice(0).reverse()) await part.stop();
});

interface World {
  readonly gateway: TestGateway;
  readonly node: TestNode;
  readonly wire: TcpProxy;
  file(name: string): string;
}

async function world(
  options: { nodes?: object; node?: TestNodeOptions; gateway?: TestGatewayOptions } = {},
): Promise<World> {
  const gateway = await startTestGateway({
    config: { tools: { exec: { mode: "full" } }, gateway: { nodes: options.nodes ?? {} } },
    ...options.gateway,
  });
  parts.push(gateway);
  const wire = await tcpProxy(Number(new URL(gateway.url).port));
  parts.push(wire);
  const node = await startTestNode(gateway, { url: `http://127.0.0.1:${wire.port}`, ...options.node });
  parts.push(node);
  await connected(node);
  return { gateway, node, wire, file: (name) => join(node.stateDir, "workspace", name) };
}

async function start(gateway: TestGateway, command: string): Promise<string> {
  const { body } = await gateway.tool("exec", { command, host: "node", background: true });
  if (!body.ok) throw new Error(body.error.message);
  return String(body.result.details.sessionId);
}

async function logOf(gateway: TestGateway, sessionId: string): Promise<string> {
  const { body } = await gateway.tool("process", { action: "log", sessionId, limit: 100_000 });
  return body.ok ? (body.result.content[0]?.text ?? "") : "";
}

async function ended(gateway: TestGateway, sessionId: string): Promise<Record<string, unknown>> {
  return eventually(async () => {
    const { body } = await gateway.tool("process", { action: "poll", sessionId });
    return body.ok && body.result.details.status !== "running" ? body.result.details : undefined;
  }, 30_000);
}

const times = (path: string) => (existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean).length : 0);

describe("the connection to a node", () => {
  it("is cut while a command runs: its output goes on where it stopped, each line once, and it runs once", async () => {
    const { gateway, node, wire, file } = await world();
    const session = await start(gateway, "echo ran >> once; for i in $(seq 1 60); do echo line$i; sleep 0.05; done");
    await eventually(async () => (await logOf(gateway, session)).includes("line5\n"));
    wire.cut();
    await connected(node, 2);
    wire.cut();
    await connected(node, 3);
    expect(await ended(gateway, session)).toMatchObject({ status: "completed", exitCode: 0 });
    const lines = (await logOf(gateway, session)).match(/line\d+/g);
    expect(lines).toEqual(Array.from({ length: 60 }, (_, index) => `line${index + 1}`));
    expect(times(file("once"))).toBe(1);
  });

  it("is cut in the middle of a flood: nothing is missing and nothing comes twice", async () => {
    const { gateway, node, wire } = await world();
    const session = await start(gateway, "seq 1 30000; sleep 0.2; seq 30001 60000");
    await eventually(async () => (await logOf(gateway, session)).includes("\n100\n"));
    wire.cut();
    await connected(node, 2);
    expect(await ended(gateway, session)).toMatchObject({ exitCode: 0 });
    const numbers = (await logOf(gateway, session)).match(/^\d+$/gm)?.map(Number) ?? [];
    expect(numbers.at(-1)).toBe(60_000);
    expect(numbers.slice(1).every((value, index) => index === 0 || value === (numbers[index] ?? 0) + 1)).toBe(true);
  });

  it("stays away beyond the grace: the run is lost, its end is told once when the node is back, and it is stopped", async () => {
    const { gateway, node, wire, file } = await world({ nodes: { reconnectGraceSec: 1 } });
    const person = await gateway.person();
    const command = "echo ran >> once; sleep 300";
    await person.say(`/exec host=node ${command}`);
    await person.see("run", (one) => one.command === command && one.state === "running");
    await eventually(() => times(file("once")) === 1);
    wire.stall(true);
    wire.cut();
    const lost = await person.see("run", (one) => one.command === command && one.outcome === "lost");
    expect(lost.notes.join()).toMatch(/connection to node mac-1 was lost/);
    wire.stall(false);
    wire.cut();
    await connected(node, 2);
    const corrected = await person.see("run", (one) => one.command === command && one.outcome === "killed", 30_000);
    expect(corrected.notes.join()).toMatch(/mac-1 is back/);
    expect(person.screen().filter((one) => one.kind === "run" && one.command === command)).toHaveLength(1);
    expect(times(file("once"))).toBe(1);
  });

  it("ends meanwhile: the node tells the end it has kept, with its output, once", async () => {
    const { gateway, node, wire, file } = await world({ nodes: { reconnectGraceSec: 1 } });
    const person = await gateway.person();
    const command = "sleep 2; echo finished there; echo ran >> once";
    await person.say(`/exec host=node ${command}`);
    await person.see("run", (one) => one.command === command && one.state === "running");
    wire.stall(true);
    wire.cut();
    await person.see("run", (one) => one.command === command && one.outcome === "lost");
    await eventually(() => times(file("once")) === 1);
    wire.stall(false);
    wire.cut();
    await connected(node, 2);
    const told = await person.see("run", (one) => one.command === command && one.outcome === "completed", 30_000);
    expect(told).toMatchObject({ exitCode: 0 });
    expect(told.tail).toContain("finished there");
    wire.cut();
    await connected(node, 3);
    expect(person.history.filter((one) => one.kind === "run" && one.outcome === "completed")).toHaveLength(1);
  });

  it("does not come back: the node stops what runs for the gateway when its grace is over", async () => {
    const { gateway, wire, file } = await world({ node: { graceMs: 500 } });
    await start(gateway, "echo $$ > pid; exec sleep 300");
    const pid = await eventually(() =>
      existsSync(file("pid")) ? Number(readFileSync(file("pid"), "utf8")) : undefined,
    );
    await eventually(() => pid > 0);
    wire.stall(true);
    wire.cut();
    await eventually(() => !existsSync(`/proc/${pid}`), 20_000);
  });

  it("node-ghost-and-selection: a node that comes again over a new connection is one node, and the old one is gone", async () => {
    const { gateway, node, wire } = await world();
    const person = await gateway.person();
    wire.cut();
    await connected(node, 2);
    const { nodes } = await person.call("nodes.list", {});
    expect(nodes).toMatchObject([{ name: "mac-1", connected: true }]);
    const answer = await gateway.tool("exec", { command: "echo here", host: "node" });
    expect(JSON.stringify(answer.body)).toContain("here");
  });

  it("a gateway that stops in order has what runs on nodes stopped first, and says so", async () => {
    const gateway = await startTestGateway({ config: { tools: { exec: { mode: "full" } } } });
    parts.push(gateway);
    const port = Number(new URL(gateway.url).port);
    const wire = await tcpProxy(port);
    parts.push(wire);
    const node = await startTestNode(gateway, { url: `http://127.0.0.1:${wire.port}` });
    parts.push(node);
    await connected(node);
    await gateway.tool("exec", { command: "sleep 300", host: "node", background: true });
    await gateway.restart();
    // Stopped in order: the node was told to stop it, and said so before the gateway went.
    const audit = await gateway.gateway.audit.read({ limit: 100 });
    const ends = audit.entries.map(({ event }) => event).filter((event) => event.type === "run-ended");
    expect(ends).toMatchObject([{ outcome: "killed" }]);
  });

  it("a node that restarts says of what it ran that it was cut off, and nothing of it goes on", async () => {
    const { gateway, node, file } = await world();
    const session = await start(gateway, "echo $$ > pid; exec sleep 300");
    const pid = await eventually(() =>
      existsSync(file("pid")) ? Number(readFileSync(file("pid"), "utf8")) : undefined,
    );
    await node.restart();
    await connected(node, 2);
    const end = await ended(gateway, session);
    expect(end.status).not.toBe("completed");
    expect(existsSync(`/proc/${pid}`)).toBe(false);
  });

  it("is cut at any moment: what is said of a call is what happened, and nothing ran twice", async () => {
    const { gateway, wire, file } = await world({ nodes: { reconnectGraceSec: 5 } });
    const person = await gateway.person();
    const seen: Record<string, number> = {};
    for (let round = 0; round < 40; round++) {
      const called = gateway.tool("exec", { command: `echo ran >> round${round}; echo out${round}`, host: "node" });
      const cutting = setTimeout(() => wire.cut(), (round % 20) * 3);
      const { body } = await called;
      clearTimeout(cutting);
      const ran = times(file(`round${round}`));
      const told = body.ok ? String(body.result.details.status) : body.error.code;
      seen[told] = (seen[told] ?? 0) + 1;
      if (!body.ok) {
        // Nothing was run, and that is what is said.
        expect(body.error.message).toMatch(/Nothing was run/);
        expect(ran, body.error.message).toBe(0);
      } else if (body.result.details.exitCode === 0) {
        expect(ran).toBe(1);
        expect(body.result.content[0]?.text).toContain(`out${round}`);
      } else expect(ran).toBeLessThanOrEqual(1);
      await eventually(async () => {
        const { nodes } = await person.call("nodes.list", {});
        return nodes[0]?.connected;
      }, 20_000);
    }
    for (let round = 0; round < 40; round++) expect(times(file(`round${round}`))).toBeLessThanOrEqual(1);
    expect(seen.completed).toBeGreaterThan(0);
  }, 120_000);
});
