/// <reference lib="dom" />
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { collectComplaints, describeWithBrowser, launchBrowser } from "../support/browser.ts";
import { ensureBuilt } from "../support/product.ts";
import { type ProductLives, productLives } from "../support/product-lives.ts";
import { type RedisServer, redisAvailable, startRedis } from "../support/redis.ts";
import { requireOrSkip } from "../support/require.ts";

const ASKING = { tools: { exec: { mode: "ask" } } };
const WAIT = { timeout: 15_000, interval: 20 };

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

type Mode = "embedded" | "Redis";

const webChat = (mode: Mode) => () => {
  let redis: RedisServer | undefined;
  let browser: Browser;
  let product: ProductLives;
  let link: string;
  let folder: string;
  let contexts: BrowserContext[];
  let page: Page;
  let complaints: string[];

  const backend = (): Record<string, string> => (redis ? { REDIS_URL: redis.url } : {});

  /** Another browser with nothing kept from before. */
  const newPage = async (address = link): Promise<Page> => {
    const context = await browser.newContext({ viewport: { width: 1000, height: 800 }, acceptDownloads: true });
    contexts.push(context);
    const opened = await context.newPage();
    collectComplaints(opened, complaints);
    await opened.goto(address);
    return opened;
  };
  const say = async (words: string, where = page) => {
    const field = where.getByRole("textbox", { name: "Message or command" });
    await field.fill(words);
    await field.press("Enter");
  };
  const approval = (where = page) => where.locator(".approval").last();
  const run = (where = page) => where.locator(".run").last();

  beforeAll(async () => {
    await ensureBuilt();
    browser = await launchBrowser();
  }, 150_000);
  afterAll(() => browser?.close());

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "web-chat-"));
    contexts = [];
    complaints = [];
    redis = mode === "Redis" ? await startRedis({ persist: true }) : undefined;
    product = await productLives({ config: ASKING, env: backend() });
    link = `${product.url}/#token=${await product.token()}`;
    page = await newPage();
  });
  afterEach(async () => {
    await Promise.all(contexts.map((context) => context.close()));
    await product?.dispose();
    await redis?.stop();
    await rm(folder, { recursive: true, force: true });
    expect(complaints).toEqual([]);
  });

  test("a command asks; Allow once runs it and shows the output", async () => {
    await say("/exec echo hi");
    await approval().getByRole("heading", { name: "Approval needed" }).waitFor();
    expect(await approval().locator(".command-text").textContent()).toBe("echo hi");
    expect(await page.title()).toBe("(1) openclaw-exec");
    await approval().getByRole("button", { name: "Allow once" }).click();
    await run().getByRole("heading", { name: "Finished" }).waitFor();
    expect(await run().locator(".output").textContent()).toBe("hi");
    expect(await run().locator(".chip").textContent()).toBe("exit code 0");
    await approval().getByRole("heading", { name: "Allowed once" }).waitFor();
    expect(await page.locator(".said").count()).toBe(1);
  });

  test("Deny runs nothing", async () => {
    const canary = join(folder, "canary");
    await say(`/exec touch ${canary}`);
    await approval().getByRole("button", { name: "Deny", exact: true }).click();
    await approval().getByRole("heading", { name: "Denied" }).waitFor();
    // A second command, allowed and finished, shows that the first had its time.
    await say("/exec echo after");
    await approval().getByRole("button", { name: "Allow once" }).click();
    await run().getByText("after", { exact: true }).last().waitFor();
    expect(existsSync(canary)).toBe(false);
    expect(await page.locator(".run").count()).toBe(1);
  });

  test("Allow always stores what the card said, and the same command no longer asks", async () => {
    await say("/exec echo again");
    await approval().getByRole("button", { name: "Allow always" }).click();
    const promised = await approval().locator(".stored li").allTextContents();
    expect(promised.join()).toContain("echo");
    await approval().getByRole("group").getByRole("button", { name: "Allow always" }).click();
    await run().getByRole("heading", { name: "Finished" }).waitFor();
    expect(await readFile(join(product.stateDir, "exec-approvals.json"), "utf8")).toContain("allow-always");
    await say("/exec echo again");
    await vi.waitFor(async () => expect(await page.locator(".run").count()).toBe(2), WAIT);
    expect(await page.locator(".approval").count()).toBe(1);
  });

  test("a long command goes to the background and its completion comes by itself", async () => {
    await say("/exec sleep 3; echo done");
    await approval().getByRole("button", { name: "Allow once" }).click();
    await page.getByRole("heading", { name: /^Running for 00:0/ }).waitFor();
    await page.getByRole("heading", { name: "Finished" }).waitFor({ timeout: 15_000 });
    expect(await run().locator(".output").textContent()).toBe("done");
    expect(await run().locator(".card-title").textContent()).toMatch(/Finished.*exit code 0.*3\.\d/);
  });

  test("Stop ends a running command", async () => {
    await say("/exec yieldMs=100 sleep 300");
    await approval().getByRole("button", { name: "Allow once" }).click();
    await run().getByRole("button", { name: "Stop" }).click();
    await run().getByRole("heading", { name: "Stopped" }).waitFor({ timeout: 15_000 });
  });

  test("live output appears while the command runs", async () => {
    await say("/exec yieldMs=100 for i in 1 2 3 4; do echo line $i; sleep 1; done");
    await approval().getByRole("button", { name: "Allow once" }).click();
    await run()
      .getByRole("heading", { name: /Running/ })
      .waitFor();
    await run().getByText("line 2").waitFor();
    expect(await run().getByRole("heading").first().textContent()).toMatch(/Running/);
    await run().getByRole("heading", { name: "Finished" }).waitFor({ timeout: 15_000 });
    expect(await run().locator(".output").textContent()).toBe("line 1\nline 2\nline 3\nline 4");
  });

  test("Run again asks anew and runs anew; the full log can be read and saved", async () => {
    await say("/exec seq 1 5000");
    await approval().getByRole("button", { name: "Allow once" }).click();
    await run().getByRole("heading", { name: "Finished" }).waitFor();
    await run().getByRole("button", { name: "Full log" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/of 5,000 lines/).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      dialog.getByRole("button", { name: "Download" }).click(),
    ]);
    const saved = join(folder, "saved.log");
    await download.saveAs(saved);
    expect((await readFile(saved, "utf8")).trim().split("\n")).toEqual(
      Array.from({ length: 5000 }, (_, at) => `${at + 1}`),
    );
    await page.keyboard.press("Escape");

    await run().getByRole("button", { name: "Run again" }).click();
    await vi.waitFor(async () => expect(await page.locator(".approval").count()).toBe(2), WAIT);
    await approval().getByRole("button", { name: "Allow once" }).click();
    await vi.waitFor(async () => expect(await page.locator(".run").count()).toBe(2), WAIT);
  });

  test("a reload keeps the conversation", async () => {
    await say("/exec echo remembered");
    await approval().getByRole("button", { name: "Allow once" }).click();
    await run().getByRole("heading", { name: "Finished" }).waitFor();
    // The receipt of the approval is told about the end behind the card of the run.
    await approval().getByText("exit 0").waitFor();
    const before = await page.locator(".message").allTextContents();
    await page.reload();
    await run().getByRole("heading", { name: "Finished" }).waitFor();
    expect(await page.locator(".message").allTextContents()).toEqual(before);
  });

  test("a second browser sees the decision at once, and its buttons are gone (card-all-surfaces-updated)", async () => {
    const second = await newPage();
    await say("/exec echo shared");
    await approval(second).getByRole("button", { name: "Allow once" }).waitFor();
    await approval().getByRole("button", { name: "Deny", exact: true }).click();
    await approval(second).getByRole("heading", { name: "Denied" }).waitFor();
    expect(
      await approval(second)
        .getByRole("button", { name: /Allow|Deny/ })
        .count(),
    ).toBe(0);
  });

  test("colours of a program are shown", async () => {
    await say("/exec printf '\\033[31mred\\033[0m plain'");
    await approval().getByRole("button", { name: "Allow once" }).click();
    await run().getByRole("heading", { name: "Finished" }).waitFor();
    expect(await run().locator(".output .fg-1").textContent()).toBe("red");
    expect(await run().locator(".output").textContent()).toBe("red plain");
  });

  test("typing a slash offers the gateway's commands", async () => {
    await page.getByRole("textbox", { name: "Message or command" }).pressSequentially("/ex");
    await page.getByRole("option", { name: /\/exec/ }).waitFor();
    await page.keyboard.press("Tab");
    await vi.waitFor(
      async () => expect(await page.getByRole("textbox", { name: "Message or command" }).inputValue()).toBe("/exec "),
      WAIT,
    );
  });

  test("a browser without the token is told how to get it", async () => {
    const stranger = await newPage(product.url);
    await stranger.getByText("openclaw-exec gateway --print-link", { exact: true }).waitFor();
    await stranger.getByLabel("Link or token").fill(link);
    await stranger.keyboard.press("Enter");
    await stranger.getByText("Connected", { exact: true }).waitFor();
    expect(stranger.url()).not.toContain("token");
  });

  test("a killed gateway loses nothing: the page comes back by itself, what waited still waits, what was typed is sent", async () => {
    const ownRedis = mode === "Redis" ? await startRedis({ persist: true }) : undefined;
    const env: Record<string, string> = ownRedis ? { REDIS_URL: ownRedis.url } : {};
    const lives = await productLives({ config: ASKING, port: await freePort(), env });
    try {
      const here = await newPage(`${lives.url}/#token=${await lives.token()}`);
      await say("/exec echo waited", here);
      await approval(here).getByRole("button", { name: "Allow once" }).waitFor();
      await lives.kill();
      await here.getByText(/Trying again in \d+ s/).waitFor();
      expect(await approval(here).getByRole("button", { name: "Allow once" }).isDisabled()).toBe(true);
      await say("/exec echo typed meanwhile", here);
      await here.getByText("will be sent when the connection is back").waitFor();

      await lives.start();
      await vi.waitFor(async () => expect(await here.locator(".approval").count()).toBe(2), { timeout: 30_000 });
      await approval(here).getByText("echo typed meanwhile").waitFor();
      await here.locator(".approval").first().getByRole("button", { name: "Allow once" }).click();
      await run(here).getByRole("heading", { name: "Finished" }).waitFor();
      expect(await run(here).locator(".output").textContent()).toBe("waited");
      expect(await here.locator(".said").count()).toBe(2);
    } finally {
      await lives.dispose();
      await ownRedis?.stop();
    }
  }, 60_000);
};

describeWithBrowser("the web chat of a started gateway, embedded", webChat("embedded"));
requireOrSkip("redis-server", redisAvailable)("the web chat of a started gateway, on Redis", () => {
  describeWithBrowser("in a browser", webChat("Redis"));
});
