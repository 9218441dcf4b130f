import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cachedFileFacts, FACTS_CACHE_MS, freshFileFacts } from "../../../src/core/exec/file-facts.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "facts-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("file facts", () => {
  it("treat absent, looping and unreadable paths alike", () => {
    symlinkSync("loop", join(folder, "loop"));
    for (const path of [join(folder, "none"), join(folder, "loop")]) {
      expect(freshFileFacts().stat(path)).toBeUndefined();
      expect(freshFileFacts().realpath(path)).toBeUndefined();
      expect(freshFileFacts().isExecutable(path)).toBe(false);
      expect(freshFileFacts().sha256(path, 100)).toBeUndefined();
    }
  });

  it("hash content up to a limit, and never wait for a pipe", () => {
    writeFileSync(join(folder, "f"), "abc");
    expect(freshFileFacts().sha256(join(folder, "f"), 3)).toBe(
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
    expect(freshFileFacts().sha256(join(folder, "f"), 2)).toBeUndefined();
    spawnSync("mkfifo", [join(folder, "pipe")]);
    expect(freshFileFacts().sha256(join(folder, "pipe"), 100)).toBeUndefined();
  });

  it("are remembered for a moment when cached, except content", () => {
    let now = 0;
    const facts = cachedFileFacts({ now: () => 0, monotonic: () => now });
    const file = join(folder, "f");
    expect(facts.stat(file)).toBeUndefined();
    writeFileSync(file, "a");
    expect(facts.stat(file)).toBeUndefined();
    const first = facts.sha256(file, 10);
    now = FACTS_CACHE_MS;
    expect(facts.stat(file)).toMatchObject({ size: 1, kind: "file" });
    writeFileSync(file, "b");
    expect(facts.sha256(file, 10)).not.toBe(first);
    expect(freshFileFacts().stat(file)?.size).toBe(1);
  });
});
