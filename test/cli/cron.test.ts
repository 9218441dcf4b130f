import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type TestGateway, TOKEN } from "../support/gateway.ts";
import { cliHome } from "./run-cli.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ config: { tools: { exec: { mode: "full" } } } });
});
afterAll(() => gateway.stop());

const cron = (...args: string[]) =>
  cliHome().runWith({ env: { OPENCLAW_GATEWAY_URL: gateway.url, OPENCLAW_GATEWAY_TOKEN: TOKEN } }, "cron", ...args);

describe("cron on the command line", () => {
  it("says how to add the first job", async () => {
    expect((await cron()).out).toMatch(/There are no jobs.*openclaw-exec cron add/);
  });

  it("adds, lists, runs and removes a job; its card is in the web chat", async () => {
    const added = await cron("add", "echo from the job", "--cron", "0 9 * * 1-5", "--tz", "UTC", "--name", "morning");
    expect(added).toMatchObject({ code: 0, err: "" });
    expect(added.out).toMatch(/^[0-9a-f]{8} morning {2}echo from the job\n {2}0 9 \* \* 1-5 in UTC, next \d{4}-/);
    const [job] = JSON.parse((await cron("list", "--json")).out);
    expect(job).toMatchObject({ name: "morning", task: { kind: "command", command: "echo from the job" } });
    expect((await cron("run", "morning")).out).toContain(job.id);
    const person = await gateway.person();
    expect(await person.ended("echo from the job")).toMatchObject({ outcome: "completed" });
    expect((await cron("remove", job.id.slice(0, 4))).out).toContain(`Removed job ${job.id}`);
    expect((await cron("list")).out).toMatch(/no jobs/);
  });

  it.each([
    [["add", "true"], /Say when exactly once/],
    [["add", "true", "--every", "soon"], /"soon" is no interval/],
    [["add", "true", "--every", "1s"], /every must be at least 10s, not 1s/],
    [["add", "true", "--every", "1h", "--cron", "0 9 * * *"], /Say when exactly once/],
    [["add", "true", "--cron", "0 25 * * *"], /cron expression "0 25 \* \* \*" is n/],
    [
      ["add", "true", "--cron", "0 9 * * *", "--tz", "Mars/Olympus"],
      /cron expression "0 9 \* \* \*" in ti.*Mars\/Olympus/,
    ],
    [["add", "true", "--cron", "0 0 31 2 *"], /The schedule 0 0 31 2 \* never comes due/],
    [["add", "true", "--at", "2020-01-01T00:00:00Z"], /2020-01-01T00:00:00Z has passed/],
    [["add", "true", "--at", "tomorrowish"], /"tomorrowish" is no moment/],
    [["add", " ", "--every", "1h"], /What to do has 1 to 4000 characters/],
    [["run", "nothing"], /no job "nothing"/],
    [["add", "true", "--every", "1h", "--timeout", "x"], /number of seconds/],
    [["remove", "nothing"], /no job "nothing"/],
  ])("%j is refused with what to do", async (args, expected) => {
    const { code, err } = await cron(...args);
    expect(code).not.toBe(0);
    expect(err).toMatch(expected);
  });
});
