import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cliHome } from "./run-cli.ts";

const PATH = "/usr/bin:/bin";

async function stream(lines: readonly unknown[], home = cliHome()) {
  const stdin = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
  const { code, out } = await home.runWith({ stdin, env: { PATH } }, "explain", "--stdin");
  return { code, answers: out.split("\n").map((line) => JSON.parse(line)) };
}

describe("explain", () => {
  test("says decision, rule, program, what would run and what always would store", async () => {
    const home = cliHome();
    writeFileSync(join(home.dir, "openclaw.json"), '{tools: {exec: {mode: "ask"}}}', { mode: 0o600 });
    await home.runWith({ env: { PATH } }, "approvals", "allowlist", "add", "ls");
    const allowed = await home.runWith({ env: { PATH } }, "explain", "ls -la | wc -l");
    expect(allowed.code).toBe(0);
    expect(allowed.out).toContain("It would run without asking.");
    expect(allowed.out).toContain("would run: '/usr/bin/ls' '-la' | '/usr/bin/wc' '-l'");
    const asked = await home.runWith({ env: { PATH } }, "explain", "date -u", "--cwd", home.dir);
    expect(asked.out).toContain("“date” is not on the allowlist");
    expect(asked.out).toContain("“Allow always” would store");
  });

  test("answers in JSON", async () => {
    const { out } = await cliHome().runWith({ env: { PATH } }, "explain", "ls > x", "--json");
    expect(JSON.parse(out)).toMatchObject({ decision: "allow", plan: { kind: "verbatim", text: "ls > x" } });
  });

  test("asks for a command when none is given", async () => {
    expect(await cliHome().run("explain")).toMatchObject({ code: 2, out: "" });
  });

  test("shows invisible characters instead of printing them", async () => {
    const home = cliHome();
    writeFileSync(join(home.dir, "openclaw.json"), '{tools: {exec: {mode: "ask"}}}', { mode: 0o600 });
    const { out } = await home.runWith({ env: { PATH } }, "explain", "ls 'a\u202eb'");
    expect(out).toContain("U+202E");
    expect(out).not.toContain("\u202e");
  });
});

describe("explain --stdin", () => {
  test("answers every line in order and goes on after one it does not understand", async () => {
    const policy = { allowlist: ["ls"] };
    const { code, answers } = await stream([
      { command: "ls -la", policy },
      "not json",
      { command: "ls; date", policy },
      { policy },
      { command: 7, policy },
      "[]",
      { command: "ls", policy: { allowlist: [{ pattern: 1 }] } },
      { command: "ls", policy: { ...policy, security: "deny" } },
      { command: "date", policy: { ...policy, ask: "off" } },
      { command: "ls", policy: { ...policy, ask: "always" } },
    ]);
    expect(code).toBe(0);
    expect(answers.map((answer) => answer.decision)).toEqual([
      "allow",
      "error",
      "ask",
      "error",
      "error",
      "error",
      "error",
      "deny",
      "deny",
      "ask",
    ]);
    expect(answers.every((answer) => Array.isArray(answer.reasons) && Array.isArray(answer.segments))).toBe(true);
    expect(answers[2].reasons).toMatchObject([{ code: "allowlist-miss", subject: "date" }]);
  });

  test("looks programs up in the PATH of the line", async () => {
    const home = cliHome();
    const bin = join(home.dir, "bin");
    mkdirSync(bin);
    symlinkSync("/usr/bin/true", join(bin, "ls"));
    const request = { command: "ls", policy: { allowlist: ["/usr/bin/ls"] }, cwd: home.dir };
    const { answers } = await stream(
      [
        { ...request, env: { PATH } },
        { ...request, env: { PATH: `${bin}:${PATH}` } },
        { ...request, env: { PATH: `bin:${PATH}` } },
        { ...request, env: { PATH: "" } },
      ],
      home,
    );
    expect(answers.map((answer) => answer.decision)).toEqual(["allow", "ask", "ask", "ask"]);
  });

  test("takes safe bins and strictInlineEval from the line, allowlist and on-miss as defaults", async () => {
    const { answers } = await stream([
      { command: "sort -r", policy: { allowlist: [] } },
      { command: "sort -r", policy: { allowlist: [], safeBins: ["sort"] } },
      { command: "node -e 1", policy: { allowlist: ["node"] } },
      { command: "node -e 1", policy: { allowlist: ["node"], strictInlineEval: true } },
      { command: "ls" },
    ]);
    expect(answers.map((answer) => answer.decision)).toEqual(["ask", "allow", "allow", "ask", "ask"]);
  });

  test("takes null for absent, words in any case, and refuses mode beside security", async () => {
    const { answers } = await stream([
      { command: "ls", policy: { allowlist: ["ls"], safeBins: null, security: null }, cwd: null, env: null },
      { command: "ls", policy: null },
      { command: "rm x", policy: { allowlist: null, security: " FULL ", ask: "Off" } },
      { command: "ls", policy: { mode: "full", security: "deny" } },
      { command: "ls", policy: { security: "sometimes" } },
    ]);
    expect(answers.map((answer) => answer.decision)).toEqual(["allow", "ask", "allow", "error", "error"]);
    expect(answers[3].reasons[0].message).toBe("policy: give mode, or security and ask, not both");
  });

  test("keeps up with thousands of lines", async () => {
    const { answers } = await stream(
      Array.from({ length: 5_000 }, (_, index) => ({ command: `echo ${index}`, policy: { allowlist: ["echo"] } })),
    );
    expect(answers).toHaveLength(5_000);
    expect(answers[4_999].segments[0].argv).toEqual(["echo", "4999"]);
  });
});
