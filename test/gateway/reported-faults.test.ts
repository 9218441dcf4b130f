/** Faults that users of such software reported, shown on a started gateway. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { startTestGateway, type TestGateway, TOKEN } from "../support/gateway.ts";
import { eventually } from "../support/state.ts";

const WAIT_MS = 20_000;
let gateway: TestGateway | undefined;
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});

async function start(config: object): Promise<TestGateway> {
  gateway = await startTestGateway({ config: { tools: { exec: { mode: "ask" } }, ...config } });
  return gateway;
}

async function callExec(command: string): Promise<Record<string, unknown>> {
  const { body } = await (gateway as TestGateway).tool("exec", { command });
  if (!body.ok) throw new Error(body.error.message);
  return body.result.details;
}

const wakes = async (): Promise<number> => {
  const response = await fetch(`${(gateway as TestGateway).url}/metrics`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const counts = [
    ...(await response.text()).matchAll(/^openclaw_exec_wakes_total\{[^}]*reason="approval"[^}]*\} (\d+)/gm),
  ];
  return counts.reduce((sum, match) => sum + Number(match[1]), 0);
};

describe("approvals", () => {
  it("askfallback-no-approver: a call from no chat is answered at once, and the fallback settles it by itself", async () => {
    const { stateDir } = await start({ approvals: { timeoutSec: 1 } });
    const details = await callExec("touch nobody-answered");
    expect(details).toMatchObject({ status: "approval-pending", command: "touch nobody-answered" });
    const watcher = await (gateway as TestGateway).person();
    await eventually(async () => {
      const { entries } = await watcher.call("audit.read", { limit: 100 });
      return entries.some(({ event }) => event.type === "approval-resolved" && event.state === "expired");
    }, WAIT_MS);
    expect(await readFile(join(stateDir, "workspace", "nobody-answered"), "utf8").catch(() => "did not run")).toBe(
      "did not run",
    );
  });

  it.each([
    [false, 0],
    [true, 1],
  ])("denied-does-not-wake: with wakeOnDenial %s, a denial wakes the agent %i times", async (wakeOnDenial, times) => {
    await start({ approvals: { wakeOnDenial } });
    await callExec("echo to be denied");
    const person = await (gateway as TestGateway).person();
    const card = await person.request("echo to be denied");
    await person.decide(card, "deny");
    await person.see("approval", (one) => one.approvalId === card.approvalId && one.state === "denied");
    // A wake that is still waiting would take the next one's reason.
    if (times > 0) await eventually(async () => (await wakes()) === times, WAIT_MS);
    // A second request that is allowed wakes the session when it ends: by then the denial has been worked off.
    await callExec("echo to be allowed");
    await person.decide(await person.request("echo to be allowed"), "allow-once");
    await person.ended("echo to be allowed");
    expect(await wakes()).toBe(times);
    expect(person.screen().filter((one) => one.kind === "run" && one.command === "echo to be denied")).toEqual([]);
  });
});

describe("/exec", () => {
  it("exec-override-cross-session: what it sets holds in its own conversation, nowhere else, and survives a restart", async () => {
    await start({});
    const here = await (gateway as TestGateway).person("here");
    await here.say("/exec security=deny");
    await here.see("text", (card) => JSON.stringify(card).includes("deny"));
    await (gateway as TestGateway).restart();
    const again = await (gateway as TestGateway).person("here");
    const elsewhere = await (gateway as TestGateway).person("elsewhere");
    await again.say("/exec echo from here");
    await again.see("text", (card) => /security=deny|switched off/.test(JSON.stringify(card)));
    await elsewhere.say("/exec echo from elsewhere");
    expect((await elsewhere.request("echo from elsewhere")).state).toBe("pending");
  });
});
