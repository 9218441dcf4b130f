/** What a killed gateway left running is stopped at its next start; what another gateway runs is not touched. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import type { RunRecord } from "../../src/core/exec/run-record.ts";
import { RUN_MARK, runMark } from "../../src/core/process/run-mark.ts";
import { openSqliteStore } from "../../src/core/store/sqlite-store.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";

let gateway: TestGateway | undefined;
const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await gateway?.stop();
});

it("stops its own and leaves those of another gateway with the same run id alone", async () => {
  gateway = await startTestGateway({ config: { tools: { exec: { mode: "full" } } } });
  const { stateDir } = gateway;
  const gatewayId = (await readFile(join(stateDir, "gateway-id"), "utf8")).trim();
  const runId = crypto.randomUUID();
  const cutOff: RunRecord = {
    ...{ runId, gatewayId, instanceId: "an-earlier-life", sessionId: "old-oak", state: "running" },
    ...{ command: "sleep 60", cwd: stateDir, host: "gateway", agentId: "main", sessionKey: "agent:main:web:main" },
    requester: { kind: "person", channel: "web", accountId: "default", id: "operator" },
    route: { channel: "web", accountId: "default", chatType: "dm", chatId: "main" },
    ...{ report: "card", startedAtMs: Date.now(), tail: "", totalChars: 0, notes: [] },
  };
  const store = openSqliteStore({ file: join(stateDir, "state.db"), clock: systemClock });
  await store.put("run", runId, cutOff);
  await store.put("run-open", runId, { gatewayId, instanceId: cutOff.instanceId });
  await store.close();
  const start = (owner: string) => {
    const child = spawn("sleep", ["60"], {
      env: { PATH: process.env.PATH ?? "", [RUN_MARK]: runMark({ gatewayId: owner, runId }) },
      stdio: "ignore",
    });
    children.push(child);
    return child;
  };
  const own = start(gatewayId);
  const foreign = start("ffffffff");
  const ownEnded = new Promise((resolve) => own.once("exit", (_, signal) => resolve(signal)));

  await gateway.restart();

  expect(await ownEnded).toBe("SIGTERM");
  const card = await (await gateway.person()).see("run", (one) => one.runId === runId);
  expect(card).toMatchObject({ state: "finished", outcome: "lost" });
  expect(card.notes.join()).toMatch(/it was stopped at the restart/);
  expect([foreign.exitCode, foreign.signalCode]).toEqual([null, null]);
});
