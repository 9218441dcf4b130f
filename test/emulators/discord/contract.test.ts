/** The genuine client library, without any code of the product, against the emulator. */
import {
  type ButtonInteraction,
  ButtonStyle,
  Client,
  type ClientEvents,
  ComponentType,
  DiscordAPIError,
  Events,
  GatewayIntentBits,
  MessageFlags,
  Partials,
  Routes,
} from "discord.js";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { DiscordEmulator } from "./emulator.ts";

let emulator: DiscordEmulator;
let alice: string;
let bob: string;
let channel: string;

function newClient(): Client {
  const client = new Client({
    intents: [
      GatewayIntentBits.Guilds,
      GatewayIntentBits.GuildMessages,
      GatewayIntentBits.MessageContent,
      GatewayIntentBits.DirectMessages,
    ],
    partials: [Partials.Channel],
    rest: { api: `${emulator.url}/api`, version: "10" },
  });
  onTestFinished(() => client.destroy());
  return client;
}

function once<K extends keyof ClientEvents>(client: Client, event: K): Promise<ClientEvents[K]> {
  return new Promise((resolve) =>
    client.once(event as never, (...args: unknown[]) => resolve(args as ClientEvents[K])),
  );
}

async function loggedIn(): Promise<Client> {
  const client = newClient();
  const ready = once(client, Events.ClientReady);
  await client.login(emulator.token);
  await ready;
  return client;
}

const EXEC = {
  name: "exec",
  description: "Run a command",
  options: [
    { type: 3, name: "command", description: "What to run", required: true },
    { type: 3, name: "host", description: "Where", choices: [{ name: "node", value: "node" }] },
    { type: 3, name: "node", description: "Which node", autocomplete: true },
  ],
};

const row = (customId: string, label = "Allow") => ({
  type: ComponentType.ActionRow,
  components: [{ type: ComponentType.Button, style: ButtonStyle.Success, label, custom_id: customId }],
});

beforeEach(async () => {
  emulator = new DiscordEmulator();
  await emulator.start();
  alice = emulator.addPerson("alice");
  bob = emulator.addPerson("bob", { locale: "nl" });
  const guild = emulator.addGuild("Ops", [alice, bob]);
  channel = emulator.addChannel(guild, "deploys");
});

afterEach(async () => {
  await emulator.stop();
});

describe("discord emulator with raw discord.js", () => {
  it("logs in and hears messages in guilds, threads and direct messages", async () => {
    const client = await loggedIn();
    const heard: string[] = [];
    client.on(Events.MessageCreate, (message) => void heard.push(`${message.author.username}:${message.content}`));
    await emulator.say(alice, channel, "one");
    await emulator.say(alice, emulator.dm(alice), "two");
    await emulator.say(alice, emulator.addThread(channel, "run 1"), "three");
    await expect.poll(() => heard).toEqual(["alice:one", "alice:two", "alice:three"]);
    expect(emulator.violations).toEqual([]);
  });

  it("hides other people's text from a bot without the message content intent, and refuses a privileged one", async () => {
    const client = new Client({
      intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages],
      rest: { api: `${emulator.url}/api`, version: "10" },
    });
    onTestFinished(() => client.destroy());
    const ready = once(client, Events.ClientReady);
    await client.login(emulator.token);
    await ready;
    const heard: string[] = [];
    client.on(Events.MessageCreate, (message) => void heard.push(message.content));
    await emulator.say(alice, channel, "secret");
    await emulator.say(alice, channel, "@bot hi");
    await expect.poll(() => heard).toEqual(["", `<@${emulator.world.botId}> hi`]);
    emulator.allowedIntents = 0;
    await expect(newClient().login(emulator.token)).rejects.toThrow(/disallowed intents/i);
  });

  it("refuses a wrong token at the REST API and at the gateway", async () => {
    await expect(newClient().login(`${emulator.token}x`)).rejects.toMatchObject({ code: "TokenInvalid" });
  });

  it("runs a slash command: registered, deferred, answered, followed up for one person alone", async () => {
    const client = await loggedIn();
    await client.rest.put(Routes.applicationCommands(client.application?.id ?? ""), { body: [EXEC] });
    client.on(Events.InteractionCreate, async (interaction) => {
      if (!interaction.isChatInputCommand()) return;
      await interaction.deferReply();
      await interaction.editReply(
        `ran ${interaction.options.getString("command")} on ${interaction.options.getString("host")}`,
      );
      await interaction.followUp({ content: "psst", flags: MessageFlags.Ephemeral });
    });
    const state = await emulator.slash(alice, channel, "/exec", "npm test host:node");
    expect(state.answered).toBe("deferredMessage");
    await emulator.waitForMessage((one) => one.content === "psst");
    expect(emulator.screenText(alice, channel)).toBe(
      "opsbot: ran npm test on node\n\nopsbot: psst\n(only you see this)",
    );
    expect(emulator.screenText(bob, channel)).toBe("opsbot: ran npm test on node");
    expect(emulator.violations).toEqual([]);
  });

  it("suggests options while typing", async () => {
    const client = await loggedIn();
    await client.rest.put(Routes.applicationCommands(client.application?.id ?? ""), { body: [EXEC] });
    client.on(Events.InteractionCreate, async (interaction) => {
      if (interaction.isAutocomplete())
        await interaction.respond([{ name: "mac-1", value: interaction.options.getFocused() }]);
    });
    const state = await emulator.autocomplete(alice, channel, "/exec", "node", "mac");
    expect(state.choices).toEqual([{ name: "mac-1", value: "mac" }]);
  });

  it("presses a button, updates its message, opens a form and takes it", async () => {
    const client = await loggedIn();
    const channelObject = await client.channels.fetch(channel);
    if (!channelObject?.isSendable()) throw new Error("not sendable");
    const sent = await channelObject.send({ content: "card", components: [row("a"), row("b", "Deny")] as never });
    client.on(Events.InteractionCreate, async (interaction) => {
      if (interaction.isModalSubmit() && interaction.isFromMessage())
        await interaction.update({ content: `denied: ${interaction.fields.getTextInputValue("why")}`, components: [] });
      if (!interaction.isButton()) return;
      if (interaction.customId === "a") await interaction.deferUpdate();
      else
        await interaction.showModal({
          custom_id: "m",
          title: "Reason",
          components: [
            {
              type: ComponentType.Label,
              label: "Why?",
              component: { type: ComponentType.TextInput, custom_id: "why", style: 1 },
            },
          ],
        });
    });
    expect((await emulator.press(alice, sent.id, "Allow")).answered).toBe("deferredUpdate");
    expect((await emulator.press(alice, sent.id, "Deny")).answered).toBe("modal");
    expect((await emulator.submitModal(alice, { why: "not now" })).answered).toBe("update");
    const message = await emulator.waitForMessage((one) => one.content === "denied: not now");
    expect(message.history).toEqual(["card"]);
    expect(message.components).toEqual([]);
    expect(emulator.violations).toEqual([]);
  });

  it("takes components v2 with a file, edits them, and gives the file back", async () => {
    const client = await loggedIn();
    const body = {
      flags: MessageFlags.IsComponentsV2,
      components: [
        {
          type: ComponentType.Container,
          accent_color: 0xffa500,
          components: [
            { type: ComponentType.TextDisplay, content: "## Approval" },
            { type: ComponentType.File, file: { url: "attachment://cmd.txt" } },
            row("a"),
          ],
        },
      ],
    };
    const files = [{ name: "cmd.txt", data: Buffer.from("rm -rf /") }];
    const sent = (await client.rest.post(Routes.channelMessages(channel), { body, files })) as {
      id: string;
      attachments: { url: string }[];
    };
    expect(await (await fetch(sent.attachments[0]?.url ?? "")).text()).toBe("rm -rf /");
    const smaller = { components: [{ type: ComponentType.TextDisplay, content: "Denied" }], attachments: [] };
    await client.rest.patch(Routes.channelMessage(channel, sent.id), { body: smaller });
    expect(emulator.screenText(alice, channel)).toBe("opsbot: Denied");
    expect(emulator.violations).toEqual([]);
  });

  const text = (length: number) => ({ type: ComponentType.TextDisplay, content: "x".repeat(length) });
  const v2 = (...components: unknown[]) => ({ flags: MessageFlags.IsComponentsV2, components });
  const buttons = (count: number) => ({
    type: ComponentType.ActionRow,
    components: Array.from({ length: count }, (_, index) => ({
      type: 2,
      style: 1,
      label: "b",
      custom_id: `b${index}`,
    })),
  });
  it.each([
    ["2001 characters", { content: "x".repeat(2001) }, "BASE_TYPE_BAD_LENGTH"],
    ["six buttons in a row", { content: "x", components: [buttons(6)] }, "BASE_TYPE_BAD_LENGTH"],
    ["six rows", { content: "x", components: [1, 2, 3, 4, 5, 6].map((one) => row(`r${one}`)) }, "BASE_TYPE_BAD_LENGTH"],
    ["the same custom id twice", { content: "x", components: [row("a"), row("a")] }, "COMPONENT_CUSTOM_ID_DUPLICATED"],
    ["a custom id of 101", { content: "x", components: [row("a".repeat(101))] }, "BASE_TYPE_BAD_LENGTH"],
    ["a label of 81", { content: "x", components: [row("a", "l".repeat(81))] }, "BASE_TYPE_BAD_LENGTH"],
    [
      "content beside components v2",
      { ...v2(text(1)), content: "x" },
      "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
    ],
    ["4001 characters in components v2", v2(text(3000), text(1001)), "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED"],
    ["41 components", v2(...Array.from({ length: 41 }, () => text(1))), "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED"],
    [
      "a file that is not attached",
      v2({ type: 13, file: { url: "attachment://x.txt" } }),
      "REFERENCED_ATTACHMENT_NOT_FOUND",
    ],
    ["ephemeral outside an interaction", { content: "x", flags: MessageFlags.Ephemeral }, "MESSAGE_FLAGS_INVALID"],
  ])("refuses a message with %s", async (_what, body, code) => {
    const client = newClient();
    client.rest.setToken(emulator.token);
    const error = await client.rest.post(Routes.channelMessages(channel), { body }).catch((one: unknown) => one);
    expect(error).toBeInstanceOf(DiscordAPIError);
    expect((error as DiscordAPIError).code).toBe(50035);
    expect(JSON.stringify((error as DiscordAPIError).rawError)).toContain(code);
  });

  it.each([
    ["a name with capitals", [{ ...EXEC, name: "Exec" }], "APPLICATION_COMMAND_INVALID_NAME"],
    ["no description", [{ ...EXEC, description: "" }], "BASE_TYPE_BAD_LENGTH"],
    [
      "a required option after an optional one",
      [{ ...EXEC, options: [...EXEC.options].reverse() }],
      "OPTIONS_REQUIRED_INVALID",
    ],
    [
      "101 commands",
      Array.from({ length: 101 }, (_, one) => ({ ...EXEC, name: `c${one}` })),
      "APPLICATION_COMMANDS_MAX",
    ],
  ])("refuses commands with %s", async (_what, body, code) => {
    const client = newClient();
    client.rest.setToken(emulator.token);
    const error = await client.rest.put(Routes.applicationCommands("1"), { body }).catch((one: unknown) => one);
    expect(JSON.stringify((error as DiscordAPIError).rawError)).toContain(code);
  });

  it("makes one message of two sends with the same enforced nonce", async () => {
    const client = newClient();
    client.rest.setToken(emulator.token);
    const body = { content: "once", nonce: "abc", enforce_nonce: true };
    const first = (await client.rest.post(Routes.channelMessages(channel), { body })) as { id: string };
    const second = (await client.rest.post(Routes.channelMessages(channel), { body })) as { id: string };
    expect(second.id).toBe(first.id);
    expect(emulator.screenText(alice, channel)).toBe("opsbot: once");
  });

  it("takes one first answer per interaction, within 3 seconds, and follow-ups for 15 minutes", async () => {
    const client = await loggedIn();
    const channelObject = await client.channels.fetch(channel);
    if (!channelObject?.isSendable()) throw new Error("not sendable");
    const sent = await channelObject.send({ content: "card", components: [row("a")] as never });
    const pressed = once(client, Events.InteractionCreate);
    emulator.startPress(alice, sent.id, "Allow");
    const interaction = (await pressed)[0] as ButtonInteraction;
    await interaction.deferUpdate();
    const callback = Routes.interactionCallback(interaction.id, interaction.token);
    const again = client.rest.post(callback, { body: { type: 6 }, auth: false });
    await expect(again).rejects.toMatchObject({ code: 40060 });
    await interaction.followUp({ content: "still valid", flags: MessageFlags.Ephemeral });
    emulator.clock.advance(15 * 60_000);
    await expect(interaction.followUp("too late")).rejects.toMatchObject({ code: 50027 });

    const latePress = once(client, Events.InteractionCreate);
    const state = emulator.startPress(alice, sent.id, "Allow");
    const late = (await latePress)[0] as ButtonInteraction;
    emulator.clock.advance(3_100);
    await expect(late.deferUpdate()).rejects.toMatchObject({ code: 10062 });
    expect(state.answered).toBeUndefined();
    expect(emulator.violations).toEqual([expect.stringContaining("answered after 3 seconds")]);
  });

  it("edits and deletes only the bot's own messages", async () => {
    const client = newClient();
    client.rest.setToken(emulator.token);
    const id = await emulator.say(alice, channel, "mine");
    await expect(
      client.rest.patch(Routes.channelMessage(channel, id), { body: { content: "x" } }),
    ).rejects.toMatchObject({ code: 50005 });
    await expect(
      client.rest.patch(Routes.channelMessage(channel, "1"), { body: { content: "x" } }),
    ).rejects.toMatchObject({ code: 10008 });
    await expect(client.rest.post(Routes.channelMessages("1"), { body: { content: "x" } })).rejects.toMatchObject({
      code: 10003,
    });
  });

  it("refuses a direct message to somebody who takes none", async () => {
    const client = newClient();
    client.rest.setToken(emulator.token);
    const closed = emulator.addPerson("closed", { acceptsDms: false });
    const dm = (await client.rest.post(Routes.userChannels(), { body: { recipient_id: closed } })) as { id: string };
    await expect(client.rest.post(Routes.channelMessages(dm.id), { body: { content: "x" } })).rejects.toMatchObject({
      code: 50007,
    });
  });

  it("announces and enforces rate limits, and answers an injected one", async () => {
    const client = newClient();
    client.rest.setToken(emulator.token);
    client.rest.options.rejectOnRateLimit = () => true;
    const send = () => client.rest.post(Routes.channelMessages(channel), { body: { content: "x" } });
    for (let count = 0; count < 5; count++) await send();
    await expect(send()).rejects.toMatchObject({ name: expect.stringMatching(/RateLimit/) });
    emulator.clock.advance(6_000);
    const raw = (): Promise<Response> =>
      fetch(`${emulator.url}/api/v10/channels/${channel}/messages`, {
        method: "POST",
        headers: { authorization: `Bot ${emulator.token}`, "content-type": "application/json" },
        body: JSON.stringify({ content: "y", allowed_mentions: { parse: [] } }),
      });
    expect((await raw()).headers.get("x-ratelimit-remaining")).toBe("4");
    emulator.fail("POST /channels/{channel_id}/messages", { retryAfterS: 0.7 });
    const limited = await raw();
    expect([limited.status, (await limited.json()).retry_after]).toEqual([429, 0.7]);
  });

  it("resumes after op 7, a lost connection and silence, and replays what was missed", async () => {
    const client = await loggedIn();
    const heard: string[] = [];
    client.on(Events.MessageCreate, (message) => void heard.push(message.content));
    const cuts = [
      () => emulator.disconnect(),
      () => emulator.drop(),
      () => emulator.gateway.close(4000, "unknown error"),
    ];
    for (const [number, cut] of cuts.entries()) {
      const resumed = once(client, Events.ShardResume);
      cut();
      await emulator.say(alice, channel, `missed ${number}`);
      await resumed;
    }
    await expect.poll(() => heard).toEqual(["missed 0", "missed 1", "missed 2"]);
    expect([emulator.gateway.identifies, emulator.gateway.resumes]).toEqual([1, 3]);
  }, 30_000);

  it("makes the client identify again when the session is invalid", async () => {
    const client = await loggedIn();
    const ready = once(client, Events.ShardReady);
    emulator.gateway.invalidate();
    await ready;
    expect(emulator.gateway.identifies).toBe(2);
  }, 30_000);

  function bareSession(token: string): Promise<{ closed: Promise<number> }> {
    const socket = new WebSocket(`${emulator.wsUrl}/gw?v=10&encoding=json`);
    onTestFinished(() => socket.terminate());
    const closed = new Promise<number>((resolve) => socket.on("close", (code) => resolve(code)));
    return new Promise((resolve) =>
      socket.once("message", () => {
        socket.send(JSON.stringify({ op: 2, d: { token, intents: 513, properties: {} } }));
        resolve({ closed });
      }),
    );
  }

  it("closes a session with a wrong token, and one that sends no heartbeats", async () => {
    expect(await (await bareSession("wrong")).closed).toBe(4004);
    emulator.gateway.heartbeatIntervalMs = 100;
    expect(await (await bareSession(emulator.token)).closed).toBe(4009);
    expect(emulator.violations).toEqual(["gateway: no heartbeat in time"]);
  });

  it("answers a callback with the message it made, when asked to", async () => {
    const client = await loggedIn();
    await client.rest.put(Routes.applicationCommands(client.application?.id ?? ""), { body: [EXEC] });
    const answered = new Promise<string | undefined>((resolve) =>
      client.on(Events.InteractionCreate, async (interaction) => {
        if (!interaction.isChatInputCommand()) return;
        const response = await interaction.reply({ content: "hi", withResponse: true });
        resolve(response.resource?.message?.content);
      }),
    );
    await emulator.slash(alice, channel, "/exec", "ls");
    expect(await answered).toBe("hi");
    expect(emulator.violations).toEqual([]);
  });

  it("tells roles and overwrites as the client reckons with them", async () => {
    const carol = emulator.addPerson("carol");
    const other = emulator.addGuild("Secret", [carol, alice, bob]);
    const place = emulator.addChannel(other, "war-room");
    const role = emulator.addRole(other, "on call", { for: [alice] });
    emulator.overwrite(place, other, { deny: "1024" });
    emulator.overwrite(place, role, { allow: "1024" });
    const client = await loggedIn();
    const found = await client.channels.fetch(place, { force: true });
    if (!found || found.isDMBased() || found.isThread()) throw new Error("no channel of a server");
    const sees = async (user: string) => {
      const member = await found.guild.members.fetch({ user, force: true });
      return found.permissionsFor(member).has("ViewChannel");
    };
    // Carol owns the server.
    expect([await sees(alice), await sees(bob), await sees(carol)]).toEqual([true, false, true]);
    expect(emulator.violations).toEqual([]);
  });

  it("deaf connections look open: nothing arrives until the session is resumed, or until there is a new one", async () => {
    emulator.gateway.heartbeatIntervalMs = 150;
    const client = await loggedIn();
    const heard: string[] = [];
    client.on(Events.MessageCreate, (message) => void heard.push(message.content));
    emulator.gateway.deafen("socket");
    await emulator.say(alice, channel, "one");
    const beats = emulator.journal.entries.filter((one) => one.what === "op1").length;
    await expect
      .poll(() => emulator.journal.entries.filter((one) => one.what === "op1").length)
      .toBeGreaterThan(beats + 2);
    expect(heard).toEqual([]);
    emulator.disconnect();
    await expect.poll(() => heard, { timeout: 5000 }).toEqual(["one"]);
    expect(emulator.violations).toEqual([]);
  }, 30_000);

  it("a client notices a missing answer to its heartbeat", async () => {
    emulator.gateway.heartbeatIntervalMs = 150;
    const client = await loggedIn();
    expect(emulator.violations).toEqual([]);
    const resumed = once(client, Events.ShardResume);
    emulator.gateway.acknowledgesHeartbeats = false;
    await expect.poll(() => emulator.gateway.connected(), { timeout: 5000, interval: 10 }).toBe(0);
    emulator.gateway.acknowledgesHeartbeats = true;
    await resumed;
  }, 30_000);

  it("opens threads from a channel and from a message", async () => {
    const client = await loggedIn();
    const sent = (await client.rest.post(Routes.channelMessages(channel), { body: { content: "root" } })) as {
      id: string;
    };
    const thread = (await client.rest.post(Routes.threads(channel, sent.id), { body: { name: "run" } })) as {
      id: string;
      parent_id: string;
    };
    expect([thread.id, thread.parent_id]).toEqual([sent.id, channel]);
    await client.rest.post(Routes.channelMessages(thread.id), { body: { content: "in thread" } });
    expect(emulator.screenText(alice, thread.id)).toBe("opsbot: in thread");
  });

  it("calls what is unknown a violation", async () => {
    await fetch(`${emulator.url}/api/v10/nowhere`);
    expect(emulator.violations).toEqual(["GET /api/v10/nowhere: unknown route"]);
  });
});
