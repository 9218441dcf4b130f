/** `channels`, `pairing` and `doctor` as somebody types them who connects a Slack app. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import JSON5 from "json5";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SlackEmulator } from "../emulators/slack/slack-emulator.ts";
import { startTestGateway, type TestGateway, TOKEN } from "../support/gateway.ts";
import { eventually } from "../support/state.ts";
import { type CliHome, cliHome } from "./run-cli.ts";

function configured(config: object): CliHome {
  const home = cliHome();
  writeFileSync(join(home.dir, "openclaw.json"), JSON5.stringify(config));
  return home;
}

interface Manifest {
  readonly display_information: { readonly name: string };
  readonly features: { readonly slash_commands: readonly { readonly command: string; readonly url?: string }[] };
  readonly oauth_config: { readonly scopes: { readonly bot: readonly string[] } };
  readonly settings: {
    readonly socket_mode_enabled: boolean;
    readonly interactivity: { readonly is_enabled: boolean; readonly request_url?: string };
    readonly event_subscriptions: { readonly bot_events: readonly string[]; readonly request_url?: string };
  };
}

describe("channels slack-manifest", () => {
  const manifest = async (config: object, ...flags: string[]) => {
    const { code, out, err } = await configured(config).run("channels", "slack-manifest", ...flags);
    return { code, err, made: out === "" ? undefined : (JSON.parse(out) as Manifest) };
  };
  const commandsOf = (made: Manifest | undefined) => made?.features.slash_commands.map((one) => one.command) ?? [];

  test("without any configuration: Socket Mode, every scope and event, buttons on, all commands and the wrapper", async () => {
    const { code, made } = await manifest({});
    expect(code).toBe(0);
    expect(made?.settings).toMatchObject({ socket_mode_enabled: true, interactivity: { is_enabled: true } });
    expect(made?.oauth_config.scopes.bot).toEqual(
      expect.arrayContaining(["chat:write", "commands", "files:write", "usergroups:read"]),
    );
    expect(made?.settings.event_subscriptions.bot_events).toEqual(
      expect.arrayContaining(["app_mention", "message.im"]),
    );
    expect(commandsOf(made)).toEqual(
      expect.arrayContaining(["/openclaw", "/exec", "/approve", "/process", "/stop", "/pair"]),
    );
    // Slack keeps these for itself.
    expect(commandsOf(made)).not.toEqual(expect.arrayContaining(["/status"]));
  });

  test("of an account in HTTP mode: its own path under the public address", async () => {
    const { made } = await manifest({
      gateway: { publicUrl: "https://exec.example.org/" },
      channels: { slack: { mode: "http", webhookPath: "/hooks/slack" } },
    });
    const url = "https://exec.example.org/hooks/slack";
    expect(made?.settings).toMatchObject({
      socket_mode_enabled: false,
      interactivity: { request_url: url },
      event_subscriptions: { request_url: url },
    });
    expect(new Set(made?.features.slash_commands.map((one) => one.url))).toEqual(new Set([url]));
  });

  test("--http and --name go before the configuration; a path that is not the gateway's is remarked", async () => {
    const { made, err } = await manifest({}, "--http", "https://a.example.org/other", "--name", "ops bot");
    expect(made?.settings.interactivity.request_url).toBe("https://a.example.org/other");
    expect(made?.display_information.name).toBe("ops bot");
    expect(err).toContain("/slack/events");
  });

  test("an address Slack would not post to, an unknown account and a broken configuration are errors that say what to do", async () => {
    const plain = await manifest({}, "--http", "http://a.example.org/slack/events");
    expect([plain.code, plain.made]).toEqual([2, undefined]);
    expect(plain.err).toContain("https");
    const unknown = await manifest(
      { channels: { slack: { accounts: { work: { botToken: "xoxb-1", appToken: "xapp-1" } } } } },
      "--account",
      "home",
    );
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining("there is work")]);
    expect((await manifest({ channels: { slack: { mode: "carrier-pigeon" } } })).code).toBe(1);
  });

  test("slashCommand and commands.native decide which commands the app has", async () => {
    const slack = { slashCommand: { name: "ops" } };
    expect(commandsOf((await manifest({ channels: { slack } })).made)[0]).toBe("/ops");
    const none = await manifest({ channels: { slack: { slashCommand: { enabled: false } } } });
    expect(commandsOf(none.made)).toContain("/exec");
    expect(commandsOf(none.made)).not.toContain("/openclaw");
    const only = await manifest({ channels: { slack: { commands: { native: false } } } });
    expect(commandsOf(only.made)).toEqual(["/openclaw"]);
    expect(commandsOf((await manifest({ commands: { native: false } })).made)).toEqual(["/openclaw"]);
  });
});

describe("doctor", () => {
  test.each([
    ["all", /7 decide; cards go to them directly$/m],
    ["dm", /buttons: in direct messages only \(channels\.telegram\.capabilities\.inlineButtons\)/],
    ["group", /buttons: in groups only/],
    ["off", /approvals on telegram: 7 decide.*buttons: no, decisions are typed/],
  ])("says where Telegram has buttons: %s", async (inlineButtons, line) => {
    const telegram = { capabilities: { inlineButtons }, execApprovals: { approvers: ["7"] } };
    const { out } = await configured({ channels: { telegram } }).runWith(
      { env: { TELEGRAM_BOT_TOKEN: `7:${"x".repeat(35)}` } },
      "doctor",
    );
    expect(out).toMatch(line);
  });

  test.each([
    [{ channels: { slack: {} } }, /warning\s+approvals on slack: nobody may decide here.*execApprovals.approvers/],
    [
      { channels: { slack: {} }, commands: { ownerAllowFrom: ["slack:U1"] } },
      /ok\s+approvals on slack: U1 decide; cards go to them directly/,
    ],
    [
      {
        accessGroups: { ops: { type: "slack.usergroup", usergroup: "S0OPSTEAM" } },
        channels: { slack: { execApprovals: { approvers: ["accessGroup:ops"] } } },
      },
      /warning\s+approvals on slack: accessGroup:ops may decide, but no card can be sent/,
    ],
    [
      {
        accessGroups: { ops: { type: "slack.usergroup", usergroup: "S0OPSTEAM" } },
        channels: { slack: { execApprovals: { approvers: ["accessGroup:ops"], target: "channel" } } },
      },
      /ok\s+approvals on slack: accessGroup:ops decide/,
    ],
    [{ channels: { slack: { execApprovals: { enabled: false } } } }, /ok\s+approvals on slack: off/],
    [{ channels: { slack: {} }, commands: { useAccessGroups: false } }, /useAccessGroups is off/],
  ])("%j", async (config, line) => {
    const env = { SLACK_BOT_TOKEN: "xoxb-1", SLACK_APP_TOKEN: "xapp-1" };
    expect((await configured(config).runWith({ env }, "doctor")).out).toMatch(line);
  });
});

describe("against a running gateway", () => {
  const SAM = "U0SAMROE1";
  const emulator = new SlackEmulator();
  let gateway: TestGateway;
  const run = (...argv: string[]) =>
    cliHome().runWith({ env: { OPENCLAW_GATEWAY_URL: gateway.url, OPENCLAW_GATEWAY_TOKEN: TOKEN } }, ...argv);

  beforeAll(async () => {
    await emulator.start();
    emulator.workspace.users.set(SAM, { id: SAM, name: "sam", realName: "Sam Roe", locale: "en-US", isBot: false });
    emulator.api.scopes = emulator.api.scopes.filter((scope) => scope !== "files:write");
    gateway = await startTestGateway({
      env: { SLACK_APP_TOKEN: emulator.tokens.app },
      config: {
        tools: { exec: { mode: "ask" } },
        commands: { ownerAllowFrom: ["slack:U0ALICENG"] },
        channels: {
          slack: {
            apiRoot: emulator.apiUrl,
            botToken: emulator.tokens.bot,
            accounts: {
              work: { botToken: "xoxb-of-nobody", appToken: "xapp-of-nobody", execApprovals: { enabled: false } },
            },
          },
        },
      },
    });
    await eventually(() => emulator.openSockets === 1, 15_000);
  }, 60_000);
  afterAll(async () => {
    await gateway?.stop();
    await emulator.stop();
  });

  test("channels status: connected as whom, what is missing, who approves, buttons; an account that failed fails it", async () => {
    const { code, out } = await run("channels", "status");
    expect(out).toMatch(/^slack {16}connected: @openclaw in Acme; missing scopes: files:write$/m);
    expect(out).toMatch(/^ {21}approvers: U0ALICENG; buttons: yes$/m);
    expect(out).toMatch(/^slack\/work {11}failed: the token is not valid; check channels.slack \(invalid_auth\)$/m);
    expect(out).toMatch(/approvers: nobody \(cards go to the web chat\)/);
    expect(code).toBe(1);
    const json = JSON.parse((await run("channels", "status", "--json")).out) as { channel: string; state: string }[];
    expect(json.map((one) => `${one.channel} ${one.state}`)).toEqual([
      "web connected",
      "slack connected",
      "slack failed",
    ]);
    expect(out).not.toMatch(/xox[bp]-|xapp-/);
  });

  test("pairing: list, approve by the channel's name and the code in any writing, a wrong channel or code says so", async () => {
    await emulator.say(SAM, emulator.workspace.openIm(SAM).id, "hello");
    const waiting = await eventually(async () => {
      const { out } = await run("pairing", "list", "slack");
      return out.includes(SAM) && out;
    }, 15_000);
    const code = /^([A-HJ-NP-Z2-9]{8}) {2}sam slack:U0SAMROE1, until /m.exec(waiting)?.[1] ?? "";
    expect(code).toHaveLength(8);
    expect(await run("pairing", "approve", "telegram", code)).toMatchObject({
      code: 1,
      err: expect.stringContaining("Nobody on telegram"),
    });
    expect(await run("pairing", "approve", code, "--account", "second")).toMatchObject({
      code: 1,
      err: expect.stringContaining("Nobody on second is waiting"),
    });
    expect(await run("pairing", "approve", "WRONG234")).toMatchObject({
      code: 1,
      err: expect.stringContaining("No pairing request"),
    });
    const approved = await run(
      "pairing",
      "approve",
      "slack",
      `${code.slice(0, 4).toLowerCase()}-${code.slice(4)}`,
      "--account",
      "default",
      "--notify",
    );
    expect([approved.code, approved.out]).toEqual([0, expect.stringContaining(`sam slack:${SAM} may now talk`)]);
    await emulator.waitForMessage(
      (message) => message.channel === emulator.workspace.openIm(SAM).id && message.text.includes("You are let in"),
      15_000,
    );
    expect((await run("pairing", "list", "slack")).out).toContain("Nobody is waiting");
    expect(await run("pairing", "list", "fax")).toMatchObject({ code: 2 });
    expect(await run("pairing", "approve", "fax", "WRONG234")).toMatchObject({
      code: 2,
      err: expect.stringContaining(`There is no channel "fax". Use one of: slack, discord, telegram.`),
    });
  });
});
