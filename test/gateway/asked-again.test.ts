/** What nobody decided is asked once more: the same request to the letter, under the policy as it is by then. */
import { mkdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import type { SystemEvent } from "../../src/core/events/system-events.ts";
import { STATE_FILE } from "../../src/core/store/open-state.ts";
import { openSqliteStore } from "../../src/core/store/sqlite-store.ts";
import type { Store } from "../../src/core/store/store.ts";
import { type Person, startTestGateway, type TestGateway } from "../support/gateway.ts";
import { eventually } from "../support/state.ts";

const SESSION = "agent:main:asked-again";
let gateway: TestGateway;
let store: Store;
let operator: Person;

async function open(config: object): Promise<void> {
  gateway = await startTestGateway({ config: { approvals: { timeoutSec: 1 }, ...config } });
  store = openSqliteStore({ file: join(gateway.stateDir, STATE_FILE), clock: systemClock });
  operator = await gateway.person();
}
afterEach(async () => {
  await store.close();
  await gateway.stop();
});

/** The agent asks, nobody answers. */
async function expired(args: { readonly command: string; readonly [more: string]: unknown }) {
  const { body } = await gateway.tool("exec", args, { sessionKey: SESSION });
  if (!body.ok) throw new Error(body.error.message);
  expect(body.result.details.status).toBe("approval-pending");
  return operator.see("approval", (card) => card.command === args.command && card.askable === true);
}

const askAgain = (approvalId: string) => operator.press({ kind: "approval-action", action: "ask-again", approvalId });
const told = async () =>
  (await store.list<SystemEvent>("system-event", { prefix: `${SESSION}|` })).map(({ value }) => value.text);

describe("a request of an agent that expired", () => {
  it("is asked anew with the same bytes, folder, variables and limits; its end wakes the agent, who is told nothing before", async () => {
    await open({ tools: { exec: { mode: "ask" } } });
    const command = `printf '%s|%s|%s\\n' "$PWD" "$STAGE" 'two  blanks' | tee made`;
    const workdir = join(gateway.stateDir, "logs");
    const card = await expired({ command, workdir, env: { STAGE: "it's blue" }, timeout: 77 });
    await Promise.all([askAgain(card.approvalId), askAgain(card.approvalId).catch(() => {})]);
    const fresh = await operator.request(command);
    expect(fresh).toMatchObject({ cwd: card.cwd, host: card.host, envKeys: ["STAGE"], agentId: card.agentId });
    expect(fresh.requester).toEqual(card.requester);
    const old = await operator.see("approval", (one) => one.approvalId === card.approvalId && !one.askable);
    expect(old).toMatchObject({ state: "expired", askedAgain: { by: { id: "operator" }, slug: fresh.slug } });
    const records = await store.list<{ request: { timeoutMs?: number; requester: object; route?: object } }>(
      "approval",
    );
    const [first, second] = [card, fresh].map(({ approvalId }) => records.find((one) => one.key === approvalId)?.value);
    expect(records).toHaveLength(2);
    for (const name of ["timeoutMs", "requester", "route"] as const) {
      expect(second?.request[name]).toEqual(first?.request[name]);
    }
    expect(first?.request.timeoutMs).toBe(77_000);
    expect(await told()).toEqual([]);
    await operator.decide(fresh, "allow-once");
    await operator.ended(command);
    expect(await readFile(join(workdir, "made"), "utf8")).toBe(`${workdir}|it's blue|two  blanks\n`);
    await eventually(async () => (await told()).some((text) => text.includes("two  blanks")), 20_000);
    expect(await told()).toHaveLength(1);
  });

  it("runs without another question when a rule lets it by now, once, and says who asked", async () => {
    await open({ tools: { exec: { security: "allowlist", ask: "on-miss" } } });
    const card = await expired({ command: "touch ruled" });
    await operator.say("/exec touch ruled");
    const other = await operator.request("touch ruled");
    await operator.decide(other, "allow-always");
    await operator.ended("touch ruled");
    await askAgain(card.approvalId);
    const old = await operator.see("approval", (one) => one.approvalId === card.approvalId && !one.askable);
    expect(old.askedAgain).toMatchObject({ by: { id: "operator" } });
    expect(old.askedAgain?.slug).toBeUndefined();
    await eventually(
      () => operator.screen().filter((one) => one.kind === "run" && one.state === "finished").length === 2,
    );
    await expect(
      operator.press({ kind: "approval-action", action: "ask-again", approvalId: card.approvalId }),
    ).resolves.toBeUndefined();
    await operator.see("text", ({ text }) => /already asked again by operator/.test(text ?? ""));
    expect(operator.screen().filter((one) => one.kind === "run")).toHaveLength(2);
  });

  it("is asked even where asking is off by now: never less strictly than then", async () => {
    await open({ tools: { exec: { security: "full", ask: "always" } } });
    const card = await expired({ command: "touch strict" });
    const loosened = { approvals: { timeoutSec: 600 }, tools: { exec: { security: "full", ask: "off" } } };
    await writeFile(join(gateway.stateDir, "openclaw.json"), JSON.stringify(loosened), { mode: 0o600 });
    await gateway.restart();
    operator = await gateway.person();
    // Anything else runs without a question by now.
    await operator.say("/exec touch loose");
    await operator.ended("touch loose");
    await askAgain(card.approvalId);
    expect((await operator.request("touch strict")).offered).toEqual(["allow-once", "deny"]);
  });

  it("is refused where its folder is gone, and can be asked when that is back", async () => {
    await open({ tools: { exec: { mode: "ask" } } });
    const workdir = join(gateway.stateDir, "gone");
    await mkdir(workdir);
    const card = await expired({ command: "touch here", workdir });
    await rmdir(workdir);
    await askAgain(card.approvalId);
    await operator.see("text", ({ tone }) => tone === "error");
    expect(operator.screen().some((one) => one.kind === "approval" && one.state === "pending")).toBe(false);
    await mkdir(workdir);
    await askAgain(card.approvalId);
    await operator.request("touch here");
  });
});
