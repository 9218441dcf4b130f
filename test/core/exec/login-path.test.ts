import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { loginPath } from "../../../src/core/exec/login-path.ts";
import { isExecutableFile } from "../../../src/core/exec/shell.ts";
import { startChild } from "../../support/child.ts";
import { requireOrSkip } from "../../support/require.ts";
import { eventually } from "../../support/state.ts";
import { isAlive } from "../process/support.ts";

async function ask(profile: string, options: { timeoutMs?: number; env?: Record<string, string> } = {}) {
  const home = mkdtempSync(join(tmpdir(), "openclaw-home-"));
  writeFileSync(join(home, ".bash_profile"), profile);
  const warnings: string[] = [];
  const path = await loginPath({
    env: { PATH: "/usr/bin:/bin", ...options.env },
    home,
    shell: "/bin/bash",
    onWarning: (message) => warnings.push(message),
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
  });
  return { path, warnings };
}

describe("the PATH of the login shell (login-shell-noise-and-hang)", () => {
  it("is read past whatever start-up files print, and past a question", async () => {
    const { path, warnings } = await ask(
      "echo hello; read x; export PATH=/login/bin:relative:$PATH; printf 'PATH=/fake'",
    );
    expect(path?.[0]).toBe("/login/bin");
    expect(path).not.toContain("relative");
    expect(path?.join()).not.toContain("hello");
    expect(warnings).toEqual([]);
  });

  it.each([
    ["a start-up file that hangs", "sleep 30", { timeoutMs: 300 }],
    ["a start-up file that never ends printing", "yes", { timeoutMs: 10_000 }],
    ["a start-up file that replaces the shell", "exec true", {}],
    ["a start-up file that exits", "exit 3", {}],
  ])("%s is a warning and no PATH", async (_, profile, options) => {
    const since = performance.now();
    const { path, warnings } = await ask(profile, options);
    expect(path).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining("commands use the gateway's own PATH")]);
    expect(performance.now() - since).toBeLessThan(5000);
  });

  it("does not wait for a daemon that a start-up file left behind with our pipe", async () => {
    const since = performance.now();
    const { path } = await ask("sleep 20 & export PATH=/login/bin:$PATH");
    expect(path?.[0]).toBe("/login/bin");
    expect(performance.now() - since).toBeLessThan(5000);
  });

  it("a shell that is still asked when the gateway ends is ended with it", async () => {
    const home = mkdtempSync(join(tmpdir(), "openclaw-home-"));
    writeFileSync(join(home, ".bash_profile"), `echo $$ > '${join(home, "pid")}'; trap '' TERM HUP; sleep 600\n`);
    const child = startChild("probe-child.ts", home, "/bin/bash");
    const pid = await eventually(() => {
      const text = existsSync(join(home, "pid")) ? readFileSync(join(home, "pid"), "utf8").trim() : "";
      return text !== "" && Number(text);
    }, 20_000);
    expect(isAlive(pid)).toBe(true);
    child.process.kill("SIGUSR2");
    await once(child.process, "exit");
    await eventually(() => !isAlive(pid), 20_000);
  });

  it("can be switched off from the environment", async () => {
    const { path, warnings } = await ask("", { env: { OPENCLAW_SHELL_ENV_TIMEOUT_MS: "0" } });
    expect(path).toBeUndefined();
    expect(warnings).toEqual([]);
  });
});

/** The program that `SHELL` names, as long as /etc/shells lists it. */
for (const [shell, startup, text] of [
  ["/bin/bash", ".bash_profile", "export PATH=/login/bin:$PATH"],
  ["/bin/sh", ".profile", "export PATH=/login/bin:$PATH"],
  ["/usr/bin/zsh", ".zprofile", "path=(/login/bin $path)"],
  ["/usr/bin/zsh", ".zshenv", "echo hello; export PATH=/login/bin:$PATH"],
  ["/usr/bin/fish", ".config/fish/config.fish", "echo hello; set -gx PATH /login/bin $PATH"],
] as const) {
  requireOrSkip(shell, isExecutableFile(shell))(`a login shell that is ${shell}`, () => {
    const asked = async (shellVariable: string) => {
      const home = mkdtempSync(join(tmpdir(), "openclaw-home-"));
      mkdirSync(dirname(join(home, startup)), { recursive: true });
      writeFileSync(join(home, startup), `${text}\n`);
      const warnings: string[] = [];
      const env = { PATH: "/usr/bin:/bin", SHELL: shellVariable, ZDOTDIR: "/nonexistent" };
      const path = await loginPath({ env, home, onWarning: (message) => warnings.push(message) });
      return { path, warnings };
    };

    it(`gives what ${startup} puts in front`, async () => {
      const { path, warnings } = await asked(shell);
      expect(warnings).toEqual([]);
      expect(path?.[0]).toBe("/login/bin");
      expect(path).toEqual(expect.arrayContaining(["/usr/bin", "/bin"]));
    });
  });
}

describe("which shell is asked", () => {
  it.each([
    ["is not listed in /etc/shells", "/usr/bin/env"],
    ["is no full path", "bash"],
    ["goes through another folder", "/usr/../bin/bash"],
    ["is unset", undefined],
  ])("SHELL that %s: /bin/sh", async (_, SHELL) => {
    expect(readFileSync("/etc/shells", "utf8")).not.toMatch(/^\/usr\/bin\/env$/m);
    const home = mkdtempSync(join(tmpdir(), "openclaw-home-"));
    writeFileSync(join(home, ".bash_profile"), "export PATH=/from-bash\n");
    writeFileSync(join(home, ".profile"), "export PATH=/from-sh:$PATH\n");
    const env = { PATH: "/usr/bin:/bin", ...(SHELL === undefined ? {} : { SHELL }) };
    expect((await loginPath({ env, home, onWarning: () => {} }))?.[0]).toBe("/from-sh");
  });
});
