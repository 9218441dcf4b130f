import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.ts";
import { createRunRecorder, type RecordMode } from "../../../src/core/exec/run-recorder.ts";
import { Recordings } from "../../../src/core/process/recording.ts";
import type { Supervisor } from "../../../src/core/process/supervisor.ts";
import { bashPlan, quickSupervisor } from "../process/support.ts";

let supervisor: Supervisor;
beforeEach(() => {
  supervisor = quickSupervisor();
});
afterEach(async () => {
  await supervisor.shutdown();
});

async function recorded(
  mode: RecordMode,
  pty: boolean,
  runId = "run-1",
): Promise<{ runs: string[]; errors: unknown[] }> {
  const recordings = new Recordings(mkdtempSync(join(tmpdir(), "openclaw-recordings-")));
  const errors: unknown[] = [];
  const recorder = createRunRecorder({
    recordings,
    clock: systemClock,
    mode: () => mode,
    onError: (error) => errors.push(error),
  });
  const handle = supervisor.start(bashPlan("echo hi", pty ? { pty: { cols: 120, rows: 30 } } : {}));
  const record = { runId, agentId: "main", command: "echo hi" };
  recorder.started({ record, handle });
  handle.onOutput(() => {});
  await handle.ended;
  await recorder.finished(record);
  return { runs: (await recordings.list()).map((found) => found.runId), errors };
}

describe("which runs are recorded", () => {
  it.each([
    ["off", true, []],
    ["off", false, []],
    ["pty", true, ["run-1"]],
    ["pty", false, []],
    ["all", false, ["run-1"]],
    ["all", true, ["run-1"]],
  ] as const)("record: %s, in a terminal: %s", async (mode, pty, runs) => {
    expect(await recorded(mode, pty)).toEqual({ runs, errors: [] });
  });

  it("a recording that can not be made is reported and keeps nothing from running", async () => {
    const { runs, errors } = await recorded("all", true, "../escape");
    expect(runs).toEqual([]);
    expect(errors).toHaveLength(1);
  });
});
