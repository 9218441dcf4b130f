/** The page in a real browser: a person reads, writes, presses and answers a dialog. */
import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { requireOrSkip } from "../../support/require.ts";
import { SlackEmulator } from "./slack-emulator.ts";
import { BOT } from "./workspace.ts";

const CHROMIUM = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";

requireOrSkip("chromium", existsSync(CHROMIUM))("page", () => {
  const emulator = new SlackEmulator({ delivery: { ackMs: 200 } });
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    await emulator.start();
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
    page = await browser.newPage();
    await page.goto(`${emulator.url}/?user=U0ALICENG&chat=C0OPSROOM`);
    await page.waitForSelector("body[data-ready]");
  });
  afterAll(async () => {
    await browser.close();
    await emulator.stop();
  });

  test("what is typed appears for others, escaped", async () => {
    await page.getByLabel("Message").fill("hello <b>all</b> & @bram");
    await page.getByRole("button", { name: "Send" }).click();
    await emulator.waitForMessage((m) => m.text === "hello &lt;b&gt;all&lt;/b&gt; &amp; <@U0BRAMWIT>");
    await page.getByText("hello <b>all</b> & @bram").waitFor();
    expect(await page.locator("#messages b").count()).toBe(0);
  });

  test("a message comes in by itself, and its button is pressed as this person", async () => {
    const message = emulator.workspace.add({
      channel: "C0OPSROOM",
      user: BOT.id,
      text: "card",
      blocks: [
        { type: "section", text: { type: "mrkdwn", text: "Run `ls`? <script>alert(1)</script>" } },
        {
          type: "actions",
          elements: [{ type: "button", action_id: "go", text: { type: "plain_text", text: "Go" }, value: "v" }],
        },
      ],
    });
    await emulator.say("U0BRAMWIT", "C0OPSROOM", "look");
    const request = page.waitForRequest((sent) => sent.url().endsWith("/_emu/press"));
    await page.getByRole("button", { name: "Go" }).click();
    expect((await request).postDataJSON()).toEqual(["U0ALICENG", message.ts, "go"]);
    expect(await page.locator(`[data-id="${message.ts}"] code`).textContent()).toBe("ls");
    expect(await page.locator("#messages script").count()).toBe(0);
  });
});
