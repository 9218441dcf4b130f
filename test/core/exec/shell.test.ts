import { describe, expect, it } from "vitest";
import { foreignShebang } from "../../../src/core/exec/shebang.ts";
import { chooseShell, mergePaths, shellArgs, splitPath } from "../../../src/core/exec/shell.ts";

const PATH = ["/usr/bin", "/bin"];
const only =
  (...files: string[]) =>
  (path: string) =>
    files.includes(path);

describe("which shell", () => {
  it.each([
    ["SHELL as it is", "/bin/zsh", ["/bin/zsh", "/bin/sh"], "/bin/zsh", "zsh"],
    ["blanks around it", " /bin/bash ", ["/bin/bash"], "/bin/bash", "bash"],
    [
      "fish gives way to bash (fish-shell)",
      "/usr/bin/fish",
      ["/usr/bin/fish", "/bin/bash", "/bin/sh"],
      "/bin/bash",
      "bash",
    ],
    ["fish gives way to sh without bash (fish-shell)", "/usr/bin/fish", ["/usr/bin/fish", "/bin/sh"], "/bin/sh", "sh"],
    ["fish only when there is nothing else (fish-shell)", "/usr/bin/fish", ["/usr/bin/fish"], "/usr/bin/fish", "fish"],
    ["/bin/false is no shell (nologin-shell)", "/bin/false", ["/bin/false", "/bin/sh"], "/bin/sh", "sh"],
    ["nologin is no shell (nologin-shell)", "/usr/sbin/nologin", ["/usr/sbin/nologin", "/bin/sh"], "/bin/sh", "sh"],
    ["unset", "", ["/bin/sh", "/bin/bash"], "/bin/sh", "sh"],
    ["unset, no sh", "", ["/usr/bin/bash"], "/usr/bin/bash", "bash"],
    ["a bare name is looked up", "bash", ["/usr/bin/bash"], "/usr/bin/bash", "bash"],
    ["one that is gone", "/opt/gone/zsh", ["/bin/sh"], "/bin/sh", "sh"],
    ["nothing at all", "", [], "sh", "sh"],
  ])("%s", (_, SHELL, files, file, kind) => {
    expect(chooseShell({ SHELL }, PATH, "linux", only(...files))).toMatchObject({ file, kind });
  });

  it("start-up files are left out", () => {
    const args = (file: string) => chooseShell({ SHELL: file }, PATH, "linux", () => true).args;
    expect(args("/bin/bash")).toEqual(["--noprofile", "--norc", "-c"]);
    expect(args("/bin/zsh")).toEqual(["-f", "-c"]);
    expect(args("/bin/dash")).toEqual(["-c"]);
  });

  it("on Windows PowerShell 7 comes before Windows PowerShell", () => {
    const env = { ProgramFiles: "C:\\Program Files", ProgramW6432: "C:\\Program Files", SystemRoot: "C:\\Windows" };
    const seven = "C:\\Program Files\\PowerShell\\7\\pwsh.exe";
    const old = "C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe";
    expect(chooseShell(env, ["D:\\bin"], "win32", only(seven, old)).file).toBe(seven);
    expect(chooseShell(env, ["D:\\bin"], "win32", only("D:\\bin\\pwsh.exe", old)).file).toBe("D:\\bin\\pwsh.exe");
    expect(chooseShell(env, [], "win32", only(old)).file).toBe(old);
    expect(chooseShell(env, [], "win32", only()).file).toBe("powershell.exe");
  });

  it("a text that looks like an option is still a text", () => {
    const shell = chooseShell({ SHELL: "/bin/bash" }, PATH, "linux", () => true);
    expect(shellArgs(shell, "ls")).toEqual(["--noprofile", "--norc", "-c", "ls"]);
    expect(shellArgs(shell, "-x").at(-1)).toBe("\n-x");
  });
});

describe("search paths", () => {
  it("keep their order, each folder once, at its first place", () => {
    expect(mergePaths(["/login", "/bin"], splitPath("/usr/bin::/bin:/opt"))).toEqual([
      "/login",
      "/bin",
      "/usr/bin",
      "/opt",
    ]);
  });
});

describe("a script pasted as a command (shebang-multiline)", () => {
  it.each([
    ["#!/usr/bin/env python3\nimport os\nprint(os.getcwd())", "python3"],
    ["#!/usr/bin/node\nconsole.log(1)", "node"],
    ["#! /usr/bin/env -S ruby -w\nputs 1", "ruby"],
  ])("%j is refused and %s named", (command, interpreter) => {
    expect(foreignShebang(command)?.text).toContain(`run "${interpreter} <file>"`);
  });

  it.each([
    "#!/bin/bash\necho hi",
    "#!/usr/bin/env sh\ntrue",
    "echo '#!/usr/bin/python'",
    "# !/usr/bin/python",
    "#!\necho",
  ])("%j is a shell's own text", (command) => {
    expect(foreignShebang(command)).toBeUndefined();
  });
});
