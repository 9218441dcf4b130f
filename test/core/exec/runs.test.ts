/** How a run starts: real store, real processes; what fails is a part that is told to. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Audit, createAudit } from "../../../src/core/audit/audit.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { ExecError } from "../../../src/core/errors.ts";
import { freshFileFacts } from "../../../src/core/exec/file-facts.ts";
import type { RunLimits } from "../../../src/core/exec/run-queue.ts";
import { type RunSpec, Runs } from "../../../src/core/exec/runs.ts";
import { createGatewayHost } from "../../../src/core/hosts/gateway-host.ts";
import { makeBinding } from "../../../src/core/policy/binding.ts";
import { createLeftovers } from "../../../src/core/process/leftovers.ts";
import { processLimits } from "../../../src/core/process/limits.ts";
import { ProcessSessions } from "../../../src/core/process/registry.ts";
import type { Supervisor } from "../../../src/core/process/supervisor.ts";
import { eventually, openTestState, type TestState } from "../../support/state.ts";
import { quickSupervisor } from "../process/support.ts";

let state: TestState;
let supervisor: Supervisor;
let sessions: ProcessSessions;
let audit: Audit;
let runs: Runs;
let limits: RunLimits;

beforeEach(async () => {
  state = await openTestState(systemClock);
  supervisor = quickSupervisor();
  sessions = new ProcessSessions({ limits: () => processLimits({}) });
  audit = createAudit({ store: state.store, clock: systemClock, gatewayId: "g" });
  limits = { total: 10, perAgent: 10, queued: 10 };
  runs = new Runs({
    store: state.store,
    clock: systemClock,
    audit,
    sessions,
    leftovers: createLeftovers(),
    gatewayId: "g",
    instanceId: "life-1",
    hosts: new Map([["gateway", createGatewayHost({ supervisor, env: process.env, path: ["/usr/bin", "/bin"] })]]),
    recheck: () => undefined,
    revokedBy: async () => undefined,
    limits: () => limits,
    mayStart: () => true,
    mayStartAgain: async () => true,
    channelContext: () => ({}),
    onError: (error) => {
      throw error;
    },
  });
});
afterEach(async () => {
  await supervisor.shutdown();
  await runs.settled();
  await sessions.close();
  await state.dispose();
});

function specOf(runId: string, command: string): RunSpec {
  const run = {
    plan: { kind: "verbatim" as const, text: command },
    ...{ command, cwd: state.stateDir, host: "gateway" as const, agentId: "main", env: {} },
  };
  return {
    ...run,
    runId,
    binding: makeBinding(run, [], freshFileFacts()),
    pathPrepend: [],
    pty: false,
    stdin: "closed",
    sessionKey: "agent:main:main",
    requester: { kind: "person", channel: "web", accountId: "default", id: "operator" },
    report: "event",
    background: false,
  };
}

/** Each run of the command leaves one letter. */
const counting = "printf x >> count";
function count(): number {
  try {
    return readFileSync(join(state.stateDir, "count"), "utf8").length;
  } catch {
    return 0;
  }
}

async function ended(spec: RunSpec, recorded?: Promise<unknown>): Promise<void> {
  const launched = await runs.launch(spec, recorded);
  if (launched.kind === "started") await launched.run.ended;
}

describe("a run that is launched", () => {
  it("does not start when the decision could not be recorded, and leaves no trace that would be reported later", async () => {
    const lost = new ExecError("state-unavailable", "the trail can not be written");
    const recorded = Promise.reject(lost);
    await expect(runs.launch(specOf("r", counting), recorded)).rejects.toBe(lost);
    expect(count()).toBe(0);
    expect(await runs.get("r")).toBeUndefined();
    expect(await runs.openGateways()).toEqual(new Set());
    expect(sessions.all()).toEqual([]);
    // Told again, it runs: once.
    await ended(specOf("r", counting), Promise.resolve());
    await ended(specOf("r", counting), Promise.resolve());
    expect(count()).toBe(1);
  });

  it("starts only once both its decision and its mark are stored", async () => {
    let told = () => {};
    const recorded = new Promise<void>((resolve) => {
      told = resolve;
    });
    const launching = ended(specOf("r", counting), recorded);
    // The mark alone is stored; the decision is not.
    await eventually(() => state.store.get("run", "r"));
    expect(count()).toBe(0);
    expect(supervisor.live).toBe(0);
    told();
    await launching;
    expect(count()).toBe(1);
  });

  it("runs once however often the same call is delivered, and keeps the session it has", async () => {
    const spec = specOf("r", `${counting}; sleep 300`);
    const first = await runs.launch(spec);
    if (first.kind !== "started") throw new Error(`it was ${first.kind}`);
    const again = await Promise.all(Array.from({ length: 10 }, () => runs.launch(spec)));
    expect(again.map((one) => one.kind)).toEqual(Array.from({ length: 10 }, () => "duplicate"));
    expect(sessions.all()).toEqual([first.run.session]);
    expect(sessions.byRun("r")).toBe(first.run.session);
    // Stopped earlier, the shell may not have got to its first line.
    await eventually(() => count() > 0);
    expect(runs.stop("r")).toBe(true);
    expect((await first.run.ended).record.outcome).toBe("killed");
    expect(count()).toBe(1);
    // Also when it has ended and been handed on, and it is not opened again.
    await runs.settled();
    expect((await runs.launch(spec)).kind).toBe("duplicate");
    expect(await runs.openGateways()).toEqual(new Set());
  });

  it("is told that it was started before, not that the line is full", async () => {
    const first = await runs.launch(specOf("r", "sleep 300"));
    limits = { total: 1, perAgent: 1, queued: 0 };
    await expect(runs.launch(specOf("other", "true"))).rejects.toMatchObject({ code: "rate-limited" });
    expect((await runs.launch(specOf("r", "sleep 300"))).kind).toBe("duplicate");
    if (first.kind === "started") first.run.handle.stop("manual-cancel");
  });

  it("that waits in line is not there either when its decision could not be recorded", async () => {
    const first = await runs.launch(specOf("r", "sleep 300"));
    limits = { total: 1, perAgent: 1, queued: 5 };
    const lost = new ExecError("state-unavailable", "the trail can not be written");
    await expect(runs.launch(specOf("waits", counting), Promise.reject(lost))).rejects.toBe(lost);
    expect(runs.queued()).toEqual([]);
    if (first.kind !== "started") throw new Error(`it was ${first.kind}`);
    first.run.handle.stop("manual-cancel");
    await first.run.ended;
    expect(count()).toBe(0);
  });
});
