import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig, openConfig, renderProblems } from "../../../src/core/config/load.ts";
import { scratch } from "./scratch.ts";

const asUser = process.getuid?.() !== 0;

describe("state directory", () => {
  test("is made for its owner alone, from $OPENCLAW_STATE_DIR or ~/.openclaw", async () => {
    const home = scratch();
    const loaded = await loadConfig({ env: { HOME: home.dir } });
    expect(loaded.stateDir).toBe(join(home.dir, ".openclaw"));
    expect(statSync(loaded.stateDir).mode & 0o777).toBe(0o700);
    const moved = await loadConfig({ env: { HOME: home.dir, OPENCLAW_STATE_DIR: "~/elsewhere" } });
    expect(moved.file.path).toBe(join(home.dir, "elsewhere", "openclaw.json"));
  });

  test("is closed to others when it stood open", async () => {
    const home = scratch();
    chmodSync(home.dir, 0o755);
    await home.good();
    expect(statSync(home.dir).mode & 0o777).toBe(0o700);
  });

  test("that is a file is refused with the way out", async () => {
    const home = scratch();
    const path = join(home.dir, "file");
    writeFileSync(path, "");
    const loaded = await loadConfig({ env: {}, stateDir: path });
    expect(loaded.ok).toBe(false);
    if (!loaded.ok) expect(renderProblems(path, loaded.problems)).toContain("OPENCLAW_STATE_DIR");
  });

  test("$OPENCLAW_CONFIG_PATH moves only the configuration", async () => {
    const home = scratch();
    const path = join(home.dir, "other.json5");
    writeFileSync(path, "{ gateway: { port: 1234 } }", { mode: 0o600 });
    const loaded = await home.good({ OPENCLAW_CONFIG_PATH: path });
    expect(loaded.config.gateway.port).toBe(1234);
    expect(loaded.stateDir).toBe(home.dir);
  });
});

describe("first start", () => {
  test("writes a private, commented file that asks before commands run", async () => {
    const home = scratch();
    const loaded = await openConfig({ env: {}, stateDir: home.dir, workingDir: home.dir });
    expect(loaded).toMatchObject({ ok: true, starterWritten: true });
    if (loaded.ok) expect(loaded.config.tools.exec.mode).toBe("ask");
    expect(statSync(home.file).mode & 0o777).toBe(0o600);
    expect(readFileSync(home.file, "utf8")).toContain("// ");
  });

  test("never touches a file that is there, not even an empty or broken one", async () => {
    for (const text of ["", "{ broken"]) {
      const home = scratch();
      home.write(text);
      expect(await openConfig({ env: {}, stateDir: home.dir })).toMatchObject({ starterWritten: false });
      expect(readFileSync(home.file, "utf8")).toBe(text);
    }
  });

  test("writes one file when two start at once", async () => {
    const home = scratch();
    const both = await Promise.all([1, 2].map(() => openConfig({ env: {}, stateDir: home.dir, workingDir: home.dir })));
    expect(both.filter(({ starterWritten }) => starterWritten)).toHaveLength(1);
    expect(both.every(({ ok }) => ok)).toBe(true);
  });
});

describe("text", () => {
  test.each([
    ["{ tools: { exec: { timeoutSec: 1 } } }"],
    ["\uFEFF{}"],
    ["// nothing yet\n"],
    ["{ 'tools': { \"exec\": { timeoutSec: 0x10, } }, /* c */ }"],
  ])("JSON5 as it is meant is read: %j", async (text) => {
    const home = scratch();
    home.write(text);
    await home.good();
  });

  test.each([
    ["{\n  tools: {\n    exec: { mode: ask }\n}}", 3, "invalid character"],
    ['{\n  tools: {},\n  gateway: { bind: "lan"\n', 4, "closing bracket"],
    ["{\n  tools: {} channels: {}\n}", 2, "comma"],
    ["{\n  channels: { telegram: { groups: {\n    -100: {} } } }\n}", 3, "in quotes"],
    ["{ logging: { level: “info” } }", 1, "straight quotes"],
  ])("what is not JSON5 is refused with its line and a hint: %j", async (text, line, hint) => {
    const home = scratch();
    home.write(text);
    const [problem, ...more] = await home.bad();
    expect(more).toEqual([]);
    expect(problem?.line).toBe(line);
    expect(problem?.message).toContain(hint);
  });

  test("a key written twice is refused, because only one of the two would hold", async () => {
    const home = scratch();
    home.write(`{\n  tools: { exec: { mode: "ask" } },\n  tools: { exec: { mode: "full" } },\n}`);
    const [problem] = await home.bad();
    expect(problem).toMatchObject({ line: 3 });
    expect(problem?.message).toContain("line 2");
  });

  test("a key called __proto__ is an unknown key and changes nothing", async () => {
    const home = scratch();
    home.write(`{ tools: { __proto__: { exec: {} } } }`);
    expect(await home.bad()).toMatchObject([{ path: "tools.__proto__", message: "unknown key" }]);
    expect(({} as Record<string, unknown>).exec).toBeUndefined();
  });
});

describe("problems", () => {
  test("name the key, its line, the value, what is allowed and the nearest key", async () => {
    const home = scratch();
    home.write(`{
  tools: {
    exec: {
      mode: "aks",
      hots: "auto",
    },
    timeoutSec: 5,
  },
  channels: { telgram: {} },
}`);
    const text = renderProblems("openclaw.json", await home.bad());
    expect(text).toBe(
      [
        "openclaw.json has 4 problems:",
        '  line 4: tools.exec.mode = "aks": not one of the allowed values',
        "    Did you mean ask?",
        "    Allowed: deny, allowlist, ask, auto, full",
        '  line 5: tools.exec.hots = "auto": unknown key',
        "    Did you mean tools.exec.host?",
        "  line 7: tools.timeoutSec = 5: unknown key",
        "    Did you mean tools.exec.timeoutSec?",
        "    Allowed: allow, deny, elevated, sandbox, exec",
        "  line 9: channels.telgram = a group: unknown key",
        "    Did you mean channels.telegram?",
        "    Allowed: defaults, slack, discord, telegram",
      ].join("\n"),
    );
  });

  test("never show a secret, wherever it was put by mistake", async () => {
    const home = scratch();
    const slack = "xoxb-123-secret";
    const telegram = `123456789:${"a".repeat(35)}`;
    home.write(`{
      gateway: { auth: { tokn: "hunter2-hunter2", mode: "${slack}" } },
      channels: { telegram: { groupPolicy: "${telegram}" } },
      redis: { prefix: 5, uri: "redis://me:pw@host" },
      models: { providers: { x: { api: "openai", apiKey: 12345678 } } },
    }`);
    const text = renderProblems("f", await home.bad());
    expect(text).toContain("(hidden)");
    for (const secret of [slack, telegram, "hunter2", "me:pw", "12345678"]) expect(text).not.toContain(secret);
  });

  test("of an aliased key speak the file's own language", async () => {
    const home = scratch();
    home.write(`{ agents: { entries: { main: { tools: { exec: { timeoutSeconds: -1, hots: 1 } } } } } }`);
    expect(await home.bad()).toMatchObject([
      { path: "agents.entries.main.tools.exec.timeoutSeconds" },
      { path: "agents.entries.main.tools.exec.hots", nearest: "agents.entries.main.tools.exec.host" },
    ]);
  });
});

describe("other spellings", () => {
  test("mean the same as the canonical keys", async () => {
    const home = scratch();
    home.write(`{
      tools: { exec: { timeoutSeconds: 60 } },
      agents: { entries: { a: { tools: { exec: { timeoutSeconds: 5 } } }, b: { default: true } } },
      channels: {
        slack: { enabled: false, dm: { policy: "allowlist", allowFrom: ["U1"] }, heartbeatVisibility: { showOk: true } },
        telegram: { enabled: false, tokenFile: "/run/secrets/telegram" },
      },
      approvals: { notifyAgentOnDeny: true },
    }`);
    const { config } = await home.good();
    expect(config.tools.exec.timeoutSec).toBe(60);
    expect(config.agents.list).toEqual([
      { id: "a", tools: { exec: { timeoutSec: 5 } } },
      { id: "b", default: true },
    ]);
    expect(config.channels.slack?.accounts.default).toMatchObject({
      dmPolicy: "allowlist",
      allowFrom: ["U1"],
      heartbeat: { showOk: true },
    });
    expect(config.channels.telegram?.accounts.default?.botToken).toBe("file:/run/secrets/telegram");
    expect(config.approvals.wakeOnDenial).toBe(true);
  });

  test.each([
    ["tools: { exec: { timeoutSec: 1, timeoutSeconds: 2 } }", "tools.exec.timeoutSeconds"],
    ["agents: { list: [], entries: {} }", "agents.entries"],
    ['channels: { slack: { dmPolicy: "pairing", dm: { policy: "open" } } }', "channels.slack.dm.policy"],
  ])("together with the canonical key are refused: { %s }", async (text, path) => {
    const home = scratch();
    home.write(`{ ${text} }`);
    const [problem] = await home.bad();
    expect(problem).toMatchObject({ path, line: 1 });
    expect(problem?.message).toContain("keep that one");
  });
});

describe("variables", () => {
  const slack = "{ channels: { slack: {} } }";

  test("the environment wins over the state directory's .env, that one over the working directory's", async () => {
    const home = scratch();
    home.write(slack);
    const work = join(home.dir, "work");
    mkdirSync(work);
    writeFileSync(join(home.dir, ".env"), "SLACK_BOT_TOKEN=xoxb-state\nSLACK_APP_TOKEN='xapp-state'\n", {
      mode: 0o600,
    });
    writeFileSync(join(work, ".env"), "SLACK_APP_TOKEN=xapp-work\nOPENCLAW_GATEWAY_TOKEN=from-the-work-dir\n", {
      mode: 0o600,
    });
    const loaded = await loadConfig({ env: { SLACK_BOT_TOKEN: "xoxb-env" }, stateDir: home.dir, workingDir: work });
    if (!loaded.ok) throw new Error(renderProblems("", loaded.problems));
    expect(loaded.secrets.slack.default).toEqual({ botToken: "xoxb-env", appToken: "xapp-state" });
    expect(loaded.secrets.gatewayToken).toBe("from-the-work-dir");
    expect(loaded.environment.vars).toMatchObject({ SLACK_BOT_TOKEN: "xoxb-env", SLACK_APP_TOKEN: "xapp-state" });
    expect(loaded.environment.source("SLACK_APP_TOKEN")).toBe(join(home.dir, ".env"));
    expect(loaded.secrets.values.toSorted()).toEqual(["from-the-work-dir", "xapp-state", "xoxb-env"]);
  });

  test("from .env files do not reach the process", async () => {
    const home = scratch();
    writeFileSync(join(home.dir, ".env"), "OPENCLAW_PROBE_OF_TEST=1\n", { mode: 0o600 });
    const loaded = await home.good();
    expect(loaded.environment.get("OPENCLAW_PROBE_OF_TEST")).toBe("1");
    expect(process.env.OPENCLAW_PROBE_OF_TEST).toBeUndefined();
  });

  test("that say where the files are can not come from a file", async () => {
    const home = scratch();
    writeFileSync(join(home.dir, ".env"), "OPENCLAW_CONFIG_PATH=/nowhere\n", { mode: 0o600 });
    const loaded = await home.good();
    expect(loaded.environment.get("OPENCLAW_CONFIG_PATH")).toBeUndefined();
    expect(loaded.environment.vars.OPENCLAW_CONFIG_PATH).toBeUndefined();
    expect(loaded.file.path).toBe(home.file);
  });

  test("that are blank count as absent", async () => {
    const home = scratch();
    home.write(slack);
    const problems = await home.bad({ SLACK_BOT_TOKEN: " ", SLACK_APP_TOKEN: "xapp-1" });
    expect(problems).toMatchObject([{ path: "channels.slack.botToken" }]);
    expect(problems[0]?.message).toContain("SLACK_BOT_TOKEN");
  });

  test("a token without its block, a Redis from a .env file and a readable .env are pointed out", async () => {
    const home = scratch();
    writeFileSync(join(home.dir, ".env"), "REDIS_URL=redis://127.0.0.1\n", { mode: 0o644 });
    const { warnings, secrets } = await home.good({ TELEGRAM_BOT_TOKEN: "1:x" });
    expect(secrets.redisUrl).toBe("redis://127.0.0.1");
    expect(warnings.join("\n")).toMatch(/chmod 600[\s\S]*telegram stays off[\s\S]*REDIS_URL comes from/);
  });
});

describe("secrets", () => {
  const telegram = (value: string) => `{ channels: { telegram: { botToken: ${JSON.stringify(value)} } } }`;

  test("are read from a literal, a variable or a private file", async () => {
    const home = scratch();
    const file = join(home.dir, "token");
    writeFileSync(file, "1:from-file\n", { mode: 0o600 });
    for (const [value, secret] of [
      ["1:literal", "1:literal"],
      ["env:MY_TOKEN", "1:from-env"],
      [`file:${file}`, "1:from-file"],
      ["file:~/token", "1:from-file"],
    ] as const) {
      home.write(telegram(value));
      const { secrets } = await home.good({ MY_TOKEN: "1:from-env" });
      expect(secrets.telegram.default?.botToken).toBe(secret);
    }
  });

  test("the key in the file wins over the variable", async () => {
    const home = scratch();
    home.write(telegram("1:mine"));
    const { secrets } = await home.good({ TELEGRAM_BOT_TOKEN: "1:other" });
    expect(secrets.telegram.default?.botToken).toBe("1:mine");
  });

  test("one bot is one account: the same token twice is refused, whatever it is written as (tg-409-self-conflict)", async () => {
    const home = scratch();
    home.write(`{ channels: {
      telegram: { botToken: "7:x", accounts: { ops: { botToken: "env:OPS" } } },
      discord: { accounts: { a: { token: "d.1.x" }, b: { token: "d.1.x" }, c: { token: "d.2.x" } } },
    } }`);
    const problems = await home.bad({ OPS: "7:x" });
    expect(problems).toMatchObject([
      {
        path: "channels.telegram.accounts.ops.botToken",
        message: expect.stringContaining('the account "default" too'),
      },
      { path: "channels.discord.accounts.b.token", message: expect.stringContaining('the account "a" too') },
    ]);
    expect(JSON.stringify(problems)).not.toContain("7:x");
  });

  test.each([
    [{ webhookPath: "/healthz" }, "webhookPath", "answered by the gateway itself"],
    [{ apiRoot: "https://api.example.org/bot7:abc" }, "apiRoot", "the root alone"],
    [{ apiRoot: "https://api.example.org/bot" }, "apiRoot", "the root alone"],
    [{ apiRoot: "https://api.example.org/bot-api" }, undefined, ""],
  ])("Telegram addresses: %j", async (keys, key, why) => {
    const home = scratch();
    home.write(JSON.stringify({ channels: { telegram: { botToken: "7:x", ...keys } } }));
    if (key === undefined) await home.good();
    else
      expect(await home.bad()).toMatchObject([
        { path: `channels.telegram.${key}`, message: expect.stringContaining(why) },
      ]);
  });

  test("a variable belongs to the default account only", async () => {
    const home = scratch();
    home.write(`{ channels: { telegram: { accounts: { work: {} } } } }`);
    expect(await home.bad({ TELEGRAM_BOT_TOKEN: "1:x" })).toMatchObject([
      { path: "channels.telegram.accounts.work.botToken" },
    ]);
  });

  test.each([
    ["env:NOT_THERE", "NOT_THERE is not set"],
    ["env:not a name", "not the name of a variable"],
    ["file:token", "absolute path"],
    ["file:/no/such/file", "ENOENT"],
    ["file:/dev/zero", "not a regular file"],
    ["file:/tmp", "not a regular file"],
  ])("%s says what is wrong with it", async (value, message) => {
    const home = scratch();
    home.write(telegram(value));
    const [problem] = await home.bad();
    expect(problem).toMatchObject({ path: "channels.telegram.botToken", value: JSON.stringify(value), line: 1 });
    expect(problem?.message).toContain(message);
  });

  test("a file that others can read, a link and an empty file are refused", async () => {
    const home = scratch();
    const loose = join(home.dir, "loose");
    writeFileSync(loose, "1:x");
    chmodSync(loose, 0o640);
    const link = join(home.dir, "link");
    symlinkSync(loose, link);
    const empty = join(home.dir, "empty");
    writeFileSync(empty, "\n", { mode: 0o600 });
    for (const [path, message] of [
      [loose, "chmod 600"],
      [link, "symbolic link"],
      [empty, "empty"],
    ] as const) {
      home.write(telegram(`file:${path}`));
      expect((await home.bad())[0]?.message).toContain(message);
    }
  });

  test("swapped Slack tokens are recognised", async () => {
    const home = scratch();
    home.write(`{ channels: { slack: { botToken: "xapp-1", appToken: "xoxb-1" } } }`);
    const problems = await home.bad();
    expect(problems.map(({ path }) => path)).toEqual(["channels.slack.botToken", "channels.slack.appToken"]);
  });

  test("each way of connecting needs its own", async () => {
    const home = scratch();
    home.write(`{ channels: {
      slack: { mode: "http", botToken: "xoxb-1" },
      telegram: { botToken: "1:x", webhookUrl: "https://bot.example.org/hook" },
      discord: {},
    } }`);
    expect((await home.bad()).map(({ path }) => path)).toEqual([
      "channels.slack.signingSecret",
      "channels.discord.token",
      "channels.telegram.webhookSecret",
    ]);
  });
});

describe("trust", () => {
  test("a file that everybody may write is not believed", async () => {
    const home = scratch();
    home.write("{}");
    chmodSync(home.file, 0o666);
    const problems = await home.bad();
    expect(problems[0]?.message).toContain("chmod 600");
  });

  test.runIf(asUser)("a file that can not be read is a problem, not a crash", async () => {
    const home = scratch();
    home.write("{}", 0o000);
    expect((await home.bad())[0]?.message).toContain("EACCES");
  });

  test("a directory in its place is a problem, not a crash", async () => {
    const home = scratch();
    mkdirSync(home.file);
    expect((await home.bad())[0]?.message).toContain("not a regular file");
  });
});

test("~/ in directories is the home of whoever runs the gateway", async () => {
  const home = scratch();
  home.write(`{
    tools: { exec: { pathPrepend: ["~/bin", "/opt/bin"] } },
    agents: { defaults: { workspace: "~/work" }, list: [{ id: "a", workspace: "~", tools: { exec: { safeBinTrustedDirs: ["~/sb"] } } }] },
  }`);
  const { config } = await home.good();
  expect(config.tools.exec.pathPrepend).toEqual([join(home.dir, "bin"), "/opt/bin"]);
  expect(config.agents.defaults.workspace).toBe(join(home.dir, "work"));
  expect(config.agents.list[0]?.workspace).toBe(home.dir);
  expect(config.agents.list[0]?.tools?.exec?.safeBinTrustedDirs).toEqual([join(home.dir, "sb")]);
});
