import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { argPatternProblem, globMatches, grantHash, matchAllowlist } from "../../../src/core/policy/allowlist.ts";
import type { Executable } from "../../../src/core/policy/executables.ts";
import { type Asked, codes, judge, makeWorld, SYSTEM_PATH, type World } from "./policy-world.ts";

describe("globMatches", () => {
  it.each([
    ["/usr/bin/*", "/usr/bin/ls", true],
    ["/usr/*", "/usr/bin/ls", false],
    ["/usr/**", "/usr/bin/ls", true],
    ["**/ls", "/usr/bin/ls", true],
    ["/**/ls", "/usr/bin/ls", true],
    ["/usr/*/ls", "/usr/bin/ls", true],
    ["/*/ls", "/usr/bin/ls", false],
    ["l?", "ls", true],
    ["l?", "l/", false],
    ["[l]s", "ls", false],
    ["{ls,cat}", "ls", false],
    ["/opt/tool (x86)/bin/t[1]", "/opt/tool (x86)/bin/t[1]", true],
    ["/usr/bin/g++", "/usr/bin/g++", true],
    ["/usr/bin/g++", "/usr/bin/gg", false],
    ["/usr/bin/g+*", "/usr/bin/g+++", true],
    ["/srv/app/bin/*", "/srv/app/bin/sub/tool", false],
    ["/usr/local/bin/tool?", "/usr/local/bin/tool1", true],
    ["/usr/local/bin/tool?", "/usr/local/bin/tool/", false],
    ["/srv/Safe/run", "/srv/safe/run", false],
  ] as const)(
    "%s on %s: %s (cases path-glob-metachar, glob-single-star-depth, glob-question-mark-and-case)",
    (pattern, text, hit) => {
      expect(globMatches(pattern, text)).toBe(hit);
    },
  );

  it("agrees with the obvious regular expression", () => {
    const piece = fc.constantFrom("a", "b", "/", "*", "**", "?");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.stringMatching(/^[ab/]{0,10}$/), (pieces, text) => {
        const pattern = pieces.join("");
        const source = pattern.replace(/\*\*|\*|\?/g, (w) => (w === "**" ? "[^]*" : w === "*" ? "[^/]*" : "[^/]"));
        expect(globMatches(pattern, text)).toBe(new RegExp(`^${source}$`).test(text));
      }),
    );
  });
});

describe("argPatternProblem", () => {
  it.each(["^status$", "^commit -m .*$", "^(build|test)$", "^a{1,3}$", String.raw`^status(\x00|$)`, "^[(+*]+$"])(
    "accepts %s",
    (pattern) => {
      expect(argPatternProblem(pattern)).toBeUndefined();
    },
  );
  it.each(["(a+)+$", "(a|a)*", "((a)b*)+", "(", String.raw`(a)\1`, "x".repeat(513), "(a*){2,}"])(
    "refuses %s",
    (pattern) => {
      expect(argPatternProblem(pattern)).toBeTypeOf("string");
    },
  );
});

describe("grantHash", () => {
  it("never reads two argument lists alike", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.array(fc.string()), (a, b) => {
        fc.pre(JSON.stringify(a) !== JSON.stringify(b));
        expect(grantHash("/w", "x", a)).not.toBe(grantHash("/w", "x", b));
      }),
    );
  });
});

describe("rules on real files", () => {
  let world: World;
  let tools: string;
  beforeAll(() => {
    world = makeWorld();
    tools = join(world.root, "tools");
    mkdirSync(join(tools, "sub"), { recursive: true });
    for (const name of ["tool", "sub/tool"]) {
      writeFileSync(join(tools, name), "#!/bin/sh\n");
      chmodSync(join(tools, name), 0o755);
    }
    symlinkSync("/usr/bin/ls", join(tools, "listing"));
    writeFileSync(join(world.cwd, "tool"), "#!/bin/sh\n");
    chmodSync(join(world.cwd, "tool"), 0o755);
  });
  afterAll(() => world.remove());

  it("lets a bare name cover only calls by that name (case bare-name-entry-ignored)", () => {
    expect(judge("ls -la", world.cwd, { allowlist: ["ls"] }).kind).toBe("allow");
    expect(judge("./tool x", world.cwd, { allowlist: ["tool"] }).kind).toBe("ask");
    expect(judge(`${tools}/tool x`, world.cwd, { allowlist: ["tool"] }).kind).toBe("ask");
  });

  it("follows symlinks to what really runs", () => {
    expect(judge(`${tools}/listing`, world.cwd, { allowlist: ["/usr/bin/ls"] }).kind).toBe("allow");
    expect(judge(`${tools}/listing`, world.cwd, { allowlist: [`${tools}/listing`] }).kind).toBe("ask");
    const decision = judge(`${tools}/listing`, world.cwd, { allowlist: ["/usr/bin/ls"] });
    // The link itself lies where others can swap it, so the file behind it is what runs.
    expect(decision.kind === "allow" && decision.plan.kind === "argv" && decision.plan.file).toBe("/usr/bin/ls");
  });

  it("trusts a named file anywhere, and a wildcard only where nobody else can put files", () => {
    expect(judge(`${tools}/tool`, world.cwd, { allowlist: [`${tools}/tool`] }).kind).toBe("allow");
    const decision = judge(`${tools}/tool`, world.cwd, { allowlist: [`${tools}/*`] });
    // The temporary directory is writable by everybody.
    expect(codes(decision)).toEqual(["untrusted-directory"]);
  });

  it("covers a relative call only by the file's own path", () => {
    expect(judge("./tool", world.cwd, { allowlist: [`${world.cwd}/tool`] }).kind).toBe("allow");
    expect(codes(judge("./tool", world.cwd, { allowlist: ["*"] }))).toEqual(["relative-path"]);
  });

  it("keeps argument boundaries when the pattern speaks of NUL (case argpattern-all-platforms)", () => {
    const allowlist = [{ pattern: "/usr/bin/git", argPattern: String.raw`^status(\x00|$)` }];
    expect(judge("git status", world.cwd, { allowlist }).kind).toBe("allow");
    expect(judge("git push --force", world.cwd, { allowlist }).kind).toBe("ask");
    expect(judge("git 'status push'", world.cwd, { allowlist }).kind).toBe("ask");
  });

  it("lets a rule that fixes all arguments answer the argument guard, and no other", () => {
    const fixed = { pattern: "/usr/bin/find", argPattern: "^\\. -name gone -delete$" };
    expect(judge("find . -name gone -delete", world.cwd, { allowlist: [fixed] }).kind).toBe("allow");
    expect(judge("find . -name other -delete", world.cwd, { allowlist: [fixed] }).kind).toBe("ask");
    const loose = { pattern: "/usr/bin/find", argPattern: "-delete" };
    expect(codes(judge("find . -name gone -delete", world.cwd, { allowlist: [loose] }))).toEqual(["argument-guard"]);
    expect(judge("find . -delete", world.cwd, { allowlist: ["find"], config: { argumentGuard: false } }).kind).toBe(
      "allow",
    );
  });

  it("lets such a rule answer for a program that runs others, never for a shell", () => {
    const allowlist = [
      { pattern: "/usr/bin/xargs", argPattern: String.raw`^-n1\x00basename$` },
      { pattern: "/usr/bin/bash", argPattern: "^-c ls$" },
      { pattern: "*" },
    ];
    expect(judge("ls | xargs -n1 basename", world.cwd, { allowlist }).kind).toBe("allow");
    expect(judge("ls | xargs -n1 rm", world.cwd, { allowlist }).kind).toBe("ask");
    expect(judge("/usr/bin/bash -c ls", world.cwd, { allowlist }).kind).toBe("ask");
  });

  it("expands ~ to the home of the gateway's user", () => {
    expect(judge(`${world.cwd}/tool`, world.cwd, { allowlist: ["~/tool"] }).kind).toBe("allow");
  });

  it("covers everything on PATH by *, but no carrier, and nothing by * with an argPattern (case star-entry)", () => {
    expect(judge("date", world.cwd, { allowlist: ["*"] }).kind).toBe("allow");
    expect(judge("xargs rm", world.cwd, { allowlist: ["*"] }).kind).toBe("ask");
    expect(judge("rm --version", world.cwd, { allowlist: [{ pattern: "*", argPattern: "^--version$" }] }).kind).toBe(
      "ask",
    );
  });

  it("ignores a generated rule that carries no binding", () => {
    const decision = judge("ls", world.cwd, { allowlist: [{ pattern: "/usr/bin/ls", source: "allow-always" }] });
    expect(codes(decision)).toEqual(["allowlist-miss"]);
  });

  it("keeps programs apart that are one file and act by their name", () => {
    const bin = join(world.root, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "busybox"), "#!/bin/sh\n");
    chmodSync(join(bin, "busybox"), 0o755);
    for (const name of ["cat", "rm", "sh"]) symlinkSync("busybox", join(bin, name));
    const asked = (command: string, allowlist: Asked["allowlist"] = []) =>
      judge(command, world.cwd, { allowlist, path: [bin] });
    const granted = asked("cat x");
    const rules = granted.kind === "ask" ? granted.alwaysStores : [];
    expect(rules.map((rule) => rule.pattern)).toEqual([join(bin, "cat")]);
    expect(asked("cat x", rules).kind).toBe("allow");
    expect(asked("rm x", rules).kind).toBe("ask");
    expect(asked("rm x", [join(bin, "cat")]).kind).toBe("ask");
    expect(asked("cat x", [join(bin, "cat")]).kind).toBe("allow");
    expect(asked("busybox cat x", ["*", "busybox", join(bin, "busybox")]).kind).toBe("ask");
    expect(asked("sh -c 'rm x'", [join(bin, "busybox"), join(bin, "sh")]).kind).toBe("ask");
  });

  it("finds a program in a relative PATH entry and does not trust it", () => {
    const decision = judge("tool", world.cwd, { allowlist: ["*", "tool"], path: [".", ...SYSTEM_PATH] });
    expect(codes(decision)).toEqual(["untrusted-directory"]);
  });
});

describe("on Windows", () => {
  const windows = (path: string): Executable => ({
    typed: path,
    path: path.replaceAll("\\", "/"),
    real: path,
    byName: false,
    relative: false,
    trusted: true,
    names: [path.split("\\").at(-1) as string],
  });
  const listed = "C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe";
  const covered = (path: string, pattern: string, windowsNames: boolean): boolean =>
    typeof matchAllowlist(
      { executable: windows(path), args: [], cwd: "/", fileHash: () => undefined, home: "/", windowsNames },
      [{ pattern }],
    ) !== "string";

  it("win-case-and-cmdlet: paths are compared without regard to case and kind of slash, there alone", () => {
    const shouted = listed.toUpperCase();
    expect(covered(shouted, listed, true)).toBe(true);
    expect(covered(listed, listed.replaceAll("\\", "/").toLowerCase(), true)).toBe(true);
    expect(covered(shouted, "C:\\Windows\\**", true)).toBe(true);
    expect(covered(shouted, "D:\\Windows\\**", true)).toBe(false);
    expect(covered(shouted, listed, false)).toBe(false);
  });

  it.each([
    ["Get-ChildItem -LiteralPath work", "not-found"],
    ['powershell -Command "dir; del x"', "shell-wrapper"],
    ["POWERSHELL.EXE -File a.ps1", "login-shell"],
    ['cmd.exe /c "dir & del x"', "not-found"],
  ])("win-case-and-cmdlet: %s is a question, and runs as it is written when a person allows it", (command, code) => {
    const decision = judge(command, "/tmp", { allowlist: [listed, "powershell", "powershell.exe"] });
    expect(decision.kind).toBe("ask");
    expect(codes(decision)).toContain(code);
    expect(decision.kind === "ask" && decision.plan).toEqual({ kind: "verbatim", text: command });
  });
});
