/**
 * The demo in a real browser: on each platform a request is made, seen, decided and answered by what a person types and
 * presses. With OPENCLAW_SCREENSHOTS set to a folder, the pending and the resolved card of each are kept there.
 */
/// <reference lib="dom" />
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeWithBrowser, launchBrowser } from "../support/browser.ts";
import { eventually } from "../support/state.ts";
import { type Demo, invitation, startDemo } from "./demo.ts";

const WAIT_MS = 20_000;
const SCREENSHOTS = process.env.OPENCLAW_SCREENSHOTS;

async function keep(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

describeWithBrowser("the demo", () => {
  let browser: Browser;
  let demo: Demo;

  beforeAll(async () => {
    demo = await startDemo();
    browser = await launchBrowser();
    const person = await demo.product.person("status");
    await eventually(async () => {
      const { channels } = await person.call("channels.status", {});
      return channels.length === 4 && channels.every((channel) => channel.state === "connected");
    }, WAIT_MS);
  }, 200_000);
  afterAll(async () => {
    await browser?.close();
    await demo?.stop();
  });

  it("tells where to play whom", () => {
    const text = invitation(demo);
    for (const place of demo.places) expect(text).toContain(place.page?.(place.guest, place.room));
    expect(text).toContain(demo.webLink);
  });

  describe.each(["slack", "discord", "telegram"] as const)("on %s", (name) => {
    it("a request is typed, shown as a card, allowed with a button, and its output comes back", async () => {
      const place = demo.places.find((one) => one.name === name);
      if (!place) throw new Error(`The demo has no ${name}.`);
      const page = await browser.newPage({ viewport: { width: 1000, height: 760 } });
      await page.goto(place.page?.(place.owner, place.room) ?? "");
      await page.waitForSelector("body[data-ready]");
      await page.getByLabel("Message").fill("/exec printf 'build %s ok\\n' 41 42 43");
      await page.getByRole("button", { name: "Send" }).click();
      const allow = page.getByRole("button", { name: "Allow once", exact: true });
      await allow.waitFor({ timeout: WAIT_MS });
      await keep(page, `${name}-pending`);
      await allow.click();
      await page.getByText("build 43 ok", { exact: false }).last().waitFor({ timeout: WAIT_MS });
      await page
        .getByText(/exit 0/)
        .last()
        .waitFor({ timeout: WAIT_MS });
      await allow.waitFor({ state: "detached", timeout: WAIT_MS });
      await keep(page, `${name}-resolved`);
      expect(place.violations()).toEqual([]);
      await page.close();
    });

    it("what else a waiting card can do: the whole command to its reader alone, and put off until later", async () => {
      const place = demo.places.find((one) => one.name === name);
      if (!place) throw new Error(`The demo has no ${name}.`);
      const page = await browser.newPage({ viewport: { width: 1000, height: 900 } });
      await page.goto(place.page?.(place.owner, place.room) ?? "");
      await page.waitForSelector("body[data-ready]");
      const steps = Array.from(
        { length: 9 },
        (_, step) => `./check --region eu-west-${step} --profile release-candidate`,
      );
      await page.getByLabel("Message").fill(`/exec ${steps.join(" && ")}`);
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByRole("button", { name: "Allow once", exact: true }).waitFor({ timeout: WAIT_MS });
      const more = name === "slack" ? page.getByText("⋯") : page.getByRole("button", { name: "More…" });
      if (name !== "telegram") await more.last().click();
      const choice = (label: string) => page.getByRole("button", { name: label, exact: true }).last();
      await choice("Show full command").waitFor({ timeout: WAIT_MS });
      await keep(page, `${name}-more`);
      await choice("Show full command").click();
      await page.getByText(/\d+ characters, SHA-256 [0-9a-f]{12}/).waitFor({ timeout: WAIT_MS });
      // The page has drawn the answer, and a menu that was open is closed.
      if (name === "slack") await more.last().click();
      await choice("Snooze").click();
      await page.getByText(/Put off by alice/).waitFor({ timeout: WAIT_MS });
      await page.getByText(/I ask again here in 10 min/).waitFor({ timeout: WAIT_MS });
      await keep(page, `${name}-snoozed`);
      await page.getByRole("button", { name: "Deny", exact: true }).last().click();
      await page.getByText(/Put off by alice/).waitFor({ state: "detached", timeout: WAIT_MS });
      expect(place.violations()).toEqual([]);
      await page.close();
    });

    it("a long output shows its beginning and its end, and comes as a file below", async () => {
      const place = demo.places.find((one) => one.name === name);
      if (!place) throw new Error(`The demo has no ${name}.`);
      const page = await browser.newPage({ viewport: { width: 1000, height: 1500 } });
      await page.goto(place.page?.(place.owner, place.room) ?? "");
      await page.waitForSelector("body[data-ready]");
      await page.getByLabel("Message").fill("/exec seq -f 'step %g of the build' 1 2000");
      await page.getByRole("button", { name: "Send" }).click();
      const allow = page.getByRole("button", { name: "Allow once", exact: true });
      await allow.waitFor({ timeout: WAIT_MS });
      await allow.click();
      await page.getByText("… 1940 lines left out …").waitFor({ timeout: WAIT_MS });
      await page.getByText(/Full log of .*\./).waitFor({ timeout: WAIT_MS });
      await page
        .getByText(/output-.*\.txt/)
        .first()
        .waitFor({ timeout: WAIT_MS });
      await keep(page, `${name}-long`);
      expect(place.violations()).toEqual([]);
      await page.close();
    });

    it("a stranger writes, the owner is asked with a card, lets them in with a button, and the card says so", async () => {
      const place = demo.places.find((one) => one.name === name);
      if (!place) throw new Error(`The demo has no ${name}.`);
      await place.say(place.stranger, place.direct(place.stranger), "hello, who are you?");
      const page = await browser.newPage({ viewport: { width: 1000, height: 760 } });
      await page.goto(place.page?.(place.owner, place.direct(place.owner)) ?? "");
      await page.waitForSelector("body[data-ready]");
      const approve = page.getByRole("button", { name: "Approve", exact: true });
      await approve.waitFor({ timeout: WAIT_MS });
      await keep(page, `${name}-pairing`);
      await approve.click();
      await page.getByText("Approved by alice").waitFor({ timeout: WAIT_MS });
      await approve.waitFor({ state: "detached", timeout: WAIT_MS });
      await keep(page, `${name}-pairing-resolved`);
      expect(place.violations()).toEqual([]);
      await page.close();
    });
  });
});
