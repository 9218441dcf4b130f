import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { auditLine } from "../../src/cli/audit-line.ts";
import { createAudit } from "../../src/core/audit/audit.ts";
import { makeEntry } from "../../src/core/audit/chain.ts";
import type { AuditEvent } from "../../src/core/audit/events.ts";
import { systemClock } from "../../src/core/clock.ts";
import type { Actor } from "../../src/core/route.ts";
import { STATE_FILE } from "../../src/core/store/open-state.ts";
import { openSqliteStore } from "../../src/core/store/sqlite-store.ts";
import { startTestGateway, TOKEN } from "../support/gateway.ts";
import { cliHome } from "./run-cli.ts";

const alice: Actor = { kind: "person", channel: "slack", accountId: "default", id: "U1", display: "alice" };

async function trailOf(dir: string, ...reasons: string[]): Promise<void> {
  const store = openSqliteStore({ file: join(dir, STATE_FILE), clock: systemClock });
  const audit = createAudit({ store, clock: systemClock, gatewayId: "g1" });
  for (const reason of reasons) await audit.record({ type: "gateway-stopped", reason });
  await store.close();
}

describe("audit", () => {
  test("is empty on a fresh machine and makes nothing there", async () => {
    const home = cliHome();
    expect(await home.run("audit")).toEqual({ code: 0, out: "", err: "The audit trail is empty." });
    expect((await home.run("audit", "--verify")).code).toBe(0);
  });

  test("prints the newest entries, one a line", async () => {
    const home = cliHome();
    await trailOf(home.dir, "one", "two", "three");
    const { out } = await home.run("audit", "--limit", "2");
    expect(out.split("\n").map((line) => line.slice(21))).toEqual([
      "#2 gateway-stopped  two",
      "#3 gateway-stopped  three",
    ]);
  });

  test("prints JSON lines that can be checked elsewhere", async () => {
    const home = cliHome();
    await trailOf(home.dir, "one", "two");
    const entries = (await home.run("audit", "--json")).out.split("\n").map((line) => JSON.parse(line));
    expect(entries[1].prevHash).toBe(entries[0].hash);
  });

  test("a trail somebody wrote into does not verify, and the entry is named", async () => {
    const home = cliHome();
    await trailOf(home.dir, "one", "two");
    expect((await home.run("audit", "--verify")).code).toBe(0);
    const store = openSqliteStore({ file: join(home.dir, STATE_FILE), clock: systemClock });
    await store.append("audit:g1", makeEntry(undefined, 1, { type: "gateway-stopped", reason: "forged" }));
    await store.close();
    expect(await home.run("audit", "--verify")).toEqual({
      code: 1,
      out: "",
      err: "Gateway g1: Entry 3 does not follow the entry before it.",
    });
  });

  test("goes through the gateway when one runs", async () => {
    const gateway = await startTestGateway({ config: { tools: { exec: { mode: "full" } } } });
    try {
      await gateway.tool("exec", { command: "echo hi" });
      const { url } = gateway;
      const home = cliHome();
      const env = { OPENCLAW_GATEWAY_URL: url, OPENCLAW_GATEWAY_TOKEN: TOKEN };
      const shown = await home.runWith({ env }, "audit");
      expect(shown.out).toMatch(/request {2}operator \(api\) for agent main: echo hi/);
      expect((await home.runWith({ env }, "audit", "--verify")).out).toContain("are as they were written");
    } finally {
      await gateway.stop();
    }
  });
});

test.each<[AuditEvent, string]>([
  [
    {
      type: "approval-resolved",
      approvalId: "a1",
      state: "denied",
      decision: "deny",
      actor: alice,
      comment: "not\nnow",
    },
    "a1 deny by alice (slack): not\\u{A}now",
  ],
  [
    { type: "run-ended", runId: "r1", outcome: "killed", exitSignal: "SIGTERM", exitCode: null, durationMs: 72_000 },
    "r1 killed, SIGTERM, 1m12s",
  ],
  [{ type: "decision", requestId: "r", outcome: "ask", reasons: ["allowlist-miss"] }, "ask (allowlist-miss)"],
  [
    { type: "access-refused", surface: "http", reason: "unauthorized", address: "10.0.0.7" },
    "http: unauthorized from 10.0.0.7",
  ],
])("%j reads as a sentence", (event, sentence) => {
  const line = auditLine(makeEntry(undefined, Date.UTC(2026, 0, 2, 3, 4, 5), event));
  expect(line).toBe(`2026-01-02 03:04:05  #1 ${event.type}  ${sentence}`);
});
