/** The whole trail of one command in the log: request, decision, approval, run and the messages that showed them. */
import { afterEach, expect, it } from "vitest";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { eventually } from "../support/state.ts";

type Line = Readonly<Record<string, unknown>>;

let gateway: TestGateway | undefined;
afterEach(() => gateway?.stop());

it("ties request, approval, session and delivery together by their ids, without the command's text", async () => {
  const lines: Line[] = [];
  gateway = await startTestGateway({ onLog: (line) => lines.push(line) });
  const person = await gateway.person();
  const command = "echo not-in-the-log >> file";
  await person.say(`/exec ${command}`);
  const card = await person.request(command);
  await person.decide(card, "allow-once");
  const ended = await person.ended(command);
  const { approvalId } = card;
  const { runId, sessionId } = ended;
  const said = (msg: string, fits: (line: Line) => boolean) =>
    eventually(() => lines.find((line) => line.msg === msg && fits(line)), 10_000).catch(() => {
      throw new Error(`No line "${msg}" fits:\n${lines.map((line) => JSON.stringify(line)).join("\n")}`);
    });

  const asked = await said("approval-requested", (line) => line.approvalId === approvalId);
  const { requestId } = asked;
  const request = await said("request", (line) => line.requestId === requestId);
  expect(request).toMatchObject({
    level: "info",
    tool: "exec",
    agentId: "main",
    actor: expect.stringContaining("web"),
  });
  expect(await said("decision", (line) => line.requestId === requestId)).toMatchObject({ outcome: "ask" });
  const resolved = await said("approval-resolved", (line) => line.approvalId === approvalId);
  expect(resolved).toMatchObject({ state: "allowed", decision: "allow-once", actor: expect.stringContaining("web") });
  const started = await said("run-started", (line) => line.approvalId === approvalId);
  expect(started).toMatchObject({ runId, session: sessionId, sessionKey: request.sessionKey, host: "gateway" });
  expect(await said("run-ended", (line) => line.runId === runId)).toMatchObject({ outcome: "completed", exitCode: 0 });
  const shown = await said("delivered", (line) => line.approvalId === approvalId);
  expect(shown).toMatchObject({ channel: "web", kind: "approval", messageId: expect.any(String) });
  expect(await said("delivered", (line) => line.runId === runId)).toMatchObject({ channel: "web", kind: "run" });

  // The same ids, and the entries that the lines name, are in the audit trail.
  const { entries } = await gateway.gateway.audit.read({ limit: 100 });
  const entry = entries.find((one) => one.seq === asked.audit);
  expect(entry?.event).toMatchObject({ type: "approval-requested", approvalId, requestId });
  expect(entries.map((one) => one.event)).toContainEqual(expect.objectContaining({ type: "run-ended", runId }));
  expect(JSON.stringify(lines)).not.toContain("not-in-the-log");
});
