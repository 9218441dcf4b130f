import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loginPath } from "../../../src/core/exec/login-path.ts";

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

  it("can be switched off from the environment", async () => {
    const { path, warnings } = await ask("", { env: { OPENCLAW_SHELL_ENV_TIMEOUT_MS: "0" } });
    expect(path).toBeUndefined();
    expect(warnings).toEqual([]);
  });
});
