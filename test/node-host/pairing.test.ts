/** Who becomes a node, with what, and how it ends: over real sockets, with right keys and wrong ones. */
import { readdirSync, readFileSync, statSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { MAX_PENDING_PER_ADDRESS } from "../../src/core/hosts/node/pairing.ts";
import { loadIdentity } from "../../src/node-host/identity.ts";
import { startTestGateway, type TestGateway, TOKEN } from "../support/gateway.ts";
import { connected, startTestNode } from "../support/node.ts";
import { newDevice, RawNode } from "../support/raw-node.ts";
import { eventually } from "../support/state.ts";

const parts: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const part of parts.splice(0).reverse()) await part.stop();
});

async function startGateway(nodes: object = {}): Promise<TestGateway> {
  const gateway = await startTestGateway({ config: { tools: { exec: { mode: "full" } }, gateway: { nodes } } });
  parts.push(gateway);
  return gateway;
}

async function raw(gateway: TestGateway, options: Parameters<typeof RawNode.connect>[1] = {}): Promise<RawNode> {
  const node = await RawNode.connect(gateway.url, options);
  parts.push(node);
  return node;
}

/** All that the gateway has on disk of its state. */
function storedIn(gateway: TestGateway): string {
  const names = readdirSync(gateway.stateDir).filter((name) => name.startsWith("state.db"));
  return names.map((name) => readFileSync(join(gateway.stateDir, name), "latin1")).join("");
}

describe("pairing a node", () => {
  it("a stranger waits in the foreground until an owner approves it, and gets a token of its own", async () => {
    const gateway = await startGateway();
    const node = await startTestNode(gateway, { gatewayToken: "" });
    parts.push(node);
    const owner = await gateway.person();
    const [request] = await eventually(async () => {
      const { pending } = await owner.call("nodes.list", {});
      return pending.length > 0 ? pending : undefined;
    });
    expect(request).toMatchObject({ nodeId: node.deviceId, kind: "device", name: "mac-1" });
    await eventually(() => node.lines.join().includes(`nodes approve ${request?.requestId.slice(0, 8)}`));
    expect(await gateway.tool("exec", { command: "echo x", host: "node" })).toMatchObject({
      body: { ok: false, error: { code: "host-unavailable" } },
    });
    await owner.call("nodes.approve", { request: request?.requestId.slice(0, 8) ?? "" });
    await connected(node);
    const path = join(node.stateDir, "node", "device-tokens.json");
    const [token = ""] = Object.values(JSON.parse(readFileSync(path, "utf8")) as Record<string, string>);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(token.length).toBeGreaterThan(40);
    expect(storedIn(gateway)).toContain(node.deviceId);
    expect(storedIn(gateway).includes(token)).toBe(false);
    const { entries } = await owner.call("audit.read", { limit: 100 });
    expect(entries.map(({ event }) => event)).toContainEqual(
      expect.objectContaining({ type: "node-changed", change: "paired", nodeId: node.deviceId }),
    );
  });

  it("its tries keep one request, which goes five minutes after the last", async () => {
    const gateway = await startGateway();
    const device = newDevice();
    const first = await raw(gateway, { device });
    expect(first.answer).toMatchObject({ ok: false, error: { details: { code: "PAIRING_REQUIRED" } } });
    expect(await first.end()).toMatchObject({ code: 4010 });
    const owner = await gateway.person();
    const [before] = (await owner.call("nodes.list", {})).pending;
    await raw(gateway, { device });
    const { pending } = await owner.call("nodes.list", {});
    expect(pending).toHaveLength(1);
    expect(pending[0]?.requestId).toBe(before?.requestId);
    expect((pending[0]?.expiresAtMs ?? 0) - Date.now()).toBeGreaterThan(4.5 * 60_000);
    expect((pending[0]?.expiresAtMs ?? 0) - Date.now()).toBeLessThanOrEqual(5 * 60_000);
  });

  it("strangers from one address can not fill the list", async () => {
    const gateway = await startGateway();
    for (let index = 0; index < MAX_PENDING_PER_ADDRESS; index++) await raw(gateway);
    const more = await raw(gateway);
    expect(more.answer).toMatchObject({ ok: false, error: { code: "rate-limited" } });
    const owner = await gateway.person();
    expect((await owner.call("nodes.list", {})).pending).toHaveLength(MAX_PENDING_PER_ADDRESS);
  });

  it("a rejected node is turned away, says so, and ends", async () => {
    const gateway = await startGateway();
    const node = await startTestNode(gateway, { gatewayToken: "" });
    parts.push(node);
    const owner = await gateway.person();
    await eventually(async () => (await owner.call("nodes.list", {})).pending.length > 0);
    await owner.call("nodes.reject", { request: node.deviceId });
    expect(await node.over).toMatchObject({ code: "unauthorized", message: "An owner has rejected this node." });
    expect((await owner.call("nodes.list", {})).pending).toEqual([]);
  });

  it("a removed node is hung up on at once, what ran there is stopped, and its token is worth nothing", async () => {
    const gateway = await startGateway();
    const node = await startTestNode(gateway);
    parts.push(node);
    await connected(node);
    const owner = await gateway.person();
    await gateway.tool("exec", { command: "sleep 300", host: "node", background: true });
    const removed = await owner.call("nodes.remove", { node: "mac-1" });
    expect(removed).toMatchObject({ id: node.deviceId, running: 1 });
    expect(await node.over).toMatchObject({ code: "unauthorized" });
    expect((await owner.call("nodes.list", {})).nodes).toEqual([]);
    const [token = ""] = Object.values(
      JSON.parse(readFileSync(join(node.stateDir, "node", "device-tokens.json"), "utf8")) as Record<string, string>,
    );
    const identity = loadIdentity(node.stateDir, "test");
    const device = { privateKey: identity.privateKey, publicKey: identity.publicKey, id: identity.deviceId };
    const again = await raw(gateway, { device, auth: { deviceToken: token } });
    expect(again.answer).toMatchObject({ ok: false, error: { details: { code: "PAIRING_REQUIRED" } } });
  });

  it("on this machine, the gateway's token pairs it by itself; without it, or told not to, it waits", async () => {
    const open = await startGateway();
    expect((await raw(open, { auth: { token: TOKEN } })).answer).toMatchObject({ ok: true });
    expect((await raw(open)).answer).toMatchObject({ ok: false, error: { details: { code: "PAIRING_REQUIRED" } } });
    const forwarded = await raw(open, { auth: { token: TOKEN }, headers: { "x-forwarded-for": "203.0.113.9" } });
    expect(forwarded.answer).toMatchObject({ ok: false, error: { details: { code: "PAIRING_REQUIRED" } } });
    expect((await raw(open, { auth: { token: "wrong-token-0123456789" } })).answer).toMatchObject({
      ok: false,
      error: { code: "unauthorized" },
    });
    const closed = await startGateway({ autoApproveLocal: false });
    expect((await raw(closed, { auth: { token: TOKEN } })).answer).toMatchObject({ ok: false });
  });

  it("a listed network pairs the device, and its commands still wait for an owner", async () => {
    const gateway = await startGateway({ autoApproveLocal: false, autoApproveCidrs: ["127.0.0.0/8"] });
    const node = await raw(gateway, { name: "lan-box" });
    expect(node.answer).toMatchObject({ ok: true, payload: { node: { commands: [] } } });
    const owner = await gateway.person();
    const { pending } = await owner.call("nodes.list", {});
    expect(pending).toMatchObject([{ kind: "commands", name: "lan-box" }]);
    const refused = await gateway.tool("exec", { command: "echo x", host: "node" });
    expect(refused.body).toMatchObject({ ok: false, error: { code: "host-unavailable" } });
    await owner.call("nodes.approve", { request: node.device.id });
    void gateway.tool("exec", { command: "echo x", host: "node" });
    await node.asked("system.run.prepare");
  });

  it("a setup code pairs one node once; a wrong one is refused, and five wrong ones void it", async () => {
    const gateway = await startGateway();
    const owner = await gateway.person();
    const { code } = await owner.call("nodes.code", {});
    expect((await raw(gateway, { auth: { pairCode: code.toLowerCase() } })).answer).toMatchObject({ ok: true });
    expect((await raw(gateway, { auth: { pairCode: code } })).answer).toMatchObject({
      ok: false,
      error: { details: { code: "PAIRING_CODE_INVALID" } },
    });
    const second = (await owner.call("nodes.code", {})).code;
    const wrong = second.slice(0, -1) + (second.endsWith("A") ? "B" : "A");
    for (let index = 0; index < 5; index++) {
      expect((await raw(gateway, { auth: { pairCode: wrong } })).answer).toMatchObject({ ok: false });
    }
    expect((await raw(gateway, { auth: { pairCode: second } })).answer).toMatchObject({ ok: false });
    expect(storedIn(gateway).includes(second.replaceAll("-", "").slice(4))).toBe(false);
  });

  it("a token lost before it was first shown is made again; a known one is needed from then on", async () => {
    const gateway = await startGateway();
    const device = newDevice();
    const first = await raw(gateway, { device, auth: { token: TOKEN } });
    expect(first.deviceToken).toBeDefined();
    const second = await raw(gateway, { device });
    expect(second.answer).toMatchObject({ ok: true });
    const token = second.deviceToken ?? "";
    expect(token).not.toBe(first.deviceToken);
    const third = await raw(gateway, { device, auth: { deviceToken: token } });
    expect(third.answer).toMatchObject({ ok: true });
    expect(third.deviceToken).toBeUndefined();
    expect((await raw(gateway, { device })).answer).toMatchObject({
      ok: false,
      error: { details: { code: "PAIRING_REQUIRED" } },
    });
  });

  it("a stolen token is worth nothing to another device, and one device has one connection", async () => {
    const gateway = await startGateway();
    const device = newDevice();
    const owner = await gateway.person();
    const mine = await raw(gateway, { device, auth: { token: TOKEN } });
    const thief = await raw(gateway, { auth: { deviceToken: mine.deviceToken ?? "" } });
    expect(thief.answer).toMatchObject({ ok: false, error: { details: { code: "PAIRING_REQUIRED" } } });
    await raw(gateway, { device, auth: { deviceToken: mine.deviceToken ?? "" } });
    expect(await mine.end()).toMatchObject({ code: 4009 });
    expect((await owner.call("nodes.list", {})).nodes).toHaveLength(1);
  });

  it("a wider declaration waits for an owner; what was approved stays usable, and config denies by exact name", async () => {
    const gateway = await startGateway({ commands: { deny: ["system.which"] } });
    const device = newDevice();
    const run = ["system.run", "system.run.prepare"];
    const narrow = await raw(gateway, { device, commands: run, auth: { token: TOKEN } });
    const auth = { deviceToken: narrow.deviceToken ?? "" };
    const wide = await raw(gateway, { device, commands: [...run, "system.which", "system.other"], auth });
    expect(wide.answer).toMatchObject({ ok: true, payload: { node: { commands: run } } });
    const owner = await gateway.person();
    expect((await owner.call("nodes.list", {})).pending).toMatchObject([{ kind: "commands" }]);
    await owner.call("nodes.approve", { request: device.id });
    const { nodes, pending } = await owner.call("nodes.list", {});
    expect(pending).toEqual([]);
    expect(nodes).toMatchObject([{ usable: [...run, "system.other"] }]);
  });

  it("an allow list of the configuration leaves only what it names", async () => {
    const gateway = await startGateway({ commands: { allow: ["system.which"] } });
    const node = await raw(gateway, { auth: { token: TOKEN } });
    expect(node.answer).toMatchObject({ ok: true, payload: { node: { commands: ["system.which"] } } });
    const refused = await gateway.tool("exec", { command: "echo x", host: "node" });
    expect(refused.body).toMatchObject({ ok: false, error: { code: "host-unavailable" } });
    expect(node.got("node.invoke.request")).toEqual([]);
  });

  it("has names that are what they look like, can be renamed, and keeps that name", async () => {
    const gateway = await startGateway();
    const node = await startTestNode(gateway, { displayName: "@mac\u202e1\u0007<b>" });
    parts.push(node);
    await connected(node);
    const owner = await gateway.person();
    expect((await owner.call("nodes.list", {})).nodes[0]?.name).toBe("mac1b");
    await owner.call("nodes.rename", { node: "mac1b", name: "build box" });
    await expect(owner.call("nodes.rename", { node: "build box", name: "a|b" })).rejects.toThrow(/name of a node/);
    await node.restart();
    await connected(node, 2);
    expect((await owner.call("nodes.list", {})).nodes[0]?.name).toBe("build box");
  });

  it("asks for programs there with nodes invoke, and never runs a command that way", async () => {
    const gateway = await startGateway();
    const node = await startTestNode(gateway);
    parts.push(node);
    await connected(node);
    const owner = await gateway.person();
    const found = await owner.call("nodes.invoke", {
      node: "mac-1",
      command: "system.which",
      params: { bins: ["sh", "no-such-program-here", "../sh"] },
    });
    expect(Object.keys((found.payload as { bins: object }).bins)).toEqual(["sh"]);
    for (const command of ["system.run", "system.run.prepare"]) {
      await expect(owner.call("nodes.invoke", { node: "mac-1", command, params: {} })).rejects.toThrow(/exec tool/);
    }
  });

  it("keeps its key private and refuses one that is a link or that others can read", async () => {
    const gateway = await startGateway();
    const node = await startTestNode(gateway);
    parts.push(node);
    const key = join(node.stateDir, "node", "device-key.pem");
    expect(statSync(key).mode & 0o777).toBe(0o600);
    const { chmodSync, renameSync } = await import("node:fs");
    chmodSync(key, 0o640);
    expect(() => loadIdentity(node.stateDir, "x")).toThrow(/others can read it/);
    chmodSync(key, 0o600);
    renameSync(key, `${key}.real`);
    symlinkSync(`${key}.real`, key);
    expect(() => loadIdentity(node.stateDir, "x")).toThrow(/symbolic link/);
    unlinkSync(key);
    renameSync(`${key}.real`, key);
    expect(loadIdentity(node.stateDir, "x").deviceId).toBe(node.deviceId);
  });
});

describe("a device that can not prove who it is", () => {
  const refused = (node: RawNode) => node.answer?.error;

  it("is refused for a forged signature, another's key, a foreign id, an old or foreign nonce", async () => {
    const gateway = await startGateway();
    const other = newDevice();
    const forged = await raw(gateway, {
      change: (params) => ({ ...params, device: { ...params.device, signature: "A".repeat(86) } }),
    });
    expect(refused(forged)).toMatchObject({ code: "unauthorized", details: { code: "DEVICE_AUTH_SIGNATURE_INVALID" } });
    const anothersKey = await raw(gateway, {
      change: (params) => ({ ...params, device: { ...params.device, publicKey: other.publicKey, id: other.id } }),
    });
    expect(refused(anothersKey)?.details?.code).toBe("DEVICE_AUTH_SIGNATURE_INVALID");
    const foreignId = await raw(gateway, {
      change: (params) => ({ ...params, device: { ...params.device, id: other.id } }),
    });
    expect(refused(foreignId)?.details?.code).toBe("DEVICE_AUTH_DEVICE_ID_MISMATCH");
    const badKey = await raw(gateway, {
      change: (params) => ({ ...params, device: { ...params.device, publicKey: "no-key" } }),
    });
    expect(refused(badKey)?.details?.code).toBe("DEVICE_AUTH_PUBLIC_KEY_INVALID");
    const noNonce = await raw(gateway, {
      change: (params) => ({ ...params, device: { ...params.device, nonce: "" } }),
    });
    expect(refused(noNonce)?.details?.code).toBe("DEVICE_AUTH_NONCE_REQUIRED");
    const oldTime = await raw(gateway, {
      sign: (signed) => ({ ...signed, signedAtMs: signed.signedAtMs - 1 }),
      change: (params) => ({ ...params, device: { ...params.device, signedAt: Number(params.device.signedAt) - 1 } }),
    });
    expect(refused(oldTime)?.details?.code).toBe("DEVICE_AUTH_SIGNATURE_EXPIRED");
    const swappedToken = await raw(gateway, { change: (params) => ({ ...params, auth: { token: TOKEN } }) });
    expect(refused(swappedToken)?.details?.code).toBe("DEVICE_AUTH_SIGNATURE_INVALID");
    expect((await (await gateway.person()).call("nodes.list", {})).pending).toEqual([]);
  });

  it("is refused when it replays what another connection had signed", async () => {
    const gateway = await startGateway();
    const first = await RawNode.open(gateway.url);
    parts.push(first);
    const frame = first.connectFrame({ auth: { token: TOKEN } });
    const second = await RawNode.open(gateway.url, first.device);
    parts.push(second);
    second.send(frame);
    await eventually(() => second.answer);
    expect(refused(second)?.details?.code).toBe("DEVICE_AUTH_NONCE_MISMATCH");
  });

  it("is hung up on for an oversize first frame, nonsense, or another frame than connect", async () => {
    const gateway = await startGateway();
    for (const text of [
      JSON.stringify({ type: "req", id: "1", method: "connect", params: { pad: "x".repeat(70_000) } }),
      "not json",
      JSON.stringify({ type: "req", id: "1", method: "nodes.list", params: {} }),
      JSON.stringify({ type: "event", event: "node.runs", payload: { runs: [] } }),
    ]) {
      const node = await RawNode.open(gateway.url);
      parts.push(node);
      node.sendText(text);
      expect(await node.end()).toMatchObject({ code: 4002 });
    }
    const huge = await RawNode.open(gateway.url);
    parts.push(huge);
    huge.sendText("x".repeat(2 * 1024 * 1024));
    expect((await huge.end()).code).toBe(1009);
    expect((await gateway.tool("exec", { command: "echo alive" })).body).toMatchObject({ ok: true });
  });
});
