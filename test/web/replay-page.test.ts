/// <reference lib="dom" />
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { ReplayEvent } from "../../src/protocol/frames.ts";
import { buildPage, collectComplaints, describeWithBrowser, launchBrowser } from "../support/browser.ts";
import { finishedRun } from "./finished-run.ts";
import { ScriptedGateway } from "./scripted-gateway.ts";

const WAIT = { timeout: 8000, interval: 10 };

const run = finishedRun({ durationMs: 60_000, recorded: true });
/** A minute of a progress line that is drawn over itself, in two pages. */
const PAGES: readonly (readonly ReplayEvent[])[] = [
  [
    [0, "o", "\u001b[1;32mstart\u001b[0m\r\n"],
    [20, "o", "a third"],
  ],
  [[60, "o", "\r\u001b[Kdone"]],
];
const ENTRY = { runId: "run-1", command: "make", startedAtMs: Date.now(), bytes: 4321 };

describeWithBrowser("replays in a browser", () => {
  let folder: string;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let gateway: ScriptedGateway;
  let complaints: string[];

  const open = async (options: BrowserContextOptions = {}) => {
    context = await browser.newContext({ viewport: { width: 1100, height: 800 }, ...options });
    page = await context.newPage();
    collectComplaints(page, complaints);
    await page.goto(`http://127.0.0.1:${gateway.port}/`);
    await page.getByText("Connected", { exact: true }).waitFor();
  };
  const screenText = async () =>
    ((await page.locator(".replay-screen").textContent()) ?? "")
      .split("\n")
      .map((line) => line.trimEnd())
      .filter((line) => line !== "")
      .join("|");
  const shows = (text: string) => vi.waitFor(async () => expect(await screenText()).toBe(text), WAIT);
  const dialog = (name: string) => page.getByRole("dialog", { name });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "web-replay-"));
    await buildPage(folder);
    browser = await launchBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  });

  beforeEach(async () => {
    complaints = [];
    gateway = await ScriptedGateway.start({ page: folder });
    gateway.script = ({ method, params }) => {
      if (method === "recordings.list") return { ok: { recordings: [ENTRY] } };
      if (method !== "recordings.read") return undefined;
      const { offset = 0 } = params as { offset?: number };
      return {
        ok: { ...ENTRY, cols: 40, rows: 5, events: PAGES[offset], ...(offset === 0 ? { next: 1 } : {}) },
      };
    };
    gateway.put(run);
  });
  afterEach(async () => {
    await context.close();
    await gateway.stop();
    expect(complaints).toEqual([]);
  });

  test("a recorded run plays from its start; keys go through it, pause it and change its speed", async () => {
    await open();
    await page.getByRole("button", { name: "Replay" }).click();
    const player = dialog("Replay");
    await player.getByRole("button", { name: "Pause" }).waitFor();
    await shows("start");
    expect(await page.locator(".replay-screen .fg-2").first().textContent()).toBe("start");
    await page.keyboard.press("k");
    await player.getByRole("button", { name: "Play" }).waitFor();
    for (let step = 0; step < 4; step++) await page.keyboard.press("ArrowRight");
    await shows("start|a third");
    await page.keyboard.press("End");
    await shows("start|done");
    await player.getByText("01:00 of 01:00").waitFor();
    await page.keyboard.press("Home");
    await shows("start");
    await page.keyboard.press("Period");
    expect(await player.getByLabel("Speed").inputValue()).toBe("2");
    await player.getByLabel("Position").fill("30");
    await shows("start|a third");
    expect(await player.getByLabel("Position").getAttribute("aria-valuetext")).toBe("00:30 of 01:00");
    await page.keyboard.press("Escape");
    await player.waitFor({ state: "detached" });
  });

  test("the terminal is loaded with the first replay, not with the page", async () => {
    const scripts: string[] = [];
    await open();
    page.on("request", (request) => scripts.push(request.url()));
    await page.reload();
    await page.getByText("Connected", { exact: true }).waitFor();
    expect(scripts.some((url) => url.includes("/screen-"))).toBe(false);
    await page.getByRole("button", { name: "Replay" }).click();
    await shows("start");
    expect(scripts.some((url) => url.includes("/screen-"))).toBe(true);
  });

  test("who wants no motion sees the end, and nothing moves until Play is pressed", async () => {
    await open({ reducedMotion: "reduce" });
    await page.getByRole("button", { name: "Replay" }).click();
    await shows("start|done");
    await dialog("Replay").getByRole("button", { name: "Play" }).click();
    await shows("start");
  });

  test("the list of recordings leads to each of them, and back", async () => {
    await open();
    await page.getByRole("button", { name: "Recordings" }).click();
    await dialog("Recordings").getByRole("button", { name: /make/ }).click();
    await shows("start");
    await page.keyboard.press("Escape");
    await dialog("Replay").waitFor({ state: "detached" });
    await dialog("Recordings").getByText("4.3 kB").waitFor();
  });

  test("without recordings the list says how there can be some", async () => {
    gateway.script = ({ method }) => (method === "recordings.list" ? { ok: { recordings: [] } } : undefined);
    await open();
    await page.getByRole("button", { name: "Recordings" }).click();
    await dialog("Recordings")
      .getByText(/tools\.exec\.record/)
      .waitFor();
  });

  test("a recording that is gone says so; a run without one offers none", async () => {
    gateway.script = ({ method }) =>
      method === "recordings.read" ? { error: { code: "not-found", message: "It is gone by now." } } : undefined;
    const { recorded: _, ...plain } = run;
    gateway.put({ ...plain, runId: "run-2", command: "ls" });
    await open();
    expect(await page.getByRole("button", { name: "Replay" }).count()).toBe(1);
    await page.getByRole("button", { name: "Replay" }).click();
    await dialog("Replay").getByRole("alert").getByText("It is gone by now.").waitFor();
  });

  test("fits a phone: nothing but the terminal scrolls sideways", async () => {
    await open({ viewport: { width: 390, height: 780 } });
    await page.getByRole("button", { name: "Replay" }).click();
    await shows("start");
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(wide).toBe(false);
    const box = await dialog("Replay").boundingBox();
    expect(box?.width).toBeLessThanOrEqual(390);
    for (const name of ["Pause", "Close"]) {
      const button = await dialog("Replay").getByRole("button", { name }).boundingBox();
      expect((button?.x ?? 999) + (button?.width ?? 0)).toBeLessThanOrEqual(390);
    }
  });
});
