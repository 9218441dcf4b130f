import { describe, expect, it } from "vitest";
import { findExecutable, isTrustedDirectory } from "../../../src/core/policy/executables.ts";
import type { FileFacts, FileStat } from "../../../src/core/policy/types.ts";

const USER = 1000;

/** A table for a file system: directories with their mode and owner; files end in a name with a mode that runs. */
function table(entries: Record<string, Partial<FileStat>>, links: Record<string, string> = {}): FileFacts {
  const base: FileStat = { dev: 1, ino: 1, size: 1, mtimeMs: 1, mode: 0o755, uid: 0, gid: 0, kind: "directory" };
  const follow = (path: string): string => links[path] ?? path;
  const stat = (path: string): FileStat | undefined => {
    const entry = follow(path) === "/" ? {} : entries[follow(path)];
    return entry && { ...base, ...entry };
  };
  return {
    uid: USER,
    stat,
    realpath: (path) => (stat(path) ? follow(path) : undefined),
    isExecutable: (path) => stat(path) !== undefined,
    sha256: () => undefined,
  };
}

const trusted = (dir: string, entries: Record<string, Partial<FileStat>>, cwd = "/work"): boolean =>
  isTrustedDirectory(dir, { cwd, facts: table(entries), trustedDirs: [] });

describe("a directory programs may be taken from", () => {
  const mine = { uid: USER, gid: USER };
  it.each([
    ["the system's", "/usr/bin", { "/usr": {}, "/usr/bin": {} }, true],
    ["one's own", "/home/me/bin", { "/home": {}, "/home/me": mine, "/home/me/bin": mine }, true],
    [
      "one's own with a private group",
      "/home/me/bin",
      { "/home": {}, "/home/me": mine, "/home/me/bin": { ...mine, mode: 0o775 } },
      true,
    ],
    [
      "one's own that a shared group may write",
      "/home/me/bin",
      { "/home": {}, "/home/me": mine, "/home/me/bin": { uid: USER, gid: 50, mode: 0o775 } },
      false,
    ],
    [
      "the system's that a group may write",
      "/usr/local/bin",
      { "/usr": {}, "/usr/local": {}, "/usr/local/bin": { gid: 50, mode: 0o2775 } },
      false,
    ],
    ["below one that everybody may write", "/tmp/x", { "/tmp": { mode: 0o1777 }, "/tmp/x": mine }, false],
    [
      "somebody else's",
      "/home/you/bin",
      { "/home": {}, "/home/you": { uid: 1001 }, "/home/you/bin": { uid: 1001 } },
      false,
    ],
    ["the working directory", "/work/bin", { "/work": mine, "/work/bin": mine }, false],
    ["missing", "/nowhere", {}, false],
  ] as const)("%s", (_, dir, entries, expected) => {
    expect(trusted(dir, entries)).toBe(expected);
  });

  it("stays the system's when the agent works in the root", () => {
    expect(trusted("/usr/bin", { "/usr": {}, "/usr/bin": {} }, "/")).toBe(true);
    expect(trusted("/opt/x", { "/opt": {}, "/opt/x": {} }, "/")).toBe(false);
  });

  it("is whatever an operator vouches for", () => {
    expect(isTrustedDirectory("/tmp/x", { cwd: "/work", facts: table({}), trustedDirs: ["/tmp/x"] })).toBe(true);
  });
});

describe("findExecutable", () => {
  const facts = table(
    {
      "/usr": {},
      "/usr/bin": {},
      "/usr/bin/python3.11": { kind: "file" },
      "/usr/bin/pgrep": { kind: "file" },
      "/usr/bin/dir": { kind: "directory" },
    },
    { "/usr/bin/python3": "/usr/bin/python3.11", "/usr/bin/pkill": "/usr/bin/pgrep" },
  );
  const find = (typed: string) => findExecutable(typed, { cwd: "/work", path: ["/usr/bin"], facts, trustedDirs: [] });

  it("follows links and knows every name", () => {
    expect(find("python3")).toMatchObject({
      path: "/usr/bin/python3",
      real: "/usr/bin/python3.11",
      names: ["python3", "python3.11"],
      trusted: true,
    });
  });
  it("keeps the name of a program that acts by it", () => {
    expect(find("pkill")).toMatchObject({ real: "/usr/bin/pkill", names: ["pkill"] });
    expect(find("pgrep")).toMatchObject({ real: "/usr/bin/pgrep" });
  });
  it.each([
    ["nothing", "not-found"],
    ["dir", "not-found"],
    ["/usr/bin/none", "not-found"],
    ["/usr/bin/../bin/pgrep", "relative-path"],
    ["/usr//bin/pgrep", "relative-path"],
    ["/proc/self/exe", "relative-path"],
    ["pgrep ", "non-ascii-name"],
    ["-x", "non-ascii-name"],
    ["p\u0433rep", "non-ascii-name"],
    ["", "non-ascii-name"],
  ])("refuses %j as %s", (typed, code) => {
    expect(find(typed)).toMatchObject({ code });
  });
});
