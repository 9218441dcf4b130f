import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const MAX_SCRIPT_BYTES = 100 * 1024;
/** Loaded when somebody replays a recording, never before. */
const MAX_TERMINAL_BYTES = 50 * 1024;

let folder: string;
let files: ReadonlyMap<string, Buffer>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "web-bundle-"));
  const configFile = fileURLToPath(new URL("../../src/web/vite.config.ts", import.meta.url));
  await build({ configFile, logLevel: "error", build: { outDir: folder } });
  const names = (await readdir(folder, { recursive: true })).filter((name) => extname(name) !== "");
  files = new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const)));
}, 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const ending = (extension: string) => [...files].filter(([name]) => name.endsWith(extension));

describe("the built page", () => {
  const isTerminal = ([name]: [string, Buffer]) => /^assets\/screen-/.test(name);
  const compressed = (scripts: [string, Buffer][]) =>
    scripts.reduce((sum, [, content]) => sum + gzipSync(content, { level: 9 }).length, 0);

  test("has at most 100 kB of script, compressed", () => {
    const bytes = compressed(ending(".js").filter((script) => !isTerminal(script)));
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(MAX_SCRIPT_BYTES);
  });

  test("leaves the terminal for replays in a file of its own, which opening the page does not load", () => {
    const [terminal, ...more] = ending(".js").filter(isTerminal);
    expect(more).toEqual([]);
    expect(terminal?.[1].toString()).toContain("registerCsiHandler");
    expect(compressed(terminal ? [terminal] : [])).toBeLessThanOrEqual(MAX_TERMINAL_BYTES);
    expect(files.get("index.html")?.toString()).not.toContain("screen-");
    const main = ending(".js").filter((script) => !isTerminal(script));
    for (const [, content] of main)
      expect(content.toString()).not.toMatch(/import\s*(?:[\w{][^"']*from\s*)?["'][^"']*screen-/);
  });

  test("is made of files of its own origin only: no inline script or style, nothing from elsewhere", () => {
    const html = files.get("index.html")?.toString() ?? "";
    expect(html).toMatch(/<script type="module"[^>]* src="\/assets\//);
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)/);
    expect(html).not.toMatch(/<style|\sstyle=|\son[a-z]+=/);
    const sheets = ending(".css").map(([, content]) => content.toString());
    for (const text of [html, ...sheets]) expect(text).not.toMatch(/(?:src|href)="(?!\/)|url\((?!#)|@import/);
  });

  test("does not carry the gateway's parsers, nor the card gallery", () => {
    const script = ending(".js")
      .map(([, content]) => content.toString())
      .join("\n");
    expect(script).not.toMatch(/ZodError|gallery/i);
    expect([...files.keys()].some((name) => name.includes("gallery"))).toBe(false);
  });

  test("never turns text into markup", () => {
    const script = ending(".js")
      .map(([, content]) => content.toString())
      .join("\n");
    expect(script).not.toMatch(/insertAdjacentHTML|document\.write|\beval\(|new Function\(/);
  });
});
