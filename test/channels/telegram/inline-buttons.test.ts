/** `capabilities.inlineButtons`: which chats get buttons, and which presses count where they do not. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import JSON5 from "json5";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type InlineButtons, showsButtons, takesPress } from "../../../src/channels/telegram/inline-buttons.ts";
import { TelegramEmulator } from "../../emulators/telegram/emulator.ts";
import type { StoredMessage } from "../../emulators/telegram/world.ts";
import { type ProductLives, productLives } from "../../support/product-lives.ts";
import { eventually } from "../../support/state.ts";

const OWNER = "1001";
const GROUP = "-1001234567890";

describe("inlineButtons, golden table", () => {
  it.each<[InlineButtons, dm: boolean, group: boolean]>([
    ["off", false, false],
    ["dm", true, false],
    ["group", false, true],
    ["all", true, true],
    ["allowlist", true, true],
  ])("%s: in direct messages %s, in groups %s; a decision counts in both", (scope, dm, group) => {
    expect([showsButtons(scope, "dm"), showsButtons(scope, "private")]).toEqual([dm, dm]);
    expect(["group", "supergroup", "channel"].map((type) => showsButtons(scope, type as "group"))).toEqual([
      group,
      group,
      group,
    ]);
    for (const kind of ["approval", "revoke", "approval-action"] as const)
      expect([takesPress(scope, "private", { kind }), takesPress(scope, "supergroup", { kind })]).toEqual([true, true]);
    for (const kind of ["run", "menu", "pairing"] as const)
      expect([takesPress(scope, "private", { kind }), takesPress(scope, "supergroup", { kind })]).toEqual([dm, group]);
  });
});

describe("the product on Telegram, with buttons in some chats", () => {
  let emulator: TelegramEmulator;
  let product: ProductLives;

  const configured = (inlineButtons: InlineButtons) => ({
    tools: { exec: { mode: "ask" } },
    commands: { ownerAllowFrom: [`telegram:${OWNER}`] },
    channels: {
      telegram: {
        botToken: emulator.token,
        apiRoot: emulator.url,
        dmPolicy: "allowlist",
        allowFrom: [OWNER],
        groups: { [GROUP]: { requireMention: false } },
        execApprovals: { enabled: true, target: "channel" },
        capabilities: { inlineButtons },
      },
    },
  });
  const switchTo = (scope: InlineButtons) =>
    writeFile(join(product.stateDir, "openclaw.json"), JSON5.stringify(configured(scope)), { mode: 0o600 });
  const labels = (one: StoredMessage) => one.keyboard?.inline_keyboard.flat().map((button) => button.text) ?? [];
  const card = (mark: string) =>
    emulator.waitForMessage((one) => one.text.startsWith("Approval needed") && one.text.includes(mark), 20_000);
  const finished = (mark: string) =>
    emulator.waitForMessage((one) => one.text.startsWith("Finished") && one.text.includes(mark), 20_000);

  beforeEach(async () => {
    emulator = new TelegramEmulator();
    await emulator.start();
    emulator.addPerson(Number(OWNER), "Olga", { username: "olga" });
    emulator.addGroup(Number(GROUP), "Ops", [OWNER]);
  });
  afterEach(async () => {
    await product.dispose();
    await emulator.stop();
    expect(emulator.violations).toEqual([]);
  });

  it("dm: the group's card says what to type, and that decides; the direct card has buttons", async () => {
    product = await productLives({ config: configured("dm") });
    await emulator.say(OWNER, GROUP, "/exec echo in-group-$((1+1))");
    const inGroup = await card("in-group");
    expect(labels(inGroup)).toEqual([]);
    expect(inGroup.text).toMatch(
      /Buttons are switched off in this chat\. To decide, send one of these:\n• \/approve [0-9a-f]{8} allow-once\n(?:• \/approve [0-9a-f]{8} allow-always\n)?• \/approve [0-9a-f]{8} deny$/,
    );
    const [typed = ""] = /\/approve [0-9a-f]{8} allow-once/.exec(inGroup.text) ?? [];
    await emulator.say(OWNER, GROUP, typed);
    const ended = await finished("in-group-2");
    expect(labels(ended)).toEqual([]);
    await eventually(() => inGroup.text.startsWith("Allowed once by olga"), 20_000);
    expect(inGroup.text).not.toContain("/approve");
    await emulator.say(OWNER, OWNER, "/exec echo direct-$((1+1))");
    const direct = await card("direct");
    expect(labels(direct)).toContain("Allow once");
    expect(direct.text).not.toContain("/approve");
  }, 60_000);

  it("switched off while a card is out: its decision still counts, its other buttons do not, and the next card is text", async () => {
    product = await productLives({ config: configured("all") });
    await emulator.say(OWNER, GROUP, "/exec echo before-$((1+1))");
    const before = await card("before");
    await emulator.say(OWNER, GROUP, "/exec echo other-$((1+1))");
    const other = await card("other");
    await emulator.press(OWNER, String(other.id), "Allow once", GROUP);
    const ran = await finished("other-2");
    expect(labels(ran)).toContain("Run again");

    await switchTo("off");
    await eventually(
      () => /configuration changed[\s\S]*inlineButtons|inlineButtons[\s\S]*configuration changed/.test(product.output),
      20_000,
    );
    await emulator.say(OWNER, GROUP, "/exec echo after-$((1+1))");
    const after = await card("after");
    expect(labels(after)).toEqual([]);

    const again = await emulator.press(OWNER, String(ran.id), "Run again", GROUP);
    expect(again.answer).toMatchObject({
      alert: true,
      text: expect.stringContaining("Buttons are switched off in this chat"),
    });
    const allowed = await emulator.press(OWNER, String(before.id), "Allow once", GROUP);
    expect(allowed.answer).toMatchObject({ alert: false });
    await finished("before-2");
    expect(emulator.screenText(OWNER, GROUP).split("Approval needed")).toHaveLength(2);
    expect(JSON5.parse(await readFile(join(product.stateDir, "openclaw.json"), "utf8"))).toEqual(configured("off"));
  }, 60_000);
});
