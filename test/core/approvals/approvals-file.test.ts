import { fork } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  addRules,
  hostPolicyFor,
  readDocument,
  rulesOf,
  setPolicy,
} from "../../../src/core/approvals/approvals-document.ts";
import { type ApprovalsFile, openApprovalsFile } from "../../../src/core/approvals/approvals-file.ts";
import { ARGV_GRANT } from "../../../src/core/policy/allowlist.ts";

let folder: string;
let path: string;
let problems: string[];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "approvals-")));
  path = join(folder, "exec-approvals.json");
  problems = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (): Promise<ApprovalsFile> =>
  openApprovalsFile({
    path,
    clock: { now: () => 1_000, monotonic: () => 0 },
    newId: () => crypto.randomUUID(),
    onDamage: (problem) => problems.push(problem),
  });
const write = (content: unknown): void =>
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content), { mode: 0o600 });
const grant = (pattern: string) => ({
  pattern,
  argPattern: `${ARGV_GRANT}${"0".repeat(64)}`,
  source: "allow-always" as const,
});

describe("reading", () => {
  it("is open without a file", async () => {
    const file = await open();
    expect(file.policyFor("main")).toBe("missing");
    expect(file.damage()).toBeUndefined();
  });

  it("takes the first scope that speaks, and the defaults for a word that is not known", async () => {
    write({
      version: 1,
      defaults: { security: "allowlist", ask: "on-miss" },
      agents: {
        "*": { security: "full", allowlist: ["rg"] },
        dev: { security: "bogus", ask: " ALWAYS ", allowlist: [{ pattern: "git" }, "  "] },
      },
    });
    const dev = (await open()).policyFor("dev");
    expect(dev).toMatchObject({
      security: { value: "allowlist", from: "host-file:defaults" },
      ask: { value: "always", from: "host-file:agent" },
      allowlist: [{ pattern: "rg" }, { pattern: "git" }],
    });
    expect((await open()).policyFor("main")).toMatchObject({ security: { value: "full", from: "host-file:*" } });
  });

  it("reads agents.default as the old name of main", () => {
    const result = readDocument(
      JSON.stringify({
        version: 1,
        agents: { default: { ask: "always", allowlist: ["a"] }, main: { allowlist: ["b"] } },
      }),
    );
    expect(result.ok && hostPolicyFor(result.document, "main").allowlist.map((rule) => rule.pattern)).toEqual([
      "b",
      "a",
    ]);
    expect(result.ok && hostPolicyFor(result.document, "main").ask?.value).toBe("always");
  });

  it.each([
    ["{", "line 1"],
    ["{}{}", "JSON"],
    [{ version: 2 }, "version"],
    [
      { version: 1, agents: { dev: { allowlist: [{ pattern: "x" }, { pattern: "y", lastUsedAt: "secret" }] } } },
      "agents entry #1.allowlist[1].lastUsedAt: expected a finite number",
    ],
    ['{"version":1,"agents":{"__proto__":{}}}', "not a name"],
    [{ version: 1, agents: { a: { allowlist: "rg" } } }, "expected a list"],
    ["", "JSON"],
  ])("closes the host on %j and says where (case store-truncated-on-crash)", async (content, where) => {
    write(content);
    const file = await open();
    expect(file.policyFor("main")).toBe("damaged");
    expect(file.damage()).toContain(where);
    expect(file.damage()).not.toContain("secret");
    expect(problems).toHaveLength(1);
  });

  it("refuses a symbolic link and a file that everybody may write", async () => {
    writeFileSync(join(folder, "other.json"), '{"version":1}');
    symlinkSync(join(folder, "other.json"), path);
    expect((await open()).policyFor("main")).toBe("damaged");
    rmSync(path);
    write({ version: 1 });
    chmodSync(path, 0o666);
    expect((await open()).policyFor("main")).toBe("damaged");
  });

  it("picks up an edit by hand, keeps a broken one as it is, and recovers (case store-foreign-edit)", async () => {
    write({ version: 1, agents: { "*": { allowlist: ["rg"] } } });
    const file = await open();
    expect(file.policyFor("main")).toMatchObject({ allowlist: [{ pattern: "rg" }] });
    write({ version: 1, agents: { "*": { allowlist: ["rg", "fd"] } } });
    expect(file.policyFor("main")).toMatchObject({ allowlist: [{ pattern: "rg" }, { pattern: "fd" }] });
    write('{"version":1,');
    expect(file.policyFor("main")).toBe("damaged");
    await expect(file.grant("main", [grant("/usr/bin/ls")])).rejects.toMatchObject({ code: "invalid-argument" });
    expect(readFileSync(path, "utf8")).toBe('{"version":1,');
    expect(JSON.parse(readFileSync(`${path}.last-good`, "utf8")).agents["*"].allowlist).toEqual(["rg", "fd"]);
    write({ version: 1 });
    expect(file.policyFor("main")).toMatchObject({ allowlist: [] });
  });
});

describe("writing", () => {
  it("keeps every key it does not know, and drops only the old plain text of commands", async () => {
    write({
      version: 1,
      note: "mine",
      socket: { path: "/s", token: "t" },
      agents: { main: { color: "red", allowlist: [{ pattern: "a", commandText: "a b", tag: 1 }, "b"] } },
    });
    const file = await open();
    await file.grant("main", [grant("/usr/bin/ls")]);
    const after = JSON.parse(readFileSync(path, "utf8"));
    expect(after).toMatchObject({ note: "mine", socket: { token: "t" }, agents: { main: { color: "red" } } });
    expect(after.agents.main.allowlist.slice(0, 2)).toEqual([{ pattern: "a", tag: 1 }, "b"]);
    expect(after.agents.main.allowlist[2]).toMatchObject({
      pattern: "/usr/bin/ls",
      source: "allow-always",
      lastUsedAt: 1_000,
    });
  });

  it("makes a private file and leaves nothing else behind", async () => {
    const file = await open();
    await file.grant("dev", [grant("/usr/bin/ls")]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).sort()).toEqual(["exec-approvals.json", "exec-approvals.json.last-good"]);
    expect(file.policyFor("dev")).toMatchObject({ allowlist: [{ pattern: "/usr/bin/ls" }] });
    expect(file.policyFor("other")).toMatchObject({ allowlist: [] });
  });

  it("loses no grant of many at once, and stores each once (case concurrent-allow-always-lost)", async () => {
    const file = await open();
    const programs = Array.from({ length: 20 }, (_, index) => `/usr/bin/p${index}`);
    await Promise.all([...programs, ...programs].map((program) => file.grant("researcher", [grant(program)])));
    expect(
      rulesOf(file.snapshot().document, "researcher")
        .map((rule) => rule.pattern)
        .sort(),
    ).toEqual([...programs].sort());
  });

  it("loses no grant of two processes", async () => {
    const script = join(folder, "writer.mts");
    const source = new URL("../../../src/core/approvals/approvals-file.ts", import.meta.url).pathname;
    writeFileSync(
      script,
      `import { openApprovalsFile } from ${JSON.stringify(source)};
const [, , path, prefix] = process.argv;
const file = await openApprovalsFile({ path, clock: { now: () => 1, monotonic: () => 0 }, newId: () => crypto.randomUUID() });
for (let i = 0; i < 8; i += 1) await file.grant("main", [{ pattern: prefix + i, argPattern: ${JSON.stringify(`${ARGV_GRANT}x`)}, source: "allow-always" }]);
await file.close();`,
    );
    const run = (prefix: string) =>
      new Promise<number | null>((resolve) => {
        fork(script, [path, prefix], { execArgv: ["--import", "tsx"], stdio: "inherit" }).on("exit", resolve);
      });
    expect(await Promise.all([run("/a/"), run("/b/")])).toEqual([0, 0]);
    expect(rulesOf((await open()).snapshot().document, "main")).toHaveLength(16);
  }, 30_000);

  it("refuses to write over what somebody else changed meanwhile", async () => {
    write({ version: 1 });
    const file = await open();
    const { hash } = file.snapshot();
    write({ version: 1, note: "newer" });
    await expect(
      file.update((document) => setPolicy(document, "defaults", { ask: "always" }), { expectedHash: hash }),
    ).rejects.toMatchObject({
      code: "invalid-argument",
    });
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ version: 1, note: "newer" });
  });

  it("writes nothing when there is nothing to change", async () => {
    write({ version: 1, agents: { "*": { allowlist: ["rg"] } } });
    const file = await open();
    const before = statSync(path, { bigint: true }).mtimeNs;
    await file.update((document) => addRules(document, "*", [{ pattern: "rg" }], () => "x"));
    expect(await file.revoke("*", (rule) => rule.pattern === "fd")).toEqual([]);
    expect(statSync(path, { bigint: true }).mtimeNs).toBe(before);
  });

  it("takes a grant back, and forgets an agent that has nothing left", async () => {
    const file = await open();
    await file.grant("main", [grant("/usr/bin/ls")]);
    expect(await file.revoke("main", (rule) => rule.pattern === "/usr/bin/ls")).toHaveLength(1);
    expect(JSON.parse(readFileSync(path, "utf8")).agents).toEqual({});
  });

  it("moves a damaged file aside without losing it", async () => {
    write("{broken");
    const file = await open();
    const aside = await file.setAside();
    expect(existsSync(path)).toBe(false);
    expect(readFileSync(aside ?? "", "utf8")).toBe("{broken");
    expect(await file.setAside()).toBeUndefined();
  });

  it("notes uses in one later write, in the agent's rules and everybody's, without the text of a grant", async () => {
    write({ version: 1, agents: { "*": { allowlist: ["ls"] }, main: { allowlist: [grant("/usr/bin/git"), "ls"] } } });
    const file = await open();
    const before = readFileSync(path, "utf8");
    for (let i = 0; i < 5; i += 1)
      file.noteUse({ agentId: "main", rule: { pattern: "ls" }, command: "ls -la", resolvedPath: "/usr/bin/ls" });
    file.noteUse({ agentId: "main", rule: grant("/usr/bin/git"), command: "git secret" });
    expect(readFileSync(path, "utf8")).toBe(before);
    await file.close();
    const { agents } = JSON.parse(readFileSync(path, "utf8"));
    expect(agents["*"].allowlist[0]).toEqual({
      pattern: "ls",
      lastUsedAt: 1_000,
      lastUsedCommand: "ls -la",
      lastResolvedPath: "/usr/bin/ls",
    });
    expect(agents.main.allowlist[1].lastUsedAt).toBe(1_000);
    expect(JSON.stringify(agents)).not.toContain("secret");
  });
});
