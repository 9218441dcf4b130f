import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import JSON5 from "json5";
import { describe, expect, test } from "vitest";
import { STARTER_CONFIG } from "../../src/core/config/starter.ts";
import { type CliHome, cliHome } from "./run-cli.ts";

function withFile(text: string): CliHome & { readonly file: string; text(): string } {
  const home = cliHome();
  const file = join(home.dir, "openclaw.json");
  writeFileSync(file, text, { mode: 0o600 });
  return { ...home, file, text: () => readFileSync(file, "utf8") };
}

describe("config get", () => {
  const file = `{
    tools: { exec: { mode: "ask" } },
    agents: { list: [{ id: "main", tools: { exec: { node: "mac-1" } } }] },
    channels: { telegram: { botToken: "123456789:${"a".repeat(35)}" }, slack: { botToken: "env:SLACK", appToken: "xapp-1" } },
    redis: { url: "rediss://user:password@redis.example.org" },
  }`;

  test.each([
    ["tools.exec.mode", "ask"],
    ["agents.list[0].tools.exec.node", "mac-1"],
    ["agents.list.0.id", "main"],
    ["tools.exec.timeoutSec", "1800"],
    ["tools.exec.pathPrepend", "[]"],
  ])("%s prints the bare value", async (key, value) => {
    expect(await withFile(file).run("config", "get", key)).toMatchObject({ code: 0, out: value });
  });

  test("tells a default apart from what the file says", async () => {
    const home = withFile(file);
    expect((await home.run("config", "get", "tools.exec.timeoutSec")).err).toBe("(default)");
    expect((await home.run("config", "get", "tools.exec.mode")).err).toBe("");
  });

  test("of agents.list prints the list, as the documentation does", async () => {
    const { out } = await withFile(file).run("config", "get", "agents.list", "--json");
    expect(JSON.parse(out)).toEqual([{ id: "main", tools: { exec: { node: "mac-1" } } }]);
  });

  test("shows references but never a secret", async () => {
    for (const argv of [
      ["config", "get"],
      ["config", "get", "--json"],
      ["config", "get", "--defaults"],
    ]) {
      const { out } = await withFile(file).run(...argv);
      expect(out).toContain("env:SLACK");
      expect(out.match(/\(hidden\)/g)).toHaveLength(3);
      for (const secret of ["aaaa", "xapp-1", "password"]) expect(out).not.toContain(secret);
    }
  });

  test("--defaults fills in the rest, but not what `mode` overrules", async () => {
    const home = withFile(file);
    const withMode = JSON.parse((await home.run("config", "get", "tools.exec", "--defaults", "--json")).out);
    expect(withMode).toMatchObject({ mode: "ask", host: "auto", timeoutSec: 1800, backgroundMs: 10_000 });
    expect(withMode).not.toHaveProperty("security");
    const without = JSON.parse((await withFile("{}").run("config", "get", "tools.exec", "--defaults", "--json")).out);
    expect(without).toMatchObject({ security: "full", ask: "off" });
  });

  test.each([
    ["tools.exec.node", "tools.exec.node is not set, and has no default."],
    ["tools.exec.timoutSec", "Did you mean tools.exec.timeoutSec?"],
    ["agents.list[7].id", "not set"],
    ["tools..exec", "character 7"],
  ])("%s fails and says why", async (key, message) => {
    const { code, out, err } = await withFile(file).run("config", "get", key);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain(message);
  });

  test("reads a file whose values are wrong, since that is when one wants to look", async () => {
    const home = withFile("{ gateway: { port: -5 } }");
    expect(await home.run("config", "get", "gateway.port")).toMatchObject({ code: 0, out: "-5" });
  });
});

describe("config set", () => {
  test.each([
    ["tools.exec.mode", "full", "full"],
    ["tools.exec.timeoutSec", "0", 0],
    ["tools.exec.notifyOnExit", "false", false],
    ["tools.exec.pathPrepend", '["~/bin", "/opt/bin"]', ["~/bin", "/opt/bin"]],
    ["tools.exec.safeBinProfiles.jq", "{ maxPositional: 1 }", { maxPositional: 1 }],
    ["agents.list[0].tools.exec.node", "node-id-or-name", "node-id-or-name"],
    ["agents.list[0].name", "007", "007"],
    ["commands.ownerAllowFrom[0]", "discord:123456789012345678", "discord:123456789012345678"],
    ["channels.discord.allowFrom", '["123456789012345678"]', ["123456789012345678"]],
    ["channels.discord.allowFrom[0]", "123456789012345678", "123456789012345678"],
    ["tools.exec.node", "'true'", "true"],
  ])("%s %s writes what was meant", async (key, typed, value) => {
    const home = withFile(
      '{ agents: { list: [{ id: "main" }] }, channels: { discord: { enabled: false, allowFrom: [] } } }',
    );
    const { code, err } = await home.run("config", "set", key, typed, "--json");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const { out } = await home.run("config", "get", key, "--json");
    expect(JSON.parse(out)).toEqual(value);
  });

  test("keeps comments, keeps the old file, says where and whether a restart is needed", async () => {
    const home = withFile(STARTER_CONFIG);
    const live = await home.run("config", "set", "tools.exec.mode", "auto");
    expect(live).toEqual({
      code: 0,
      out: `tools.exec.mode = auto, written to ${home.file}`,
      err: "A running gateway uses it at once.",
    });
    expect(home.text()).toBe(STARTER_CONFIG.replace('mode: "ask"', 'mode: "auto"'));
    expect(readFileSync(`${home.file}.bak`, "utf8")).toBe(STARTER_CONFIG);
    expect((await home.run("config", "set", "gateway.port", "1234")).err).toBe("Restart the gateway to use it.");
  });

  test("to a wrong value changes nothing and explains", async () => {
    const home = withFile(STARTER_CONFIG);
    const { code, out, err } = await home.run("config", "set", "tools.exec.mode", "fulll");
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("nothing was changed");
    expect(err).toContain("Did you mean full?");
    expect(home.text()).toBe(STARTER_CONFIG);
  });

  test("takes a secret only from stdin or by reference, and never prints it", async () => {
    const home = withFile("{}");
    const refused = await home.run("config", "set", "channels.slack.botToken", "xoxb-secret");
    expect(refused.code).toBe(2);
    expect(refused.err).toContain("--stdin");
    expect(home.text()).toBe("{}");
    const piped = await home.runWith({ stdin: "xoxb-secret\n" }, "config", "set", "channels.slack.botToken", "--stdin");
    expect(piped.code).toBe(0);
    expect(piped.out + piped.err).not.toContain("xoxb-secret");
    expect(JSON5.parse(home.text())).toEqual({ channels: { slack: { botToken: "xoxb-secret" } } });
    expect(statSync(home.file).mode & 0o777).toBe(0o600);
    expect(await home.run("config", "set", "channels.slack.appToken", "env:APP")).toMatchObject({ code: 0 });
  });

  test("says what is still missing to start", async () => {
    const home = withFile("{}");
    const { err } = await home.run("config", "set", "channels.slack.botToken", "env:SLACK");
    expect(err).toContain("the variable SLACK is not set");
    expect(err).toContain("channels.slack.appToken: missing");
  });

  test("--dry-run checks and writes nothing", async () => {
    const home = withFile("{}");
    const { code, out } = await home.run("config", "set", "gateway.port", "80", "--dry-run");
    expect({ code, out }).toEqual({ code: 0, out: "gateway.port = 80: this would be valid. Nothing was written." });
    expect((await home.run("config", "set", "gateway.port", "-80", "--dry-run")).code).toBe(1);
    expect(home.text()).toBe("{}");
  });

  test("--json answers for programs, also when refused", async () => {
    const home = withFile("{}");
    const good = await home.run("config", "set", "gateway.port", "80", "--json");
    expect(JSON.parse(good.out)).toMatchObject({
      ok: true,
      path: "gateway.port",
      value: 80,
      written: true,
      restart: true,
    });
    const bad = await home.run("config", "set", "gateway.port", "x", "--json");
    expect(bad.code).toBe(1);
    expect(JSON.parse(bad.out)).toMatchObject({ ok: false, problems: [{ path: "gateway.port" }] });
  });

  test("needs exactly one value", async () => {
    const home = withFile("{}");
    expect((await home.run("config", "set", "gateway.port")).code).toBe(2);
    expect((await home.runWith({ stdin: "1" }, "config", "set", "gateway.port", "2", "--stdin")).code).toBe(2);
  });
});

describe("config unset", () => {
  test("lets the default hold again", async () => {
    const home = withFile("{ tools: { exec: { timeoutSec: 5 } } }");
    expect((await home.run("config", "unset", "tools.exec.timeoutSec")).code).toBe(0);
    expect((await home.run("config", "get", "tools.exec.timeoutSec")).out).toBe("1800");
  });

  test("of a key that is not there fails", async () => {
    const { code, err } = await withFile("{}").run("config", "unset", "tools.exec.node");
    expect({ code, err }).toEqual({ code: 1, err: "tools.exec.node is not set in the file." });
  });
});

describe("config validate", () => {
  test("a good file", async () => {
    const home = withFile(STARTER_CONFIG);
    expect(await home.run("config", "validate")).toEqual({ code: 0, out: `${home.file} is valid.`, err: "" });
  });

  test("a bad file, with the same words as a start", async () => {
    const home = withFile("{\n  gatway: {},\n}");
    const { code, err } = await home.run("config", "validate");
    expect(code).toBe(1);
    expect(err).toContain("line 2: gatway = a group: unknown key\n    Did you mean gateway?");
    const { out } = await home.run("config", "validate", "--json");
    expect(JSON.parse(out)).toMatchObject({ ok: false, problems: [{ path: "gatway", nearest: "gateway", line: 2 }] });
  });

  test("no file", async () => {
    const { code, out } = await cliHome().run("config", "validate");
    expect(code).toBe(0);
    expect(out).toContain("does not exist");
  });
});

test("config file prints the path", async () => {
  const home = cliHome();
  expect((await home.run("config", "file")).out).toBe(join(home.dir, "openclaw.json"));
  const moved = await home.runWith({ env: { OPENCLAW_CONFIG_PATH: "/etc/openclaw.json" } }, "config", "file");
  expect(moved.out).toBe("/etc/openclaw.json");
});

describe("config schema", () => {
  test("is a JSON Schema that agrees with the product", async () => {
    const { out } = await cliHome().run("config", "schema");
    const ajv = new Ajv2020.default({ strict: false });
    addFormats.default(ajv);
    for (const format of ["cidrv4", "cidrv6"]) ajv.addFormat(format, true);
    const valid = ajv.compile(JSON.parse(out));
    expect(valid(JSON5.parse(STARTER_CONFIG))).toBe(true);
    expect(valid({ agents: { list: [{ id: "a", tools: { exec: { ask: "always" } } }] } })).toBe(true);
    expect(valid({ tools: { exec: { hots: "auto" } } })).toBe(false);
    expect(valid({ tools: { exec: { mode: "aks" } } })).toBe(false);
  });

  test("of one key is its part", async () => {
    const { out } = await cliHome().run("config", "schema", "tools.exec.mode");
    expect(JSON.parse(out)).toMatchObject({ enum: ["deny", "allowlist", "ask", "auto", "full"] });
  });
});
