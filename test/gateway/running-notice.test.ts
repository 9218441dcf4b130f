import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import type { SystemEvent } from "../../src/core/events/system-events.ts";
import { STATE_FILE } from "../../src/core/store/open-state.ts";
import { openSqliteStore } from "../../src/core/store/sqlite-store.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { eventually } from "../support/state.ts";

const SESSION = "agent:main:notices";
let gateway: TestGateway | undefined;
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});

/** Runs a command for a program, with a person's yes, and gives every notice that stood in its session meanwhile. */
async function noticesOf(approvalRunningNoticeMs: number, command: string): Promise<string[]> {
  gateway = await startTestGateway({ config: { tools: { exec: { mode: "ask", approvalRunningNoticeMs } } } });
  const store = openSqliteStore({ file: join(gateway.stateDir, STATE_FILE), clock: systemClock });
  try {
    const person = await gateway.person();
    await gateway.tool("exec", { command }, { sessionKey: SESSION });
    await person.decide(await person.request(command), "allow-once");
    const seen = new Map<string, string>();
    await eventually(async () => {
      for (const { key, value } of await store.list<SystemEvent>("system-event", { prefix: `${SESSION}|` })) {
        if (value.contextKey.startsWith("exec-running:")) seen.set(`${key} ${value.atMs}`, value.text);
      }
      return person
        .screen()
        .some((card) => card.kind === "run" && card.command === command && card.state === "finished");
    }, 20_000);
    return [...seen.values()];
  } finally {
    await store.close();
  }
}

describe("an approved command that runs on", () => {
  it("running-notice-once: is told once after approvalRunningNoticeMs", async () => {
    const notices = await noticesOf(200, "sleep 1.5; echo done");
    expect(notices).toHaveLength(1);
    expect(notices[0]).toMatch(
      /^Exec running \(gateway id=[0-9a-f-]{36}, session=[a-z0-9-]+, >1s\): sleep 1\.5; echo done$/,
    );
  });

  it.each([
    ["ends before that", 60_000, "echo quick"],
    ["is never told with 0", 0, "sleep 0.5; echo done"],
  ])("running-notice-once: none when it %s", async (_name, noticeMs, command) => {
    expect(await noticesOf(noticeMs, command)).toEqual([]);
  });
});
