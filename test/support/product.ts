/** The product as its users have it is what `npm run build` makes: tests that start it make sure it is there. */
import { execFile } from "node:child_process";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { vi } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MADE = ["dist/main.js", "dist/web/index.html"];
const LOCK = join(ROOT, "dist/.building");
const BUILD_MS = 120_000;

async function newestChange(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const times = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).mtimeMs));
  return Math.max(...times);
}

async function isCurrent(): Promise<boolean> {
  const made = await Promise.all(MADE.map((file) => stat(join(ROOT, file)).catch(() => undefined)));
  if (made.some((file) => file === undefined)) return false;
  if (process.env.OPENCLAW_TEST_PREBUILT === "1") return true;
  const sources = await newestChange(join(ROOT, "src"));
  return made.every((file) => file !== undefined && file.mtimeMs >= sources);
}

/**
 * Builds when the sources are newer than what was built; with OPENCLAW_TEST_PREBUILT=1 only when nothing was built.
 * Test files run side by side: one builds, the others wait for it. Rejects when the build fails.
 */
export async function ensureBuilt(): Promise<void> {
  if (await isCurrent()) return;
  await mkdir(join(ROOT, "dist"), { recursive: true });
  const mine = await mkdir(LOCK).then(
    () => true,
    () => false,
  );
  if (!mine) {
    await vi.waitFor(
      async () => {
        if (await stat(LOCK).catch(() => undefined)) throw new Error(`another test is still building; ${LOCK} says so`);
      },
      { timeout: BUILD_MS, interval: 200 },
    );
    return;
  }
  try {
    await promisify(execFile)("npm", ["run", "build"], { cwd: ROOT, timeout: BUILD_MS });
  } finally {
    await rm(LOCK, { recursive: true, force: true });
  }
}
