import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import JSON5 from "json5";
import { describe, expect, test } from "vitest";
import { loadDirectSpawn } from "../../src/core/process/direct-spawn.ts";
import { type CliHome, cliHome } from "./run-cli.ts";

const env = { PATH: "/usr/bin:/bin" };
const run = (home: CliHome, ...argv: string[]) => home.runWith({ env }, ...argv);
const approvals = (home: CliHome) => JSON.parse(readFileSync(join(home.dir, "exec-approvals.json"), "utf8"));
const config = (home: CliHome) => JSON5.parse(readFileSync(join(home.dir, "openclaw.json"), "utf8"));

describe("approvals allowlist", () => {
  test("adds, tells when a rule is there, lists, and removes by either spelling or id", async () => {
    const home = cliHome();
    expect((await run(home, "approvals", "allowlist", "add", "/usr/bin/git", "--agent", "dev")).out).toContain(
      "Allowed for agent dev",
    );
    expect((await run(home, "approvals", "allowlist", "add", "/usr/bin/git", "--agent", "dev")).out).toBe(
      "Already allowlisted.",
    );
    expect((await run(home, "approvals", "allowlist", "list")).out).toContain("agent dev:\n  /usr/bin/git");
    expect((await run(home, "approvals", "allowlist", "remove", "/usr/bin/git")).out).toBe("Pattern not found.");
    const { id } = approvals(home).agents.dev.allowlist[0];
    expect((await run(home, "approvals", "allowlist", "remove", id.slice(0, 8), "--agent", "dev")).out).toContain(
      "Removed for agent dev",
    );
    expect(approvals(home).agents).toEqual({});
  });

  test("stores the file behind a link and says so", async () => {
    const home = cliHome();
    const { out, err } = await run(home, "approvals", "allowlist", "add", "/bin/ls");
    const stored = approvals(home).agents["*"].allowlist[0].pattern;
    expect(out).toContain(stored);
    if (stored !== "/bin/ls") expect(err).toContain("is a link to");
  });

  test.each([
    ["(a+)+$", "git"],
    ["^--version$", "*"],
    ["(", "git"],
  ])("refuses the argPattern %s on %s", async (argPattern, pattern) => {
    const home = cliHome();
    const { code } = await run(home, "approvals", "allowlist", "add", pattern, "--arg-pattern", argPattern);
    expect(code).toBe(2);
    expect(existsSync(join(home.dir, "exec-approvals.json"))).toBe(false);
  });
});

describe("approvals set and get", () => {
  test("replaces the document, in JSON5, and shows it without the token", async () => {
    const home = cliHome();
    const stdin = "{ socket: {token: 'geheim'}, defaults: {ask: 'always'}, agents: {'*': {allowlist: ['rg',]}} }";
    expect((await home.runWith({ env, stdin }, "approvals", "set", "--stdin")).code).toBe(0);
    expect(approvals(home)).toMatchObject({ version: 1, socket: { token: "geheim" } });
    expect(statSync(join(home.dir, "exec-approvals.json")).mode & 0o777).toBe(0o600);
    const shown = await run(home, "approvals", "get", "--json");
    expect(shown.out).not.toContain("geheim");
    expect(JSON.parse(shown.out).agents[0]).toMatchObject({
      agent: "main",
      effective: { ask: { value: "always", from: "host-file:defaults" } },
    });
  });

  test("refuses a stale hash, a broken document, and neither or both sources", async () => {
    const home = cliHome();
    const set = (stdin: string, ...flags: string[]) => home.runWith({ env, stdin }, "approvals", "set", ...flags);
    await set("{}", "--stdin");
    const before = readFileSync(join(home.dir, "exec-approvals.json"), "utf8");
    expect((await set("{defaults: {ask: 'off'}}", "--stdin", "--base-hash", "00")).code).toBe(1);
    expect((await set("{agents: 7}", "--stdin")).err).toContain("agents: expected an object");
    expect((await set("{", "--stdin")).code).toBe(1);
    expect((await set("{}")).code).toBe(2);
    expect((await set("{}", "--stdin", "--file", "x")).code).toBe(2);
    expect(readFileSync(join(home.dir, "exec-approvals.json"), "utf8")).toBe(before);
  });

  test("leaves a damaged file alone until told, and then keeps it", async () => {
    const home = cliHome();
    const file = join(home.dir, "exec-approvals.json");
    writeFileSync(file, "{oops", { mode: 0o600 });
    expect((await home.runWith({ env, stdin: "{}" }, "approvals", "set", "--stdin")).code).toBe(1);
    expect(readFileSync(file, "utf8")).toBe("{oops");
    const { err } = await home.runWith({ env, stdin: "{}" }, "approvals", "set", "--stdin", "--replace-damaged");
    const aside = /now (\S+)\.$/m.exec(err)?.[1] ?? "";
    expect(readFileSync(aside, "utf8")).toBe("{oops");
    expect(approvals(home)).toEqual({ version: 1 });
  });
});

describe("exec-policy", () => {
  test.each([
    ["yolo", { security: "full", ask: "off", askFallback: "full" }],
    ["cautious", { security: "allowlist", ask: "on-miss", askFallback: "deny" }],
    ["deny-all", { security: "deny", ask: "off", askFallback: "deny" }],
  ])("preset %s writes both files", async (name, words) => {
    const home = cliHome();
    expect((await run(home, "exec-policy", "preset", name)).code).toBe(0);
    expect(approvals(home).defaults).toEqual(words);
    expect(config(home).tools.exec).toMatchObject({ host: "gateway", security: words.security, ask: words.ask });
    expect(config(home).tools.exec.mode).toBeUndefined();
    const shown = JSON.parse((await run(home, "exec-policy", "show", "--json")).out);
    expect(shown.agents[0].security.value).toBe(words.security);
  });

  test("set changes one word and keeps the other", async () => {
    const home = cliHome();
    await run(home, "exec-policy", "preset", "cautious");
    expect((await run(home, "exec-policy", "set", "--ask", "always")).code).toBe(0);
    expect(config(home).tools.exec).toMatchObject({ security: "allowlist", ask: "always" });
  });

  test("refuses nothing to set, unknown words and nodes", async () => {
    const home = cliHome();
    expect((await run(home, "exec-policy", "set")).code).toBe(2);
    expect((await run(home, "exec-policy", "set", "--ask", "maybe")).err).toContain("off, on-miss, always");
    expect((await run(home, "exec-policy", "set", "--host", "node")).code).toBe(2);
    expect((await run(home, "exec-policy", "preset", "wild")).err).toContain("yolo, cautious, deny-all");
  });

  test("never ends up looser when the configuration can not be written", async () => {
    const home = cliHome();
    await run(home, "exec-policy", "preset", "cautious");
    const readOnly = { ...env, OPENCLAW_CONFIG_READONLY: "1" };
    expect((await home.runWith({ env: readOnly }, "exec-policy", "preset", "yolo")).code).toBe(1);
    expect(approvals(home).defaults).toEqual({ security: "allowlist", ask: "on-miss", askFallback: "deny" });
    expect((await home.runWith({ env: readOnly }, "exec-policy", "preset", "deny-all")).code).toBe(1);
    expect(approvals(home).defaults.security).toBe("deny");
  });
});

describe("security audit", () => {
  test("finds nothing in a cautious set-up and says what to do about a wild one", async () => {
    const home = cliHome();
    await run(home, "exec-policy", "preset", "cautious");
    expect(await run(home, "security", "audit")).toMatchObject({ code: 0, out: "Nothing risky found." });
    writeFileSync(
      join(home.dir, "openclaw.json"),
      `{tools: {exec: {mode: "full", safeBins: ["jq", "python3", "cat"], safeBinProfiles: {cat: {}}, safeBinTrustedDirs: ["/tmp/x"]},
        elevated: {allowFrom: {slack: ["*"]}}, deny: ["write"]},
        models: {providers: {far: {api: "openai-completions", baseUrl: "http://10.0.0.1/v1", apiKey: "env:PATH"}}},
        agents: {defaults: {model: "far/small"}}}`,
      { mode: 0o600 },
    );
    await home.runWith(
      { env, stdin: "{agents: {'*': {allowlist: ['python3', '**', {pattern: 'x', source: 'allow-always'}]}}}" },
      "approvals",
      "set",
      "--stdin",
    );
    const { code, out } = await run(home, "security", "audit", "--json");
    const ids = JSON.parse(out).findings.map((finding: { id: string }) => finding.id);
    expect(ids).toEqual(
      expect.arrayContaining([
        "tools.exec.security_full_configured",
        "agents.model_runs_unchecked",
        "models.key_over_plain_http",
        "tools.exec.allowlist_interpreter_without_strict_inline_eval",
        "tools.exec.allowlist_covers_everything",
        "tools.exec.allowlist_inactive_grants",
        "tools.exec.safe_bins_broad_behavior",
        "tools.exec.safe_bins_interpreter_unprofiled",
        "tools.exec.safe_bins_profile_open",
        "tools.exec.safe_bin_trusted_dirs_risky",
        "tools.elevated.allowFrom.slack.wildcard",
        "tools.exec.fs_tools_disabled_but_exec_enabled",
      ]),
    );
    expect(code).toBe(1);
  });
});

describe("security audit of sandboxes", () => {
  const found = async (config: string) => {
    const home = cliHome();
    writeFileSync(join(home.dir, "openclaw.json"), config, { mode: 0o600 });
    const { findings } = JSON.parse((await run(home, "security", "audit", "--json")).out);
    return (findings as { id: string; level: string }[])
      .filter(({ id }) => /sandbox/.test(id))
      .map(({ id, level }) => `${level} ${id}`);
  };
  const root = process.getuid?.() === 0 ? ["warn sandbox.made_by_root"] : [];

  test.each<[string, readonly string[]]>([
    [`{tools: {exec: {mode: "ask"}}}`, []],
    [`{tools: {exec: {host: "sandbox"}}}`, ["warn tools.exec.host_sandbox_no_sandbox_defaults"]],
    [
      `{tools: {exec: {host: "gateway"}}, agents: {defaults: {sandbox: {mode: "all"}}}}`,
      ["warn tools.exec.host_leaves_sandbox", ...root],
    ],
    [`{agents: {defaults: {sandbox: {docker: {memory: "1g"}}}}}`, ["info sandbox.docker_config_mode_off"]],
    [
      `{agents: {defaults: {sandbox: {mode: "all", docker: {binds: ["/a:/a"], dangerouslyAllowExternalBindSources: true}}}}}`,
      ["critical sandbox.dangerous_bind_mount", ...root],
    ],
    [
      `{agents: {defaults: {sandbox: {mode: "all", docker: {binds: ["a:/a:ro"]}}}}}`,
      ["warn sandbox.bind_mount_non_absolute", ...root],
    ],
  ])("%s", async (config, ids) => {
    expect(await found(config)).toEqual(ids);
  });
});

describe("doctor", () => {
  test("says which way commands are started", async () => {
    const directly = loadDirectSpawn() !== undefined;
    const { out } = await run(cliHome(), "doctor");
    expect(out).toContain(`starting commands: ${directly ? "directly" : "by Node.js"}`);
  });

  test("repairs modes, a damaged file and unused grants, and only with --fix", async () => {
    const home = cliHome();
    const file = join(home.dir, "exec-approvals.json");
    await home.runWith(
      { env, stdin: "{agents: {main: {allowlist: ['rg', {pattern: 'x', source: 'allow-always'}]}}}" },
      "approvals",
      "set",
      "--stdin",
    );
    await run(home, "approvals", "get");
    writeFileSync(file, "{oops");
    chmodSync(home.dir, 0o755);
    expect((await run(home, "doctor")).code).toBe(1);
    expect(readFileSync(file, "utf8")).toBe("{oops");
    expect((await run(home, "doctor", "--fix")).out).toContain("went back to the last readable content");
    expect(statSync(home.dir).mode & 0o777).toBe(0o700);
    await run(home, "doctor", "--fix");
    expect(approvals(home).agents.main.allowlist).toEqual(["rg"]);
    expect((await run(home, "doctor")).code).toBe(0);
  });

  test("gives a custom safe bin a profile that accepts nothing, never an interpreter", async () => {
    const home = cliHome();
    writeFileSync(join(home.dir, "openclaw.json"), '{tools: {exec: {safeBins: ["rev", "python3", "jq"]}}}', {
      mode: 0o600,
    });
    expect((await run(home, "doctor")).out).toContain("rev has no profile");
    await run(home, "doctor", "--fix");
    expect(config(home).tools.exec.safeBinProfiles).toEqual({ rev: { maxPositional: 0 } });
  });
});
