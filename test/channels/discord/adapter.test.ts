import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { NativeCommand } from "../../../src/channels/adapter-deps.ts";
import { encodeAction } from "../../../src/channels/cards/action-codec.ts";
import type { Channel, Inbound, Outbound } from "../../../src/channels/channel.ts";
import { createDiscordChannel, type DiscordAccount } from "../../../src/channels/discord/adapter.ts";
import { createRedactor } from "../../../src/channels/text/redact.ts";
import { COMMANDS as PRODUCT_COMMANDS } from "../../../src/commands/registry.ts";
import type { Route } from "../../../src/core/route.ts";
import { nativeCommands } from "../../../src/gateway/native-commands.ts";
import { DiscordEmulator } from "../../emulators/discord/emulator.ts";
import type { EmulatorClock } from "../../emulators/shared/clock.ts";
import { APPROVAL_ID, approvalCard, memoryLog, outbound, runCard, sentBy, textCard } from "../sample-cards.ts";

const POST = "POST /channels/{channel_id}/messages";
const PATCH = "PATCH /channels/{channel_id}/messages/{message_id}";
const CALLBACK = "POST /interactions/{interaction_id}/{interaction_token}/callback";
const COMMANDS_ROUTE = "/applications/{application_id}/commands";

const COMMANDS: readonly NativeCommand[] = [
  {
    name: "exec",
    summary: "Run a command",
    options: [
      { name: "host", description: "Where", form: "key" },
      { name: "node", description: "Which node", form: "key", autocomplete: true },
      { name: "command", description: "What to run", form: "rest" },
    ],
  },
  { name: "status", summary: "How things are", options: [], answersPrivately: () => true },
];

let emulator: DiscordEmulator;
let channel: Channel;
let clock: EmulatorClock;
let events: Inbound[];
let log: ReturnType<typeof memoryLog>;
let take: (event: Inbound) => Promise<void>;
let alice: string;
let bob: string;
let room: string;
let guild: string;
let expected: RegExp[];

function make(over: Partial<DiscordAccount> = {}, commands = COMMANDS): Channel {
  return createDiscordChannel(
    { accountId: "default", token: emulator.token, apiRoot: `${emulator.url}/api`, ...over },
    {
      clock,
      log,
      redactor: createRedactor([emulator.token]),
      commands,
      suggest: async ({ option, typed }) =>
        option === "node" ? [`${typed}-1`, "x".repeat(101), ...Array(40).fill("more")] : [],
    },
  );
}

async function connected(over: Partial<DiscordAccount> = {}): Promise<void> {
  channel = make(over);
  await channel.start((event) => take(event));
  await emulator.waitUntil(() => emulator.world.commands.get("global"), 5000, "the commands");
}

async function event(index = 0): Promise<Inbound> {
  await expect.poll(() => events.length, { timeout: 8000, interval: 10 }).toBeGreaterThan(index);
  const found = events[index];
  if (!found) throw new Error("no event");
  return found;
}

const routeTo = (chatId: string, more: Partial<Route> = {}): Route => ({
  channel: "discord",
  accountId: "default",
  chatType: "channel",
  chatId,
  scopeId: guild,
  ...more,
});
const sentRef = (message: Outbound) => sentBy(channel, message);

beforeEach(async () => {
  emulator = new DiscordEmulator();
  await emulator.start();
  clock = emulator.clock;
  alice = emulator.addPerson("alice");
  bob = emulator.addPerson("bob", { locale: "nl" });
  guild = emulator.addGuild("Ops", [alice, bob]);
  room = emulator.addChannel(guild, "deploys");
  events = [];
  expected = [];
  log = memoryLog();
  take = async (one) => void events.push(one);
});

afterEach(async () => {
  await channel.stop();
  await emulator.stop();
  // Whatever a test was about: no rule of the platform broken (but those it provoked), and no token in the log.
  expect(emulator.violations.filter((one) => !expected.some((pattern) => pattern.test(one)))).toEqual([]);
  expect(JSON.stringify(log.lines)).not.toContain(emulator.token);
  expect(JSON.stringify(log.lines)).not.toContain("itk");
});

describe("discord adapter: in", () => {
  it("connects, says who it is, and hands on what people write in rooms, threads and directly", async () => {
    await connected();
    expect(channel.status()).toEqual({
      channel: "discord",
      accountId: "default",
      state: "connected",
      detail: "opsbot",
    });
    const thread = emulator.addThread(room, "run 1");
    await emulator.say(alice, room, "@bot exec ls");
    await emulator.say(alice, thread, "talk");
    await emulator.say(alice, emulator.dm(alice), "hello");
    await event(2);
    expect(events.map((one) => [one.route.chatId, one.route.threadId, one.route.chatType, one.addressed])).toEqual([
      [room, undefined, "channel", true],
      [room, thread, "channel", false],
      [emulator.dm(alice), undefined, "dm", true],
    ]);
  });

  it("bot-loop-and-self: does not hear itself, other bots, webhooks or edits", async () => {
    await connected();
    const other = emulator.addPerson("otherbot", { isBot: true });
    emulator.world.guilds.get(guild)?.memberIds.add(other);
    await sentRef(outbound(textCard("run ls"), routeTo(room)));
    await emulator.say(other, room, "run ls");
    await emulator.say(alice, room, "run ls", { webhook: true });
    const id = await emulator.say(alice, room, "first");
    await emulator.editOwn(alice, room, id, "/exec rm x");
    await emulator.say(alice, room, "last");
    await event(1);
    expect(events.map((one) => one.kind === "message" && one.text)).toEqual(["first", "last"]);
  });

  it("gives a slash command its text form and takes replayed events under the same id", async () => {
    await connected();
    const state = await emulator.slashWith(alice, room, "/exec", { command: "npm  test", host: "node" });
    expect(state.answered).toBe("deferredMessage");
    expect(await event()).toMatchObject({
      kind: "command",
      name: "exec",
      args: "host=node -- npm  test",
      actor: { id: alice },
    });
    emulator.duplicate();
    expect((await event(1)).id).toBe(events[0]?.id);
  });

  it("discord-3s-defer: answers at once although taking the event stalls for seconds", async () => {
    await connected();
    let release: () => void = () => undefined;
    const stalled = new Promise<void>((resolve) => {
      release = resolve;
    });
    take = async (one) => {
      await stalled;
      events.push(one);
    };
    const ref = await sentRef(outbound(approvalCard(), routeTo(room)));
    const started = performance.now();
    const pressed = await emulator.press(alice, ref.messageId, "Allow once");
    expect([pressed.answered, pressed.failed]).toEqual(["deferredUpdate", false]);
    expect(performance.now() - started).toBeLessThan(1_500);
    expect(events).toEqual([]);
    release();
    expect(await event()).toMatchObject({
      kind: "press",
      action: { decision: "allow-once" },
      ref: { messageId: ref.messageId },
    });
  });

  it("is durable before the person sees that it was taken, when taking it does not stall", async () => {
    await connected();
    const order: string[] = [];
    take = async (one) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      order.push(`taken, ${emulator.journal.calls(CALLBACK).length} answers`);
      events.push(one);
    };
    const state = await emulator.slashWith(alice, room, "/exec", { command: "ls" });
    expect(state.answered).toBe("deferredMessage");
    expect(order).toEqual(["taken, 0 answers"]);
  });

  it("discord-3s-defer: a decision counts although its first answer came too late (10062)", async () => {
    await connected();
    const ref = await sentRef(outbound(approvalCard(), routeTo(room)));
    emulator.delay(3_200, CALLBACK);
    expected.push(/answered after 3 seconds/);
    const state = await emulator.press(alice, ref.messageId, "Deny");
    expect(state.failed).toBe(true);
    expect(await event()).toMatchObject({ kind: "press", action: { decision: "deny" } });
    expect(channel.status().state).toBe("connected");
  });

  it("discord-40060-double: two instances with one token both hand the press on, under one id, and neither fails", async () => {
    await connected();
    const second = make();
    await second.start((one) => take(one));
    await expect.poll(() => emulator.gateway.connected()).toBe(2);
    const ref = await sentRef(outbound(approvalCard(), routeTo(room)));
    await emulator.press(alice, ref.messageId, "Allow once");
    await event(1);
    expect(new Set(events.map((one) => one.id)).size).toBe(1);
    await expect
      .poll(() => log.lines.some((one) => JSON.stringify(one).includes("already been acknowledged")))
      .toBe(true);
    expect([channel.status().state, second.status().state]).toEqual(["connected", "connected"]);
    await second.stop();
  });

  it("discord-40060-double: buttons work after a restart of the product", async () => {
    await connected();
    const ref = await sentRef(outbound(approvalCard(), routeTo(room)));
    await channel.stop();
    await connected();
    await emulator.press(alice, ref.messageId, "Allow always");
    expect(await event()).toMatchObject({ action: { approvalId: APPROVAL_ID, decision: "allow-always" } });
  });

  it("says what to do when an event could not be taken after several tries", async () => {
    await connected();
    let tries = 0;
    take = async () => {
      tries += 1;
      throw new Error("the store can not be written");
    };
    const ref = await sentRef(outbound(approvalCard(), routeTo(room)));
    await emulator.press(bob, ref.messageId, "Deny");
    const notice = await emulator.waitForMessage(
      (one) => emulator.textOf(one).includes("kon niet worden bewaard"),
      12_000,
    );
    expect(notice.onlyForId).toBe(bob);
    expect(tries).toBe(5);
  }, 20_000);

  it("keeps the order of a burst and loses nothing of it", async () => {
    await connected();
    for (let number = 0; number < 500; number++) await emulator.say(alice, room, `n${number}`);
    await event(499);
    expect(events.map((one) => one.kind === "message" && one.text)).toEqual(
      Array.from({ length: 500 }, (_, one) => `n${one}`),
    );
  });

  it("hands on what is said in one place in order although taking it fails, and lets a press overtake", async () => {
    await connected();
    const ref = await sentRef(outbound(approvalCard(), routeTo(room)));
    let failures = 2;
    take = async (one) => {
      if (one.kind === "message" && failures-- > 0) throw new Error("away");
      events.push(one);
    };
    for (const one of ["1", "2", "3"]) await emulator.say(alice, room, one);
    await emulator.press(alice, ref.messageId, "Deny");
    await event(3);
    expect(events.map((one) => (one.kind === "message" ? one.text : one.kind))).toEqual(["press", "1", "2", "3"]);
  });

  it("takes an event on a later try", async () => {
    await connected();
    let failures = 1;
    take = async (one) => {
      if (failures-- > 0) throw new Error("away");
      events.push(one);
    };
    await emulator.say(alice, room, "once");
    expect(await event()).toMatchObject({ text: "once" });
    expect(events).toHaveLength(1);
  });

  it("asks for the reason of a denial in a form, and answers an outdated button to its presser alone", async () => {
    await connected();
    const ref = await sentRef(outbound(approvalCard(), routeTo(room)));
    const menu = await emulator.press(alice, ref.messageId, "More…");
    expect(menu.answered).toBe("message");
    const opened = await emulator.press(alice, menu.original?.id ?? "", "Deny with reason…");
    expect(opened.modal).toMatchObject({
      title: "Deny with reason",
      fields: [{ id: "reason", label: "Why not?", required: false }],
    });
    const submitted = await emulator.submitModal(alice, { reason: "it's unsafe" });
    expect(submitted.answered).toBe("deferredUpdate");
    expect(await event()).toMatchObject({
      action: { decision: "deny", comment: "it's unsafe" },
      ref: { messageId: menu.original?.id },
    });
    const stored = emulator.world.message(room, ref.messageId);
    if (!stored) throw new Error("not stored");
    emulator.pressRaw(bob, stored, "ap1:q:zzz");
    const notice = await emulator.waitForMessage((one) => emulator.textOf(one).startsWith("Deze knop"));
    expect(notice.onlyForId).toBe(bob);
    expect(events).toHaveLength(1);
  });

  it("suggests at most 25 valid values for an option", async () => {
    await connected();
    const state = await emulator.autocomplete(alice, room, "/exec", "node", "mac");
    expect(state.choices).toHaveLength(25);
    expect(state.choices?.[0]).toEqual({ name: "mac-1", value: "mac-1" });
  });
});

describe("discord adapter: out", () => {
  it("replaces the placeholder of a slash command by its answer, and goes on editing that message", async () => {
    await connected();
    await emulator.slashWith(alice, room, "/exec", { command: "ls" });
    const { route } = await event();
    const ref = await sentRef(outbound(runCard(), route));
    expect(emulator.screenText(bob, room)).not.toContain("thinking");
    emulator.clock.advance(20 * 60_000);
    expect(
      await channel.edit(
        ref,
        outbound(runCard({ state: "finished", outcome: "completed", exitCode: 0, actions: [] }), route),
      ),
    ).toEqual({
      kind: "sent",
      ref,
    });
    expect(emulator.textOf(emulator.world.message(room, ref.messageId) ?? ({} as never))).toMatch(/^### Finished/);
    await sentRef(outbound(textCard("done"), route));
    const done = await emulator.waitForMessage((one) => emulator.textOf(one) === "done");
    expect(done.replyToId).toBe(ref.messageId);
  });

  it("waits with an answer that is ready before Discord has taken the first one", async () => {
    await connected();
    let sent: Promise<unknown> = Promise.resolve();
    take = async (one) => {
      events.push(one);
      sent = channel.send(outbound(runCard(), one.route));
    };
    emulator.delay(300, CALLBACK);
    await emulator.slashWith(alice, room, "/exec", { command: "ls" });
    expect(await sent).toMatchObject({ kind: "sent" });
    const shown = emulator.world.channel(room).messages.filter((one) => one.authorId === emulator.world.botId);
    expect(shown.map((one) => emulator.textOf(one).includes("thinking"))).toEqual([false]);
  });

  it("wake-delivered-then-crash: finds what an earlier life sent, in a placeholder or by itself, and nothing else", async () => {
    await connected();
    await emulator.slashWith(alice, room, "/exec", { command: "ls" });
    const { route } = await event();
    const answered = outbound(approvalCard(), route);
    const first = await sentRef(answered);
    const alone = outbound(runCard(), routeTo(room));
    const second = await sentRef(alone);
    await channel.edit(first, { ...answered, card: approvalCard({ state: "allowed" }) });
    await channel.stop();
    await connected();
    expect(await channel.reconcile?.(answered)).toEqual(first);
    expect(await channel.reconcile?.(alone)).toEqual(second);
    expect(await channel.reconcile?.(outbound(runCard(), route))).toBeUndefined();
  });

  it("answers privately where the placeholder was public, and publicly where it was private", async () => {
    await connected();
    await emulator.slashWith(alice, room, "/exec", {});
    const asked = await event();
    await sentRef(outbound(textCard("only for you"), asked.route, { onlyFor: asked.actor }));
    expect(emulator.screenText(alice, room)).toBe("opsbot: only for you\n(only you see this)");
    expect(emulator.screenText(bob, room)).toBe("");
    await emulator.slashWith(alice, room, "/status", {});
    const status = await event(1);
    await sentRef(outbound(textCard("for all"), status.route));
    expect(emulator.screenText(bob, room)).toBe("opsbot: for all");
    expect(emulator.screenText(alice, room)).not.toContain("thinking");
  });

  it("takes the placeholder of a command away when nobody answers it", async () => {
    await connected({ placeholderMs: 200 });
    const state = await emulator.slashWith(alice, room, "/exec", {});
    await emulator.waitUntil(() => (state.original?.deleted ? true : undefined));
    expect(emulator.screenText(alice, room)).toBe("");
    const { route, actor } = await event();
    await sentRef(outbound(textCard("after all"), route, { onlyFor: actor }));
    expect(emulator.screenText(alice, room)).toBe("opsbot: after all\n(only you see this)");
  });

  it("leaves another command's placeholder alone when it answers a press", async () => {
    await connected();
    const card = await sentRef(outbound(approvalCard(), routeTo(room)));
    await emulator.press(alice, card.messageId, "Deny");
    const { route, actor } = await event();
    await emulator.slashWith(alice, room, "/exec", { command: "make" });
    await event(1);
    await sentRef(outbound(textCard("noted"), route, { onlyFor: actor }));
    expect(emulator.screenText(bob, room)).toContain("is thinking…");
    expect(emulator.screenText(bob, room)).not.toContain("noted");
    await sentRef(outbound(runCard(), (await event(1)).route));
    expect(emulator.screenText(bob, room)).not.toContain("thinking");
  });

  it("shows a refusal to the presser alone, and changes it while its token lives", async () => {
    await connected();
    const card = await sentRef(outbound(approvalCard(), routeTo(room)));
    await emulator.press(bob, card.messageId, "Allow once");
    const { route, actor } = await event();
    const ref = await sentRef(outbound(textCard("You can not decide this."), route, { onlyFor: actor }));
    expect(emulator.screenText(bob, room)).toContain("You can not decide this.");
    expect(emulator.screenText(alice, room)).not.toContain("You can not decide this.");
    await channel.edit(ref, outbound(textCard("Still not."), route, { onlyFor: actor }));
    expect(emulator.screenText(bob, room)).toContain("Still not.");
  });

  it("answers as an ordinary message once the token is too old", async () => {
    await connected();
    await emulator.slashWith(alice, room, "/exec", { command: "sleep 900" });
    const { route } = await event();
    emulator.clock.advance(14.5 * 60_000);
    await sentRef(outbound(textCard("late"), route));
    expect(emulator.screenText(bob, room)).toContain("opsbot: late");
    expect(emulator.journal.calls(POST)).toHaveLength(1);
  });

  it("never notifies anybody, whatever a command prints", async () => {
    await connected();
    await sentRef(
      outbound(runCard({ command: `echo @everyone <@${alice}>`, tail: `@here <@${bob}> <@&1>` }), routeTo(room)),
    );
    await sentRef(outbound(textCard(`@everyone <@${alice}> \`<@${bob}>\``), routeTo(room)));
    for (const message of emulator.world.channel(room).messages) expect(message.mentions).toEqual([]);
    for (const call of emulator.journal.calls(POST))
      expect(call.body).toMatchObject({ allowed_mentions: { parse: [], replied_user: false } });
  });

  it("makes one message although the answer to the first send was lost", async () => {
    await connected();
    const message = outbound(textCard("once"), routeTo(room));
    emulator.fail(POST, { loseReply: true });
    expect(await channel.send(message)).toMatchObject({ kind: "retry" });
    await sentRef(message);
    expect(emulator.screenText(alice, room)).toBe("opsbot: once");
  });

  it("opens a direct message by the person's id, and uses one it was given as it is", async () => {
    await connected();
    const byPerson = await sentRef(outbound(textCard("card"), routeTo(alice, { chatType: "dm" })));
    expect(byPerson.chatId).toBe(emulator.dm(alice));
    const byChannel = await sentRef(outbound(textCard("again"), routeTo(emulator.dm(bob), { chatType: "dm" })));
    expect(byChannel.chatId).toBe(emulator.dm(bob));
  });

  it("card-none-delivered: tells that a person takes no direct messages, so that somebody else is asked", async () => {
    await connected();
    const closed = emulator.addPerson("closed", { acceptsDms: false });
    expect(await channel.send(outbound(approvalCard(), routeTo(closed, { chatType: "dm" })))).toMatchObject({
      kind: "permanent",
    });
    emulator.world.channel(room).writable = false;
    expect(await channel.send(outbound(approvalCard(), routeTo(room)))).toMatchObject({ kind: "permanent" });
  });

  it("edits a decided card into a receipt; a deleted card is no failure", async () => {
    await connected();
    const ref = await sentRef(outbound(approvalCard(), routeTo(room)));
    expect(await channel.edit(ref, outbound(approvalCard({ state: "expired" }), routeTo(room)))).toEqual({
      kind: "sent",
      ref,
    });
    expect(emulator.screenText(alice, room)).not.toContain("[");
    const stored = emulator.world.message(room, ref.messageId);
    if (stored) stored.deleted = true;
    expect(await channel.edit(ref, outbound(approvalCard({ state: "expired" }), routeTo(room)))).toEqual({
      kind: "sent",
      ref,
    });
  });

  it("deletes decided cards when it is set to", async () => {
    await connected({ cleanupAfterResolve: true });
    const ref = await sentRef(outbound(approvalCard(), routeTo(room)));
    await channel.edit(ref, outbound(approvalCard({ state: "denied", decision: "deny" }), routeTo(room)));
    expect(emulator.screenText(alice, room)).toBe("");
  });

  it("attaches a command too long for its card, keeps it while waiting and drops it with the receipt", async () => {
    await connected();
    const command = `echo ${"a".repeat(6000)}; curl http://x | sh`;
    const ref = await sentRef(outbound(approvalCard({ command }), routeTo(room)));
    const stored = emulator.world.message(room, ref.messageId);
    expect(stored?.files.map((one) => one.bytes.toString())).toEqual([command]);
    await channel.edit(
      ref,
      outbound(approvalCard({ command, statusLine: "The gateway restarted; still waiting for you." }), routeTo(room)),
    );
    expect(stored?.files).toHaveLength(1);
    await channel.edit(ref, outbound(approvalCard({ command, state: "denied", decision: "deny" }), routeTo(room)));
    expect(stored?.files).toEqual([]);
    expect(emulator.screenText(alice, room)).toContain("; curl http://x | sh");
  });

  it("lets nobody allow a command that could neither be shown nor attached", async () => {
    await connected();
    emulator.fail(POST, { status: 413, error: "40005 Request entity too large" });
    await sentRef(outbound(approvalCard({ command: "x".repeat(6000) }), routeTo(room)));
    expect(emulator.screenText(alice, room)).toContain("[Deny] [More…]");
    expect(emulator.screenText(alice, room)).not.toContain("[Allow");
  });

  it("sends a full log with its card and a long text in parts", async () => {
    await connected();
    const folder = await mkdtemp(join(tmpdir(), "discord-log-"));
    const path = join(folder, "full.log");
    await writeFile(path, "line\n".repeat(10_000));
    const finished = runCard({ state: "finished", outcome: "completed", exitCode: 0, durationMs: 10, actions: [] });
    await sentRef(outbound(finished, routeTo(room), { file: { name: "output quiet otter.txt", path } }));
    const file = emulator.world.channel(room).messages[0]?.files[0];
    expect([file?.name, file?.bytes.length]).toEqual(["output_quiet_otter.txt", 50_000]);
    await sentRef(outbound(textCard("log"), routeTo(room), { file: { name: "a.txt", path } }));
    await rm(folder, { recursive: true });
    await sentRef(outbound(textCard("word ".repeat(900)), routeTo(room)));
    expect(
      emulator.world.channel(room).messages.filter((one) => emulator.textOf(one).includes("word")).length,
    ).toBeGreaterThan(2);
  });

  it("a long answer is posted 17 lines at a time, in order; long code as a file, and as text where no file is taken", async () => {
    await connected();
    const lines = Array.from({ length: 40 }, (_, one) => `line ${one + 1}.`);
    const posted = () => emulator.world.channel(room).messages.map((one) => emulator.textOf(one));
    await sentRef(outbound(textCard(lines.join("\n")), routeTo(room)));
    expect(posted().map((one) => one.split("\n").length)).toEqual([17, 17, 9]);
    expect(
      posted()
        .join("\n")
        .match(/line \d+\./g),
    ).toEqual(lines);
    const script = Array.from({ length: 52 }, (_, one) => `echo ${one}`).join("\n");
    const answer = textCard(`Run this:\n\`\`\`sh\n${script}\n\`\`\`\nThen tell me.`);
    await sentRef(outbound(answer, routeTo(room)));
    const [, , , begun, rest] = emulator.world.channel(room).messages;
    expect(begun?.files.map((one) => [one.name, one.bytes.toString()])).toEqual([["code-1.txt", script]]);
    expect(rest && emulator.textOf(rest)).toBe("Then tell me.");
    emulator.clock.advance(60_000);
    emulator.fail(POST, { status: 413, error: "40005 Request entity too large" });
    const other = emulator.addChannel(guild, "files are not taken here");
    await sentRef(outbound(answer, routeTo(other)));
    const shown = emulator.world.channel(other).messages.map((one) => emulator.textOf(one));
    expect(
      shown
        .join("\n")
        .match(/echo \d+/g)
        ?.join("\n"),
    ).toBe(script);
  });

  it("token-in-output: masks secrets in an attached log, and says why one is missing", async () => {
    await connected();
    const folder = await mkdtemp(join(tmpdir(), "discord-log-"));
    const path = join(folder, "full.log");
    await writeFile(path, `before ${emulator.token} after\n`);
    await sentRef(outbound(textCard("log"), routeTo(room), { file: { name: "a.txt", path } }));
    await rm(folder, { recursive: true });
    expect(emulator.world.channel(room).messages[0]?.files[0]?.bytes.toString()).toBe("before ••• after\n");
    await sentRef(outbound(textCard("result"), routeTo(room), { file: { name: "b.txt", path } }));
    expect(emulator.screenText(alice, room)).toContain("result\n-# The log could not be attached \\(ENOENT\\).");
  });

  it("names the pause of a rate limit and keeps quiet meanwhile, its own limit included", async () => {
    await connected();
    const results = [];
    for (let count = 0; count < 7; count++)
      results.push(await channel.send(outbound(textCard(`n${count}`), routeTo(room))));
    expect(results.map((one) => one.kind)).toEqual(["sent", "sent", "sent", "sent", "sent", "retry", "retry"]);
    const [, , , , , first] = results;
    expect(first?.kind === "retry" && first.afterMs > 0 && first.afterMs <= 5_000).toBe(true);
    expect(emulator.journal.calls(POST)).toHaveLength(5);
    expect(emulator.journal.calls(POST).filter((one) => one.status === 429)).toEqual([]);
  });

  it("drops live tails under a rate limit, and the final edit comes after it", async () => {
    await connected();
    const ref = await sentRef(outbound(runCard(), routeTo(room)));
    emulator.fail(PATCH, { retryAfterS: 0.4 });
    await channel.live?.(ref, runCard({ tail: "a" }), "en");
    const patches = emulator.journal.calls(PATCH).length;
    await channel.live?.(ref, runCard({ tail: "b" }), "en");
    expect(emulator.journal.calls(PATCH)).toHaveLength(patches);
    const done = outbound(
      runCard({ state: "finished", outcome: "completed", exitCode: 0, actions: [] }),
      routeTo(room),
    );
    await expect.poll(async () => (await channel.edit(ref, done)).kind, { timeout: 4000, interval: 100 }).toBe("sent");
    expect(emulator.screenText(alice, room)).toContain("### Finished");
  });
});

describe("discord adapter: order of edits", () => {
  it("a live tail that is on its way for long never covers the final card", async () => {
    await connected();
    const ref = await sentRef(outbound(runCard(), routeTo(room)));
    emulator.delay(400, PATCH);
    const live = channel.live?.(ref, runCard({ tail: "still going" }), "en");
    await emulator.waitUntil(() => emulator.journal.calls(PATCH)[0]);
    emulator.delay(0, PATCH);
    const done = runCard({ state: "finished", outcome: "completed", exitCode: 0, actions: [] });
    await Promise.all([live, channel.edit(ref, outbound(done, routeTo(room)))]);
    expect(emulator.screenText(alice, room)).toContain("### Finished");
  });
});

describe("discord adapter: connection", () => {
  it("refused tokens and intents are final and say what to do", async () => {
    channel = make({ token: `${emulator.token}x` });
    await channel.start((one) => take(one));
    expect(channel.status()).toMatchObject({
      state: "failed",
      detail: { text: expect.stringContaining("channels.discord.token") },
    });
    await channel.stop();
    emulator.allowedIntents = 0;
    channel = make();
    await channel.start((one) => take(one));
    await expect
      .poll(() => channel.status())
      .toMatchObject({ state: "failed", detail: { text: expect.stringContaining("Message Content Intent") } });
    await channel.stop();
    await connected({ messageContent: false });
    expect(channel.status().state).toBe("connected");
  });

  it("a token of another application than the configured one is final and says so", async () => {
    channel = make({ applicationId: "123456789012345678" });
    await channel.start(async () => {});
    expect(channel.status()).toMatchObject({
      state: "failed",
      detail: { text: expect.stringContaining("channels.discord.applicationId is 123456789012345678") },
    });
    await channel.stop();
    channel = make({ applicationId: emulator.world.applicationId });
    await channel.start(async () => {});
    expect(channel.status().state).toBe("connected");
  });

  it("does not start without a token, and says which key to set", async () => {
    channel = make({ token: " " });
    await channel.start((one) => take(one));
    expect(channel.status()).toMatchObject({
      state: "failed",
      detail: { text: expect.stringContaining("channels.discord.token") },
    });
  });

  it("can be stopped while a start hangs", async () => {
    emulator.delay(60_000, "GET /gateway/bot");
    channel = make();
    const starting = channel.start((one) => take(one));
    await emulator.waitUntil(() => emulator.journal.calls("GET /gateway/bot")[0]);
    const started = performance.now();
    await channel.stop();
    await starting;
    expect(performance.now() - started).toBeLessThan(3_000);
    expect(channel.status().state).toBe("stopped");
  });

  it("slash-only mode works without the message content intent", async () => {
    emulator.allowedIntents = 0;
    await connected({ messageContent: false });
    await emulator.say(alice, room, "unheard");
    await emulator.slashWith(alice, room, "/exec", { command: "ls" });
    expect(await event()).toMatchObject({ kind: "command", args: "-- ls" });
  });

  it("error-object-leaks-token: a server that is away is retried and told without the token", async () => {
    await emulator.stop();
    channel = make();
    await channel.start((one) => take(one));
    expect(channel.status().state).toBe("connecting");
    await emulator.start();
    await expect.poll(() => channel.status().state, { timeout: 10_000 }).toBe("connected");
  }, 20_000);

  it("hears everything once through op 7, a cut, a close, an invalid session and a restart of the server", async () => {
    await connected();
    const texts = (): string[] => events.flatMap((one) => (one.kind === "message" ? [one.text] : []));
    const faults = [
      () => emulator.disconnect(),
      () => emulator.drop(),
      () => emulator.gateway.close(4000, "unknown error"),
    ];
    for (const [number, fault] of faults.entries()) {
      const resumes = emulator.gateway.resumes;
      fault();
      await emulator.say(alice, room, `during ${number}`);
      await expect.poll(() => emulator.gateway.resumes, { timeout: 8000 }).toBe(resumes + 1);
    }
    await expect.poll(texts, { timeout: 8000 }).toEqual(["during 0", "during 1", "during 2"]);
    const identifies = emulator.gateway.identifies;
    emulator.gateway.invalidate();
    await expect.poll(() => emulator.gateway.identifies, { timeout: 12_000 }).toBe(identifies + 1);
    await expect.poll(() => channel.status().state, { timeout: 8000 }).toBe("connected");
    await emulator.restart(50);
    await expect.poll(() => emulator.gateway.connected(), { timeout: 15_000 }).toBe(1);
    await emulator.say(alice, room, "after");
    await expect.poll(texts, { timeout: 8000 }).toEqual(["during 0", "during 1", "during 2", "after"]);
  }, 60_000);

  it("a gateway that answers no heartbeat any more is left and come back to, and nothing said meanwhile is lost", async () => {
    emulator.gateway.heartbeatIntervalMs = 250;
    await connected();
    const resumes = emulator.gateway.resumes;
    emulator.gateway.acknowledgesHeartbeats = false;
    await expect.poll(() => emulator.gateway.connected(), { timeout: 8000, interval: 10 }).toBe(0);
    await emulator.say(alice, room, "in the silence");
    emulator.gateway.acknowledgesHeartbeats = true;
    await expect.poll(() => emulator.gateway.resumes, { timeout: 8000 }).toBeGreaterThan(resumes);
    expect(await event()).toMatchObject({ kind: "message", text: "in the silence" });
  }, 30_000);

  it("what was said while there was no session is read and heard once, up to five minutes back, in order", async () => {
    await connected();
    const texts = (): string[] => events.flatMap((one) => (one.kind === "message" ? [one.text] : []));
    await emulator.say(alice, room, "before");
    await expect.poll(texts).toEqual(["before"]);
    // What is said once there is a session again does not overtake what is being read.
    emulator.delay(500, "GET /channels/{channel_id}/messages");
    const identifies = emulator.gateway.identifies;
    emulator.gateway.invalidate();
    await emulator.say(alice, room, "too long ago");
    clock.advance(6 * 60_000);
    await emulator.say(alice, room, "first");
    await emulator.say(bob, room, "second");
    await expect.poll(() => emulator.gateway.identifies, { timeout: 12_000 }).toBe(identifies + 1);
    await emulator.say(alice, room, "after");
    await expect.poll(() => texts().length, { timeout: 8000 }).toBe(4);
    expect(texts()).toEqual(["before", "first", "second", "after"]);
    emulator.duplicate("MESSAGE_CREATE");
    await emulator.say(alice, room, "last");
    await expect.poll(texts, { timeout: 8000 }).toEqual(["before", "first", "second", "after", "last"]);
  }, 40_000);

  it("what was missed comes with its writer's roles, and is read again when it could not be taken", async () => {
    await connected();
    const role = emulator.addRole(guild, "operators", { for: [bob] });
    await emulator.say(bob, room, "before");
    await event(0);
    const refuse = take;
    take = async () => {
      throw new Error("the store is away");
    };
    await emulator.say(bob, room, "not taken");
    await expect
      .poll(() => log.lines.some((one) => JSON.stringify(one).includes("is lost")), { timeout: 15_000 })
      .toBe(true);
    take = refuse;
    for (const again of [1, 2]) {
      const identifies = emulator.gateway.identifies;
      emulator.gateway.invalidate();
      await expect.poll(() => emulator.gateway.identifies, { timeout: 12_000 }).toBe(identifies + 1);
      await emulator.say(bob, room, `after ${again}`);
      await event(again + 1);
    }
    const heard = events.flatMap((one) => (one.kind === "message" ? [[one.text, one.actor.roles]] : []));
    expect(heard).toEqual(["before", "not taken", "after 1", "after 2"].map((text) => [text, [role]]));
  }, 60_000);

  it("a live change that changes nothing is not sent", async () => {
    await connected();
    const ref = await sentRef(outbound(runCard(), routeTo(room)));
    const edits = () => emulator.journal.calls(PATCH).length;
    // Its clock stands still.
    const card = runCard({ startedAtMs: Number.MAX_SAFE_INTEGER });
    expect(await channel.live?.(ref, card, "en")).toBe(true);
    expect(await channel.live?.(ref, card, "en")).toBe(true);
    expect(edits()).toBe(1);
  });

  it("registers commands once, again only when they change, and takes them away when there are none", async () => {
    await connected();
    await channel.stop();
    channel = make();
    await channel.start((one) => take(one));
    await expect.poll(() => emulator.journal.calls(`GET ${COMMANDS_ROUTE}`).length).toBe(2);
    await emulator.say(alice, room, "x");
    await event();
    expect(emulator.journal.calls(`PUT ${COMMANDS_ROUTE}`)).toHaveLength(1);
    await channel.stop();
    channel = make({}, []);
    await channel.start((one) => take(one));
    await expect.poll(() => emulator.world.commands.get("global")).toEqual([]);
  });

  it("describes commands in each language, and writes them once too", async () => {
    const native = nativeCommands(PRODUCT_COMMANDS, true);
    for (const starts of [1, 2]) {
      channel = make({}, native);
      await channel.start((one) => take(one));
      await expect.poll(() => emulator.journal.calls(`GET ${COMMANDS_ROUTE}`).length).toBe(starts);
      await emulator.say(alice, room, "x");
      await event();
      await channel.stop();
    }
    expect(emulator.journal.calls(`PUT ${COMMANDS_ROUTE}`)).toHaveLength(1);
    const help = emulator.world.commands.get("global")?.find((one) => one.name === "help");
    expect(help).toMatchObject({
      description: "What you can type here.",
      description_localizations: {
        nl: "Wat je hier kunt typen.",
        "pt-BR": "O que você pode digitar aqui.",
        vi: "Những gì bạn có thể gõ ở đây.",
      },
      options: [{ name: "command", description_localizations: { nl: "Toon één opdracht uitgebreid" } }],
    });
  });

  it("hears messages while the registration hangs", async () => {
    emulator.delay(5_000, `PUT ${COMMANDS_ROUTE}`);
    channel = make();
    await channel.start((one) => take(one));
    await emulator.say(alice, room, "hello");
    await event();
    expect(channel.status().state).toBe("connected");
  });

  it("does not run two sessions when it is restarted quickly", async () => {
    await connected();
    await Promise.all([1, 2, 3].flatMap(() => [channel.stop(), channel.start((one) => take(one))]));
    await expect.poll(() => emulator.gateway.connected()).toBe(1);
    const ref = await sentRef(outbound(approvalCard(), routeTo(room)));
    const stored = emulator.world.message(room, ref.messageId);
    if (!stored) throw new Error("not stored");
    emulator.pressRaw(alice, stored, encodeAction({ kind: "approval", approvalId: APPROVAL_ID, decision: "deny" }));
    await event();
    expect(events).toHaveLength(1);
  });
});

describe("discord adapter: what stands below a message", () => {
  it("is counted as it passes by, a thread by itself; another life asks Discord", async () => {
    await connected();
    const thread = emulator.addThread(room, "release");
    const inRoom = await sentRef(outbound(runCard(), routeTo(room)));
    const inThread = await sentRef(outbound(runCard(), routeTo(room, { threadId: thread })));
    for (let n = 0; n < 3; n++) await emulator.say(bob, room, `talk ${n}`);
    await emulator.say(bob, room, "a reply", { thread });
    await channel.send(outbound(textCard("mine"), routeTo(room)));
    await expect.poll(() => channel.below?.(inRoom, 5, "remembered")).toBe(4);
    await expect.poll(() => channel.below?.(inThread, 5, "remembered")).toBe(1);
    const asked = () => emulator.journal.entries.filter((one) => /^GET .*messages/.test(one.what));
    expect(asked()).toEqual([]);

    await channel.stop();
    await connected();
    expect(await channel.below?.(inRoom, 5, "remembered")).toBeUndefined();
    expect(await channel.below?.(inRoom, 5, "asked")).toBe(4);
    expect(await channel.below?.(inThread, 5, "asked")).toBe(1);
  });
});
