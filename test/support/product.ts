/** The product as its users have it is what `npm run build` makes: tests that start it make sure it is there. */
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { vi } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MADE = ["dist/main.js", "dist/web/index.html"];
/** Holds the id of the process that builds. */
const LOCK = join(ROOT, "dist/building.pid");
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

interface BuildError {
  readonly killed: boolean;
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Builds when the sources are newer than what was built; with OPENCLAW_TEST_PREBUILT=1 only when nothing was built.
 * Test files run side by side: one builds, the others wait for it. Rejects when the build fails.
 */
export async function ensureBuilt(): Promise<void> {
  if (await isCurrent()) return;
  await mkdir(join(ROOT, "dist"), { recursive: true });
  const mine = await writeFile(LOCK, String(process.pid), { flag: "wx" }).then(
    () => true,
    () => false,
  );
  if (!mine) {
    await vi.waitFor(
      async () => {
        const builder = await readFile(LOCK, "utf8").catch(() => undefined);
        if (builder === undefined) return;
        if (isAlive(Number(builder))) throw new Error(`process ${builder} is still building; ${LOCK} says so`);
        // Killed in the middle of it.
        await rm(LOCK, { force: true });
      },
      { timeout: BUILD_MS, interval: 200 },
    );
    return ensureBuilt();
  }
  try {
    await promisify(execFile)("npm", ["run", "build"], { cwd: ROOT, timeout: BUILD_MS }).catch((error: BuildError) => {
      const why = error.killed ? `it took more than ${BUILD_MS} ms` : `exit code ${error.code}`;
      throw new Error(`npm run build failed (${why}):\n${error.stdout}\n${error.stderr}`);
    });
  } finally {
    await rm(LOCK, { force: true });
  }
}

function isAlive(pid: number): boolean {
  // An empty lock is one that is just being written.
  if (!(pid > 0)) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
