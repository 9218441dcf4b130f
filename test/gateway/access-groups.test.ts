/** Access groups whose members a platform keeps, through the whole product: who is in them, and what happens when nobody can say. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FAILED_MS } from "../../src/gateway/access-groups.ts";
import { DiscordEmulator } from "../emulators/discord/emulator.ts";
import { EmulatorClock } from "../emulators/shared/clock.ts";
import { SlackEmulator } from "../emulators/slack/slack-emulator.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";

const WAIT_MS = 10_000;
const FULL = { tools: { exec: { mode: "full" } } };
let gateway: TestGateway;
let lines: string[];
const onLog = (line: object) => void lines.push(JSON.stringify(line));

beforeEach(() => {
  lines = [];
});

describe("slack.usergroup", () => {
  const [ALICE, BOB, GROUP] = ["U0ALICENG", "U0BRAMWIT", "S0OPSTEAM"];
  let emulator: SlackEmulator;
  let clock: EmulatorClock;

  async function start(): Promise<void> {
    clock = new EmulatorClock();
    gateway = await startTestGateway({
      onLog,
      clock,
      config: {
        ...FULL,
        accessGroups: { ops: { type: "slack.usergroup", usergroup: GROUP } },
        channels: {
          slack: {
            mode: "socket",
            botToken: emulator.tokens.bot,
            appToken: emulator.tokens.app,
            apiRoot: emulator.apiUrl,
            dmPolicy: "allowlist",
            allowFrom: ["accessGroup:ops"],
          },
        },
      },
    });
    await expect.poll(() => emulator.openSockets, { timeout: WAIT_MS }).toBe(1);
  }
  const screen = (who: string, chat: string) => emulator.screenText(who, chat);
  const asked = () => emulator.journal.calls("usergroups.users.list").length;
  const dmOf = (who: string) => `D${who.slice(1)}`;

  beforeEach(async () => {
    emulator = new SlackEmulator();
    await emulator.start();
    emulator.workspace.userGroups.set(GROUP, { handle: "ops", members: [ALICE] });
  });
  afterEach(async () => {
    await gateway.stop();
    await emulator.stop();
    expect(emulator.violations).toEqual([]);
  });

  it("lets its members in and nobody else, asks once for many messages, and follows who leaves", async () => {
    await start();
    await emulator.say(ALICE, dmOf(ALICE), "exec echo fo''r alice");
    await expect.poll(() => screen(ALICE, dmOf(ALICE)), { timeout: WAIT_MS }).toContain("for alice\n");
    await emulator.say(BOB, dmOf(BOB), "exec echo fo''r bob");
    await emulator.say(ALICE, dmOf(ALICE), "exec echo ag''ain");
    await expect.poll(() => screen(ALICE, dmOf(ALICE)), { timeout: WAIT_MS }).toContain("again\n");
    expect(asked()).toBe(1);
    expect(screen(BOB, dmOf(BOB))).not.toContain("openclaw:");
    emulator.workspace.userGroups.set(GROUP, { handle: "ops", members: [BOB] });
    clock.advance(5 * 60_000 + 1);
    await emulator.say(BOB, dmOf(BOB), "exec echo no''w bob");
    await expect.poll(() => screen(BOB, dmOf(BOB)), { timeout: WAIT_MS }).toContain("now bob\n");
    await emulator.say(ALICE, dmOf(ALICE), "exec echo to''o late");
    await emulator.say(BOB, dmOf(BOB), "exec echo la''st");
    await expect.poll(() => screen(BOB, dmOf(BOB)), { timeout: WAIT_MS }).toContain("last\n");
    expect(screen(ALICE, dmOf(ALICE))).not.toContain("too late\n");
  }, 60_000);

  it("without the scope nobody is in it; the status names the scope, the log says what failed, and it is asked again later", async () => {
    const all = emulator.api.scopes;
    emulator.api.scopes = all.filter((scope) => scope !== "usergroups:read");
    await start();
    const { channels } = await (await gateway.person()).call("channels.status", {});
    expect(JSON.stringify(channels)).toContain("missing scopes: usergroups:read");
    await emulator.say(ALICE, dmOf(ALICE), "exec echo ne''ver");
    await expect
      .poll(() => lines.join("\n"), { timeout: WAIT_MS })
      .toMatch(/who is in a group.*missing_scope|missing_scope.*who is in a group/);
    emulator.api.scopes = all;
    clock.advance(FAILED_MS + 1);
    await emulator.say(ALICE, dmOf(ALICE), "exec echo no''w");
    await expect.poll(() => screen(ALICE, dmOf(ALICE)), { timeout: WAIT_MS }).toContain("now\n");
    expect(screen(ALICE, dmOf(ALICE))).not.toContain("never\n");
  }, 60_000);
});

describe("discord.channelAudience", () => {
  const VIEW = "1024";
  let emulator: DiscordEmulator;
  let [ruler, insider, named, outsider, stranger] = ["", "", "", "", ""];

  beforeEach(async () => {
    emulator = new DiscordEmulator();
    await emulator.start();
    [ruler, insider, named, outsider, stranger] = ["ruler", "insider", "named", "outsider", "stranger"].map((name) =>
      emulator.addPerson(name),
    ) as [string, string, string, string, string];
    const guild = emulator.addGuild("Ops", [ruler, insider, named, outsider]);
    const place = emulator.addChannel(guild, "war-room");
    const role = emulator.addRole(guild, "on call", { for: [insider] });
    emulator.overwrite(place, guild, { deny: VIEW });
    emulator.overwrite(place, role, { allow: VIEW });
    emulator.overwrite(place, named, { allow: VIEW });
    gateway = await startTestGateway({
      onLog,
      config: {
        ...FULL,
        accessGroups: { ops: { type: "discord.channelAudience", channel: place } },
        channels: {
          discord: {
            token: emulator.token,
            apiRoot: `${emulator.url}/api`,
            dmPolicy: "allowlist",
            allowFrom: ["accessGroup:ops"],
          },
        },
      },
    });
    await expect.poll(() => emulator.gateway.connected(), { timeout: WAIT_MS }).toBe(1);
  });
  afterEach(async () => {
    await gateway.stop();
    await emulator.stop();
    expect(emulator.violations).toEqual([]);
  });
  const says = (who: string, word: string) =>
    emulator.say(who, emulator.dm(who), `/exec echo ${word.slice(0, 2)}''${word.slice(2)}`);
  const sees = (who: string) => emulator.screenText(who, emulator.dm(who));

  it("is who may see the channel: by role, by name, as owner; not those who may not, nor people of elsewhere", async () => {
    for (const who of [outsider, stranger]) await says(who, "never");
    for (const who of [ruler, insider, named]) await says(who, "hello");
    for (const who of [ruler, insider, named])
      await expect.poll(() => sees(who), { timeout: WAIT_MS }).toMatch(/\nhello\n/);
    for (const who of [outsider, stranger]) expect(sees(who)).not.toContain("opsbot");
  }, 40_000);

  it("nobody while Discord can not say", async () => {
    emulator.fail("GET /guilds/{guild_id}/members/{user_id}", { status: 503 });
    await says(insider, "never");
    await expect.poll(() => lines.join("\n"), { timeout: WAIT_MS }).toContain("who is in a group");
    await says(named, "hello");
    await expect.poll(() => sees(named), { timeout: WAIT_MS }).toMatch(/\nhello\n/);
    expect(sees(insider)).not.toContain("opsbot");
  }, 40_000);
});
