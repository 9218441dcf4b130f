/// <reference lib="dom" />
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { collectComplaints, describeWithBrowser, launchBrowser } from "../support/browser.ts";
import { ensureBuilt } from "../support/product.ts";
import { type ProductLives, productLives } from "../support/product-lives.ts";

describeWithBrowser("recordings of a started gateway", () => {
  let browser: Browser;
  let product: ProductLives;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    await ensureBuilt();
    browser = await launchBrowser();
  }, 150_000);
  afterAll(() => browser?.close());

  beforeEach(async () => {
    complaints = [];
    product = await productLives({ config: { tools: { exec: { mode: "full", record: "pty" } } } });
    const context = await browser.newContext({ viewport: { width: 1000, height: 800 } });
    page = await context.newPage();
    collectComplaints(page, complaints);
    await page.goto(`${product.url}/#token=${await product.token()}`);
  });
  afterEach(async () => {
    await page.context().close();
    await product?.dispose();
    expect(complaints).toEqual([]);
  });

  const screen = () => page.locator(".replay-screen");

  test("a terminal session is watched again, from its card and, after a restart, from the list", async () => {
    const field = page.getByRole("textbox", { name: "Message or command" });
    await field.fill("/exec pty=true printf '10 %%'; sleep 0.5; printf '\\r\\033[K\\033[32mdone\\033[0m\\n'");
    await field.press("Enter");
    const run = page.locator(".run").last();
    await run.getByRole("heading", { name: "Finished" }).waitFor();
    await run.getByRole("button", { name: "Replay" }).click();
    await vi.waitFor(async () => expect((await screen().textContent())?.trim()).toBe("10 %"), {
      timeout: 10_000,
      interval: 10,
    });
    await page.locator(".replay-screen .fg-2").getByText("done").waitFor();
    expect((await screen().textContent())?.trim()).toBe("done");

    await product.terminate();
    await product.start();
    await page.goto(`${product.url}/#token=${await product.token()}`);
    await page.getByRole("button", { name: "Recordings" }).click();
    await page
      .getByRole("dialog", { name: "Recordings" })
      .getByRole("button", { name: /printf/ })
      .click();
    await page.locator(".replay-screen .fg-2").getByText("done").waitFor();
  });
});
