import { describe, expect, test } from "vitest";
import { LANGUAGES } from "../../../src/core/words/languages.ts";
import { scratch } from "./scratch.ts";

describe("defaults", () => {
  test("are those of the documentation", async () => {
    const { config } = await scratch().good();
    expect(config.tools.exec).toMatchObject({
      notifyOnExit: true,
      notifyOnExitEmptySuccess: false,
      approvalRunningNoticeMs: 10_000,
      timeoutSec: 1_800,
      strictInlineEval: false,
      commandHighlighting: false,
      applyPatch: { enabled: true, workspaceOnly: true },
    });
    expect(config.approvals).toMatchObject({ timeoutSec: 1_800, selfApproval: "allow", wakeOnDenial: false });
    expect(config.commands).toMatchObject({ useAccessGroups: true, bash: false, ownerAllowFrom: [] });
    expect(config.session.dmScope).toBe("per-channel-peer");
    expect(config.gateway).toMatchObject({ port: 18_789, bind: "loopback", auth: { mode: "token" } });
    expect(config.agents.defaults.heartbeat).toMatchObject({ every: "30m", target: "last", ackMaxChars: 300 });
    expect(config.agents.defaults.sandbox).toMatchObject({
      mode: "off",
      docker: { network: "none", capDrop: ["ALL"] },
    });
  });

  test("leave open what a layer or a variable may decide", async () => {
    const { config } = await scratch().good();
    for (const key of ["host", "mode", "security", "ask", "node", "backgroundMs", "cleanupMs", "safeBins"]) {
      expect(config.tools.exec).not.toHaveProperty(key);
    }
  });

  test("an agent holds only what is written for it", async () => {
    const home = scratch();
    home.write(`{ agents: { list: [{ id: "a", tools: { exec: { ask: "always" } } }] } }`);
    const { config } = await home.good();
    expect(config.agents.list[0]).toEqual({ id: "a", tools: { exec: { ask: "always" } } });
  });

  test("the result can not be changed by whoever gets it", async () => {
    const { config } = await scratch().good();
    expect(() => {
      (config.tools.exec as { timeoutSec: number }).timeoutSec = 1;
    }).toThrow(TypeError);
    expect(Object.isFrozen(config.agents.defaults.sandbox.docker.tmpfs)).toBe(true);
  });
});

describe("values", () => {
  test.each([
    ["timeout 0 means none (default-timeout-on-background)", "tools: { exec: { timeoutSec: 0 } }"],
    ["an approval may wait longer than a timer can count (expiry-timer-long)", "approvals: { timeoutSec: 2592000 }"],
    ["a small Telegram id may be a number", "channels: { telegram: { enabled: false, allowFrom: [42] } }"],
    ["mode alone", 'tools: { exec: { mode: "auto" } }'],
    ["security and ask together", 'tools: { exec: { security: "allowlist", ask: "on-miss" } }'],
    ["an own IPv6 network", 'gateway: { nodes: { autoApproveCidrs: ["fd00::/8", "10.0.0.0/8"] } }'],
  ])("accepted: %s", async (_name, text) => {
    const home = scratch();
    home.write(`{ ${text} }`);
    await expect(home.good()).resolves.toMatchObject({ ok: true });
  });

  test.each([
    ["tools: { exec: { timeoutSec: -1 } }", "tools.exec.timeoutSec", "at least 0"],
    ["tools: { exec: { timeoutSec: NaN } }", "tools.exec.timeoutSec", "number"],
    ["tools: { exec: { timeoutSec: null } }", "tools.exec.timeoutSec", "number"],
    ['tools: { exec: { timeoutSec: "60" } }', "tools.exec.timeoutSec", "without quotes"],
    ['tools: { exec: { commandHighlighting: "true" } }', "tools.exec.commandHighlighting", "without quotes"],
    ["tools: { exec: { backgroundMs: 1.5 } }", "tools.exec.backgroundMs", "whole number"],
    ["tools: { exec: { cleanupMs: 1000 } }", "tools.exec.cleanupMs", "at least 60000"],
    ['tools: { exec: { host: "build-1.lan" } }', "tools.exec.host", 'host: "node"'],
    ['tools: { exec: { pathPrepend: ["bin"] } }', "tools.exec.pathPrepend[0]", "absolute"],
    ['tools: { exec: { mode: "ask", ask: "off" } }', "tools.exec.ask", "not both"],
    [
      'agents: { list: [{ id: "a", tools: { exec: { mode: "ask", security: "full" } } }] }',
      "agents.list[0].tools.exec.security",
      "not both",
    ],
    ['agents: { list: [{ id: "a" }, { id: "A" }] }', "agents.list[1].id", "two agents"],
    ['agents: { list: [{ id: "__proto__" }] }', "agents.list[0].id", "agent id"],
    [
      'agents: { list: [{ id: "a", default: true }, { id: "b", default: true }] }',
      "agents.list[1].default",
      "agents.list[0] already is",
    ],
    ['bindings: [{ agentId: "ghost", match: {} }]', "bindings[0].agentId", "no such agent"],
    ["channels: { discord: { allowFrom: [123456789012345678] } }", "channels.discord.allowFrom[0]", "in quotes"],
    ["channels: { slack: { channels: { general: {} } } }", "channels.slack.channels.general", "names are not matched"],
    ['channels: { slack: { dmPolicy: "open" } }', "channels.slack.dmPolicy", 'allowFrom: ["*"]'],
    ['channels: { slack: { dmPolicy: "allowlist" } }', "channels.slack.dmPolicy", "at least one id"],
    [
      'channels: { telegram: { groupAllowFrom: ["-100123"] } }',
      "channels.telegram.groupAllowFrom[0]",
      "this is a group",
    ],
    ['commands: { ownerAllowFrom: ["*"] }', "commands.ownerAllowFrom[0]", "channel:id"],
    ['gateway: { bind: "lan", auth: { mode: "none" } }', "gateway.auth.mode", "only listens on loopback"],
    ['gateway: { bind: "custom" }', "gateway.bind", "gateway.host"],
    ['gateway: { host: "10.0.0.1" }', "gateway.host", "bind: custom"],
    ['agents: { defaults: { heartbeat: { every: "30 minutes" } } }', "agents.defaults.heartbeat.every", '"30m"'],
    [
      'agents: { defaults: { heartbeat: { activeHours: { start: "08:00", end: "25:00" } } } }',
      "agents.defaults.heartbeat.activeHours.end",
      "24:00",
    ],
    [
      'messages: { groupChat: { mentionPatterns: ["("] } }',
      "messages.groupChat.mentionPatterns[0]",
      "regular expression",
    ],
    ["tools: 5", "tools", "a group { … }"],
  ])("refused: { %s }", async (text, path, message) => {
    const home = scratch();
    home.write(`{ ${text} }`);
    const problems = await home.bad();
    expect(problems).toHaveLength(1);
    expect(problems[0]?.path).toBe(path);
    expect(problems[0]?.message).toContain(message);
  });
});

test("every language of the message catalogue can be chosen", async () => {
  for (const locale of LANGUAGES) {
    const home = scratch();
    home.write(JSON.stringify({ messages: { locale } }));
    expect((await home.good()).config.messages.locale).toBe(locale);
  }
});

describe("bot accounts", () => {
  const tokens = {
    SLACK_BOT_TOKEN: "xoxb-1",
    SLACK_APP_TOKEN: "xapp-1",
    TELEGRAM_BOT_TOKEN: "1:a",
    DISCORD_BOT_TOKEN: "d",
  };

  test("an account starts from the keys of its channel, field by field", async () => {
    const home = scratch();
    home.write(`{ channels: { slack: {
      botToken: "xoxb-root", requireMention: false, dm: { groupEnabled: true }, execApprovals: { target: "both" },
      accounts: { work: { botToken: "xoxb-work", appToken: "xapp-work", dm: { enabled: false }, execApprovals: { approvers: [7] } } },
    } } }`);
    const { config } = await home.good(tokens);
    const accounts = config.channels.slack?.accounts ?? {};
    expect(Object.keys(accounts)).toEqual(["default", "work"]);
    expect(accounts.work).toMatchObject({
      botToken: "xoxb-work",
      requireMention: false,
      dm: { enabled: false, groupEnabled: true },
      execApprovals: { enabled: "auto", target: "both", approvers: ["7"] },
    });
    expect(accounts.default).toMatchObject({ botToken: "xoxb-root", dm: { enabled: true, groupEnabled: true } });
  });

  test("without a token of its own a channel with named accounts has no default account", async () => {
    const home = scratch();
    home.write(`{ channels: { telegram: { accounts: { a: { botToken: "1:x" }, b: { botToken: "2:y" } } } } }`);
    const { config } = await home.good();
    expect(Object.keys(config.channels.telegram?.accounts ?? {})).toEqual(["a", "b"]);
  });

  test("a channel that is off keeps every account off", async () => {
    const home = scratch();
    home.write(`{ channels: { discord: { enabled: false, accounts: { a: { enabled: true } } } } }`);
    const { config, secrets } = await home.good();
    expect(config.channels.discord?.accounts.a?.enabled).toBe(false);
    expect(secrets.discord).toEqual({});
  });

  test("a Telegram account can not open to everybody what its channel keeps closed", async () => {
    const home = scratch();
    home.write(
      `{ channels: { telegram: { allowFrom: [1], accounts: { a: { botToken: "1:x", allowFrom: ["*", 2] } } } } }`,
    );
    const { config } = await home.good();
    expect(config.channels.telegram?.accounts.a?.allowFrom).toEqual(["2"]);
  });

  test("heartbeat visibility comes from the account, then the channel, then all channels", async () => {
    const home = scratch();
    home.write(`{ channels: {
      defaults: { heartbeat: { showOk: true, useIndicator: false } },
      slack: { heartbeat: { useIndicator: true } },
    } }`);
    const { config } = await home.good(tokens);
    expect(config.channels.slack?.accounts.default?.heartbeat).toEqual({
      showOk: true,
      showAlerts: true,
      useIndicator: true,
    });
  });

  test.each([
    ["a type nobody knows", { type: "slack.team", usergroup: "S0OPSTEAM" }, "accessGroups.ops.type"],
    ["no type", { members: { slack: ["U1"] } }, "accessGroups.ops.type"],
    ["people without a list", { type: "message.senders" }, "accessGroups.ops.members"],
    ["a user group by its name", { type: "slack.usergroup", usergroup: "@ops" }, "accessGroups.ops.usergroup"],
    ["a user group without one", { type: "slack.usergroup" }, "accessGroups.ops.usergroup"],
    ["an audience without a channel", { type: "discord.channelAudience" }, "accessGroups.ops.channel"],
    [
      "keys of another type",
      { type: "slack.usergroup", usergroup: "S0OPSTEAM", members: { slack: ["U1"] } },
      "accessGroups.ops.members",
    ],
  ])("an access group with %s is refused, with its key", async (_what, ops, path) => {
    const home = scratch();
    home.write(JSON.stringify({ accessGroups: { ops } }));
    expect(await home.bad()).toMatchObject([{ path }]);
  });

  test("two accounts in http mode can not share a path", async () => {
    const home = scratch();
    home.write(`{ channels: { slack: { mode: "http", accounts: {
      a: { botToken: "xoxb-a", signingSecret: "s" },
      b: { botToken: "xoxb-b", signingSecret: "t", webhookPath: "/slack/events" },
    } } } }`);
    expect(await home.bad()).toMatchObject([{ path: "channels.slack.accounts.b.webhookPath" }]);
  });
});
