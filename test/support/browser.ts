import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { build } from "vite";
import { requireOrSkip } from "./require.ts";

const PLACES = [
  process.env.CHROMIUM_PATH,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
const chromiumPath = PLACES.find((path) => path !== undefined && existsSync(path));

/** Quiet and alone: no first-run pages, no updates, no traffic of its own. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** `describe`, or a loud skip on a machine without Chromium. CHROMIUM_PATH names another one. */
export const describeWithBrowser = requireOrSkip("Chromium", chromiumPath !== undefined);

export function launchBrowser(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error("Chromium is not installed here.");
  return chromium.launch({ executablePath: chromiumPath, headless: true, args: FLAGS });
}

/** Builds the page into `folder`, as the product ships it. */
export async function buildPage(folder: string): Promise<void> {
  const configFile = fileURLToPath(new URL("../../src/web/vite.config.ts", import.meta.url));
  await build({ configFile, logLevel: "error", build: { outDir: folder } });
}

/** What a page throws or reports as an error goes into `complaints`; that its gateway is gone is none. */
export function collectComplaints(page: Page, complaints: string[]): void {
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().includes("WebSocket")) complaints.push(message.text());
  });
}
