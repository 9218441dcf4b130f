import { execFileSync } from "node:child_process";
import { mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.ts";
import { isExecutableFile } from "../../../src/core/exec/shell.ts";
import { ShellSnapshots } from "../../../src/core/exec/shell-snapshot.ts";
import { createGatewayHost } from "../../../src/core/hosts/gateway-host.ts";
import type { HostRun } from "../../../src/core/hosts/host.ts";
import type { Plan } from "../../../src/core/policy/decision.ts";
import { stripColor } from "../../../src/core/process/sanitizer.ts";
import type { Supervisor } from "../../../src/core/process/supervisor.ts";
import { requireOrSkip } from "../../support/require.ts";
import { quickSupervisor } from "../process/support.ts";

const PATH = ["/usr/bin", "/bin"];
const ZSH = "/usr/bin/zsh";
const FISH = "/usr/bin/fish";

let supervisor: Supervisor;
let home: string;

beforeEach(() => {
  supervisor = quickSupervisor();
  home = mkdtempSync(join(tmpdir(), "openclaw-home-"));
});
afterEach(async () => {
  await supervisor.shutdown();
});

async function run(
  plan: Plan | string,
  extra: Partial<HostRun> = {},
  shell = "/bin/bash",
  withSnapshots = false,
  path: readonly string[] = PATH,
) {
  const env = { HOME: home, SHELL: shell, SLACK_BOT_TOKEN: "xoxb-secret", FOO: "inherited" };
  const host = createGatewayHost({
    supervisor,
    env,
    path,
    ...(withSnapshots
      ? { snapshots: new ShellSnapshots({ stateDir: join(home, "state"), env, home, clock: systemClock }) }
      : {}),
  });
  const handle = await host.run({
    plan: typeof plan === "string" ? { kind: "verbatim", text: plan } : plan,
    cwd: "/tmp",
    env: {},
    marks: {},
    pathPrepend: [],
    pty: false,
    stdin: "closed",
    agentId: "main",
    sessionKey: "s",
    ...extra,
  });
  let output = "";
  handle.onOutput((_, text) => {
    output += text;
  });
  const end = await handle.ended;
  return { output, end };
}

describe("text in the user's shell", () => {
  it.each([
    ["quotes and line ends", `printf '%s|' "it's" 'a "b"' a\\ b\necho 'second line'`, `it's|a "b"|a b|second line\n`],
    ["a here-document", "cat <<'EOF'\n$HOME `x`\nEOF", "$HOME `x`\n"],
    ["a leading dash", "-x 2>/dev/null; echo $?", "127\n"],
    ["trailing blanks and a comment", "echo hi   # comment  ", "hi\n"],
    ["a backslash at a line end", "echo a\\\nb", "ab\n"],
  ])("runs byte for byte: %s", async (_, text, expected) => {
    for (const pathPrepend of [[], ["/opt/first"]]) {
      for (const snapshots of [false, true]) {
        expect((await run(text, { pathPrepend }, "/bin/bash", snapshots)).output).toBe(expected);
      }
    }
  });

  it("has OPENCLAW_SHELL, its overrides, the inherited rest, and no secret", async () => {
    const { output } = await run("env", {
      env: { MY: "1" },
      marks: { OPENCLAW_CHANNEL_CONTEXT: '{"chat":{"id":"C"}}' },
    });
    const lines = output.split("\n");
    expect(lines).toEqual(
      expect.arrayContaining([
        "OPENCLAW_SHELL=exec",
        "MY=1",
        "FOO=inherited",
        'OPENCLAW_CHANNEL_CONTEXT={"chat":{"id":"C"}}',
      ]),
    );
    expect(output).not.toContain("xoxb");
  });

  it("a service account without a login shell still runs commands (nologin-shell)", async () => {
    expect((await run("exit 42", {}, "/bin/false")).end.exitCode).toBe(42);
  });

  it("SHELL that is unset or not there means sh", async () => {
    for (const shell of ["", "/opt/gone/zsh"]) {
      const { output, end } = await run("X=1; echo $X$ZSH_VERSION; exit 42", {}, shell);
      expect([output, end.exitCode]).toEqual(["1\n", 42]);
    }
  });

  it("puts pathPrepend before everything, also before what start-up files prepend, each folder once", async () => {
    writeFileSync(join(home, ".bashrc"), "export PATH=/rc/bin:/opt/first:$PATH\n");
    const { output } = await run(
      "echo $PATH; env | grep -c PREPEND",
      { pathPrepend: ["/opt/first", "/opt/$(touch x)"] },
      "/bin/bash",
      true,
    );
    expect(output).toBe("/opt/first:/opt/$(touch x):/rc/bin:/usr/bin:/bin\n0\n");
  });

  it("uses aliases and functions of the start-up files, and call variables win over theirs (shell-snapshot-secrets)", async () => {
    writeFileSync(join(home, ".bashrc"), "alias hey='echo aliased'\nfn() { echo function; }\nexport NVM_DIR=/rc\n");
    const { output } = await run(
      "hey; fn; echo $NVM_DIR; env | grep -c SNAPSHOT",
      { env: { NVM_DIR: "/call" } },
      "/bin/bash",
      true,
    );
    expect(output).toBe("aliased\nfunction\n/call\n0\n");
  });

  it("refuses a script for another interpreter instead of feeding it to the shell (shebang-multiline)", async () => {
    await expect(run("#!/usr/bin/env python3\nimport os\nprint(os.getcwd())")).rejects.toMatchObject({
      code: "invalid-argument",
    });
  });

  it("has the marks in a terminal as well (channel-context-shape)", async () => {
    const { output } = await run("echo $OPENCLAW_SHELL $OPENCLAW_CHANNEL_CONTEXT; tty", {
      pty: true,
      marks: { OPENCLAW_CHANNEL_CONTEXT: "{}" },
    });
    expect(output).toMatch(/^exec \{\}\r\n\/dev\/pts\/\d+\r\n$/);
  });
});

requireOrSkip("zsh", isExecutableFile(ZSH))("text in zsh", () => {
  const zsh = (text: string, extra: Partial<HostRun> = {}, withSnapshots = false) =>
    run(text, extra, ZSH, withSnapshots);
  const zshrc = (text: string) => writeFileSync(join(home, ".zshrc"), text);

  it.each([
    ["its own words", "print -l {1..3}; a=(x y); echo $a[1]", "1\n2\n3\nx\n"],
    ["quotes and line ends", `printf '%s|' "it's" 'a "b"' a\\ b\necho 'second line'`, `it's|a "b"|a b|second line\n`],
    ["a here-document", "cat <<'EOF'\n$HOME `x`\nEOF", "$HOME `x`\n"],
    ["a leading dash", "-x 2>/dev/null; echo $?", "127\n"],
    ["trailing blanks", "echo hi   ", "hi\n"],
    ["a backslash at a line end", "echo a\\\nb", "ab\n"],
  ])("runs byte for byte, with or without lines before it: %s", async (_, text, expected) => {
    for (const pathPrepend of [[], ["/opt/first"]]) {
      for (const snapshots of [false, true]) {
        expect((await zsh(text, { pathPrepend }, snapshots)).output).toBe(expected);
      }
    }
  });

  it("its own errors come through under its name (zsh-nomatch-and-dialect)", async () => {
    for (const snapshots of [false, true]) {
      const { output, end } = await zsh("echo a=*.zzz", {}, snapshots);
      expect(output).toBe("zsh:1: no matches found: a=*.zzz\n");
      expect(end.exitCode).toBe(1);
    }
    // Over several lines the line counts more than the name.
    expect((await zsh("true\necho a=*.zzz", {}, true)).output).toMatch(/:2: no matches found/);
    expect((await zsh("setopt nonomatch\necho a=*.zzz", {}, true)).output).toBe("a=*.zzz\n");
  });

  it("has aliases, functions and safe variables of .zshrc, no secret, and call variables win (shell-snapshot-secrets)", async () => {
    zshrc(
      "alias hey='echo aliased'\nalias -g LOUD='| tr a-z A-Z'\nfn() { echo function }\nexport NVM_DIR=/rc GOPATH=/go MY_TOKEN=abc PATH=/rc/bin:$PATH\n",
    );
    const { output } = await zsh(
      'hey LOUD; fn; echo "$NVM_DIR $GOPATH <$MY_TOKEN> $PATH"; env | grep -c SNAPSHOT',
      { env: { NVM_DIR: "/call" } },
      true,
    );
    expect(output).toBe("ALIASED\nfunction\n/call /go <> /rc/bin:/usr/bin:/bin\n0\n");
  });

  it("puts pathPrepend before what .zshenv and .zshrc prepend, each folder once", async () => {
    zshrc("path=(/rc/bin /opt/first $path)\n");
    writeFileSync(join(home, ".zshenv"), "export PATH=/env/bin:$PATH\n");
    const { output } = await zsh("echo $PATH; env | grep -c PREPEND", { pathPrepend: ["/opt/first"] }, true);
    expect(output).toBe("/opt/first:/rc/bin:/usr/bin:/bin\n0\n");
  });

  it("works in a terminal", async () => {
    zshrc("alias hey='echo aliased'\n");
    const { output } = await zsh("hey; echo $OPENCLAW_SHELL; tty", { pty: true }, true);
    expect(output).toMatch(/^aliased\r\nexec\r\n\/dev\/pts\/\d+\r\n$/);
  });

  it("what was rebuilt is run by bash, in the dialect it was read in (zsh-nomatch-and-dialect)", async () => {
    zshrc("alias -g '|'='> /tmp/x'\n");
    const plan: Plan = { kind: "rebuilt", text: "'/bin/echo' 'a=*.zzz' '=ls' '~nobodyxx' | '/bin/cat'" };
    expect((await run(plan, {}, ZSH, true)).output).toBe("a=*.zzz =ls ~nobodyxx\n");
  });
});

requireOrSkip("fish", isExecutableFile(FISH))("a user of fish (fish-shell)", () => {
  const POSIX = "X=1; echo $X && cat <<EOF\nhi\nEOF";

  it("gets bash, which the commands were read as, with the start-up files of bash", async () => {
    writeFileSync(join(home, ".bashrc"), "alias hey='echo aliased'\n");
    expect((await run(POSIX, {}, FISH)).output).toBe("1\nhi\n");
    expect((await run(`hey; echo "\${BASH_VERSION:+bash}"`, {}, FISH, true)).output).toBe("aliased\nbash\n");
  });

  it("gets sh where there is no bash, and fish itself where there is neither", async () => {
    const folder = (...programs: string[]) => {
      const made = mkdtempSync(join(tmpdir(), "openclaw-path-"));
      for (const program of programs) symlinkSync(`/bin/${program}`, join(made, program));
      return made;
    };
    const withSh = [folder("sh", "cat")];
    expect((await run(POSIX, {}, FISH, true, withSh)).output).toBe("1\nhi\n");
    const alone = [folder("cat")];
    const { output } = await run(
      "set x (string upper fish); echo $x $OPENCLAW_SHELL; echo $PATH[1]",
      { pathPrepend: ["/opt/first"] },
      FISH,
      true,
      alone,
    );
    expect(output).toBe("FISH exec\n/opt/first\n");
  });
});

requireOrSkip("git", isExecutableFile("/usr/bin/git"))(
  "programs that like to wait for a person (interactive-pager-hang)",
  () => {
    const repository = () => {
      const cwd = mkdtempSync(join(tmpdir(), "openclaw-git-"));
      const options = { cwd, stdio: "ignore" } as const;
      execFileSync("git", ["init", "-q"], options);
      for (const name of ["user.name", "user.email"]) execFileSync("git", ["config", name, "x@example.org"], options);
      execFileSync("git", ["commit", "-q", "--allow-empty", "-m", "first"], options);
      for (let index = 0; index < 40; index++) {
        execFileSync("git", ["commit", "-q", "--allow-empty", "-m", `commit ${index}`], options);
      }
      return cwd;
    };

    it("git log does not page, with or without a terminal", async () => {
      const cwd = repository();
      for (const pty of [false, true]) {
        const { output, end } = await run("git log", { cwd, pty, timeoutMs: 10_000 });
        expect(end).toMatchObject({ reason: "exit", exitCode: 0 });
        expect(stripColor(output).match(/^commit /gm)).toHaveLength(41);
        expect(output.trimEnd().endsWith("first")).toBe(true);
      }
    });

    it("git commit without a message ends instead of opening an editor", async () => {
      const { output, end } = await run("git commit --allow-empty", { cwd: repository(), timeoutMs: 10_000 });
      expect(end).toMatchObject({ reason: "exit", exitCode: 1 });
      expect(output).toContain("empty commit message");
    });
  },
);

describe("commands that were allowed without a person", () => {
  it("argv: no shell, the resolved file, the typed name", async () => {
    const plan: Plan = {
      kind: "argv",
      file: "/bin/bash",
      argv0: "typed",
      args: ["-c", 'echo "$0" "$1"', "zero", "$HOME; ls"],
    };
    expect((await run(plan)).output).toBe("zero $HOME; ls\n");
    const named: Plan = { kind: "argv", file: "/bin/bash", argv0: "typed", args: ["-c", "echo $0"] };
    expect((await run(named)).output).toBe("typed\n");
    expect((await run(named, { pty: true })).output).toBe("typed\r\n");
  });

  it("rebuilt: bash without start-up files, also when the text starts like an option (zsh-nomatch-and-dialect)", async () => {
    expect(
      (await run({ kind: "rebuilt", text: "'/bin/echo' 'a b' | '/usr/bin/wc' '-c'" }, {}, "/bin/zsh")).output,
    ).toBe("4\n");
    expect((await run({ kind: "rebuilt", text: "-x" })).end.exitCode).toBe(127);
  });

  it("ignore aliases, functions and variables of start-up files (shell-snapshot-secrets)", async () => {
    writeFileSync(join(home, ".bashrc"), "alias echo='false'\n/bin/echo() { false; }\nexport NVM_DIR=/rc\n");
    const { output } = await run(
      { kind: "rebuilt", text: "'/bin/echo' 'real'; '/usr/bin/env'" },
      { pathPrepend: ["/opt/first"] },
      "/bin/bash",
      true,
    );
    expect(output.startsWith("real\n")).toBe(true);
    expect(output).toContain("PATH=/opt/first:/usr/bin:/bin\n");
    expect(output).not.toMatch(/^(FOO|NVM_DIR|SLACK)/m);
  });

  it("a file that is gone is an error that nothing was run", async () => {
    const plan: Plan = { kind: "argv", file: "/nonexistent", argv0: "x", args: [] };
    await expect(run(plan)).rejects.toMatchObject({ code: "spawn-failed" });
  });
});
