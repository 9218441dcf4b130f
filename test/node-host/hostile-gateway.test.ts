/** The node trusts its own files, not the gateway: what it refuses, and that nothing happens twice. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { MAX_TICKET_MS } from "../../src/node-host/policy.ts";
import { connected, startTestNode, type TestNode, type TestNodeOptions } from "../support/node.ts";
import { OPEN_POLICY, prepared, RawGateway } from "../support/raw-gateway.ts";
import { eventually } from "../support/state.ts";

const parts: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const part of parts.splice(0).reverse()) await part.stop();
});

async function world(options: TestNodeOptions = {}, id?: string) {
  const gateway = await RawGateway.start(id);
  parts.push(gateway);
  const node = await startTestNode(gateway, options);
  parts.push(node);
  await connected(node);
  return { gateway, node, file: (name: string) => join(node.stateDir, "workspace", name) };
}

const rules = (node: TestNode, document: object) =>
  writeFileSync(join(node.stateDir, "exec-approvals.json"), JSON.stringify({ version: 1, ...document }), {
    mode: 0o600,
  });

describe("a node and a gateway that asks too much", () => {
  it("denies what its own file denies, at prepare and again right before it would start", async () => {
    const { gateway, node, file } = await world();
    const { run } = await prepared(gateway, { runId: "r1", command: "touch ran" });
    rules(node, { defaults: { security: "deny" } });
    const refused = await gateway.invoke("system.run", {
      ...run,
      consent: { decision: "allow-once", approvalId: "a" },
    });
    expect(refused).toMatchObject({
      ok: false,
      error: { code: "exec-denied", details: { code: "SYSTEM_RUN_DENIED", reason: "security=deny" } },
    });
    const { answer } = await prepared(gateway, { runId: "r2", command: "touch ran" });
    expect(answer).toMatchObject({ ok: true, payload: { decision: { kind: "deny" }, security: "deny" } });
    expect(answer.ok && answer.payload.ticket).toBeUndefined();
    expect(existsSync(file("ran"))).toBe(false);
  });

  it("does not run what its own policy asks about without a consent, nor with one its rules leave no room for", async () => {
    const { gateway, file } = await world({
      approvals: { version: 1, defaults: { security: "allowlist", ask: "on-miss" } },
    });
    const { run } = await prepared(gateway, { runId: "r1", command: "touch ran" });
    for (const consent of [undefined, { decision: "reviewed" }, { decision: "fallback" }]) {
      const refused = await gateway.invoke("system.run", { ...run, ...(consent ? { consent } : {}) });
      expect(refused).toMatchObject({ ok: false, error: { details: { reason: "approval-required" } } });
    }
    expect(existsSync(file("ran"))).toBe(false);
    const allowed = await gateway.invoke("system.run", {
      ...run,
      consent: { decision: "allow-once", approvalId: "a" },
    });
    expect(allowed).toMatchObject({ ok: true });
    await eventually(() => existsSync(file("ran")));
  });

  it("refuses a miss of its allowlist under ask=off, whatever consent comes with it", async () => {
    const { gateway, node, file } = await world({
      approvals: { version: 1, defaults: { security: "allowlist", ask: "on-miss" } },
    });
    const { run } = await prepared(gateway, { runId: "r1", command: "touch ran" });
    rules(node, { defaults: { security: "allowlist", ask: "off" } });
    // The gateway says off too: nobody is to be asked, so nothing unlisted runs.
    const refused = await gateway.invoke("system.run", {
      ...run,
      consent: { decision: "allow-once", approvalId: "a" },
    });
    expect(refused).toMatchObject({ ok: false, error: { details: { reason: "allowlist-miss" } } });
    expect(existsSync(file("ran"))).toBe(false);
  });

  it("takes a run once: sent again, sent at once, and after a restart", async () => {
    const { gateway, node, file } = await world();
    const { run } = await prepared(gateway, { runId: "once", command: "echo ran >> times" });
    const answers = await Promise.all([1, 2, 3].map(() => gateway.invoke("system.run", run)));
    expect(answers.filter((answer) => answer.ok)).toHaveLength(1);
    await eventually(() => gateway.got("node.run.ended", "once").length > 0);
    await node.restart();
    await connected(node, 2);
    const again = await gateway.invoke("system.run", run);
    expect(again).toMatchObject({ ok: false, error: { details: { reason: "duplicate" } } });
    expect(readFileSync(file("times"), "utf8")).toBe("ran\n");
  });

  it("takes no ticket of another node, another gateway, another run, another session, or a changed plan", async () => {
    const a = await world();
    const b = await world();
    const mine = await prepared(a.gateway, { runId: "r1", command: "touch ran" });
    const foreign = await prepared(b.gateway, { runId: "r1", command: "touch ran" });
    const elsewhere = await world({}, "gw-other");
    const bodies: [RawGateway, Record<string, unknown>][] = [
      [a.gateway, { ...mine.run, ticket: foreign.run.ticket }],
      [b.gateway, { ...foreign.run, ticket: mine.run.ticket }],
      [a.gateway, { ...mine.run, runId: "r2" }],
      [a.gateway, { ...mine.run, sessionKey: "agent:main:other" }],
      [a.gateway, { ...mine.run, agentId: "other" }],
      [a.gateway, { ...mine.run, ticket: "no.ticket" }],
      [elsewhere.gateway, mine.run],
    ];
    for (const [gateway, body] of bodies) {
      const refused = await gateway.invoke("system.run", { ...body, consent: { decision: "allow-once" } });
      expect(refused).toMatchObject({ ok: false, error: { details: { reason: "ticket-invalid" } } });
    }
    const changed: Record<string, unknown>[] = [
      { ...mine.run, plan: { kind: "verbatim", text: "touch other" } },
      { ...mine.run, command: "touch other" },
      { ...mine.run, env: { FOO: "1" } },
      { ...mine.run, cwd: "/tmp" },
    ];
    for (const body of changed) {
      const refused = await a.gateway.invoke("system.run", { ...body, consent: { decision: "allow-once" } });
      expect(refused).toMatchObject({ ok: false, error: { code: "approval-changed" } });
    }
    for (const one of [a, b, elsewhere]) expect(existsSync(one.file("ran"))).toBe(false);
  });

  it("takes no ticket that is too old", async () => {
    let skew = 0;
    const clock = { now: () => Date.now() + skew, monotonic: () => performance.now() };
    const { gateway, file } = await world({ clock });
    const { run } = await prepared(gateway, { runId: "r1", command: "touch ran" });
    skew = MAX_TICKET_MS;
    const refused = await gateway.invoke("system.run", { ...run, consent: { decision: "allow-once" } });
    expect(refused).toMatchObject({ ok: false, error: { details: { reason: "ticket-invalid" } } });
    expect(existsSync(file("ran"))).toBe(false);
  });

  it("refuses PATH, LD_* and our own marks in the environment, at prepare and at run", async () => {
    const { gateway, file } = await world();
    const { run } = await prepared(gateway, { runId: "r1", command: "touch ran" });
    for (const env of [
      { PATH: "/tmp" },
      { LD_PRELOAD: "/x" },
      { DYLD_INSERT_LIBRARIES: "/x" },
      { OPENCLAW_SHELL: "no" },
    ]) {
      const { answer } = await prepared(gateway, {
        runId: "r2",
        command: "touch ran",
        env: env as Record<string, string>,
      });
      expect(answer).toMatchObject({ ok: false, error: { code: "env-forbidden" } });
      expect(await gateway.invoke("system.run", { ...run, env })).toMatchObject({ ok: false });
    }
    expect(existsSync(file("ran"))).toBe(false);
  });

  it("node-approval-timeout-dialog: what was called off before it started never runs, however late the yes comes", async () => {
    const { gateway, file } = await world();
    const { run } = await prepared(gateway, { runId: "r1", command: "touch ran; sleep 300" });
    gateway.event("node.invoke.request", { id: "slow", command: "system.run", params: run, timeoutMs: 2_000 });
    gateway.event("node.invoke.cancel", { id: "slow" });
    gateway.event("node.run.stop", { runId: "r1", reason: "manual-cancel" });
    const answer = await gateway.answer("slow");
    if (answer.ok) {
      // It had started before the word came: then it is stopped.
      await eventually(() => gateway.got("node.run.ended", "r1").length > 0, 20_000);
    } else {
      expect(answer.error.details).toMatchObject({ reason: "cancelled" });
      expect(existsSync(file("ran"))).toBe(false);
    }
    const late = await gateway.invoke("system.run", { ...run, consent: { decision: "allow-once", approvalId: "a" } });
    expect(late.ok).toBe(false);
  });

  it("gives a shell that a command starts only harmless variables, and says which it left out", async () => {
    const { gateway, file } = await world();
    const env = { FOO: "1", LANG: "C" };
    const { run } = await prepared(gateway, { runId: "r1", command: 'sh -c "env > vars"', env });
    const started = await gateway.invoke("system.run", run);
    expect(started).toMatchObject({ ok: true, payload: { warnings: [expect.stringContaining("FOO")] } });
    await eventually(() => gateway.got("node.run.ended", "r1").length > 0);
    const vars = readFileSync(file("vars"), "utf8");
    expect(vars).toContain("LANG=C");
    expect(vars).toContain("OPENCLAW_SHELL=exec");
    expect(vars).not.toContain("FOO=");
  });

  it("makes a program wait when nobody takes its output, and keeps the order when it is taken", async () => {
    const { gateway } = await world();
    const { run } = await prepared(gateway, { runId: "flood", command: "seq 1 3000000" });
    expect(await gateway.invoke("system.run", run)).toMatchObject({ ok: true });
    const pieces = () => gateway.got("node.run.output", "flood") as { seq: number; data: string }[];
    const total = () => pieces().reduce((sum, piece) => sum + piece.data.length, 0) * 0.75;
    await eventually(() => total() > 900_000);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(total()).toBeLessThan(2_000_000);
    expect(gateway.got("node.run.ended", "flood")).toEqual([]);
    let acked = 0;
    await eventually(() => {
      const last = pieces().at(-1)?.seq ?? 0;
      if (last > acked) gateway.event("node.run.ack", { runId: "flood", seq: last });
      acked = last;
      return gateway.got("node.run.ended", "flood").length > 0;
    }, 30_000);
    expect(pieces().map((piece) => piece.seq)).toEqual(pieces().map((_, index) => index + 1));
    const text = Buffer.concat(pieces().map((piece) => Buffer.from(piece.data, "base64"))).toString();
    expect(text.length).toBe(22_888_896);
    expect(text.endsWith("2999999\n3000000\n")).toBe(true);
  });

  it("makes a terminal's program wait too, and loses nothing of what it wrote", async () => {
    const { gateway } = await world();
    const { run } = await prepared(gateway, { runId: "tty", command: "seq 1 400000" });
    expect(await gateway.invoke("system.run", { ...run, pty: true })).toMatchObject({
      ok: true,
      payload: { pty: true },
    });
    const pieces = () => gateway.got("node.run.output", "tty") as { seq: number; data: string }[];
    await eventually(() => pieces().length > 20, 20_000);
    let acked = 0;
    await eventually(() => {
      const last = pieces().at(-1)?.seq ?? 0;
      if (last > acked) gateway.event("node.run.ack", { runId: "tty", seq: last });
      acked = last;
      return gateway.got("node.run.ended", "tty").length > 0;
    }, 30_000);
    const text = Buffer.concat(pieces().map((piece) => Buffer.from(piece.data, "base64"))).toString();
    const lines = text.split("\r\n");
    expect(lines.length).toBe(400_001);
    expect(lines.every((line, index) => index === 400_000 || line === String(index + 1))).toBe(true);
  });

  it("hangs up on nonsense and comes back", async () => {
    const { gateway, node } = await world();
    gateway.event("node.run.ack", { runId: 7 });
    await connected(node, 2);
    expect(await gateway.invoke("system.nothing", {})).toMatchObject({ ok: false, error: { code: "not-found" } });
    expect(await gateway.invoke("system.run", { command: "touch ran" })).toMatchObject({ ok: false });
  });

  it("offers only the commands it was started with", async () => {
    const { gateway, file } = await world({ commands: ["system.which"] });
    expect(await gateway.invoke("system.run", { runId: "r" })).toMatchObject({
      ok: false,
      error: { code: "not-found" },
    });
    const { answer } = await prepared(gateway, { runId: "r", command: "touch ran", policy: OPEN_POLICY });
    expect(answer).toMatchObject({ ok: false, error: { code: "not-found" } });
    expect(existsSync(file("ran"))).toBe(false);
  });
});
