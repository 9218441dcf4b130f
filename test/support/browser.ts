import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
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
