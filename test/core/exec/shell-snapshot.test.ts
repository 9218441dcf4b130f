import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.ts";
import { chooseShell, isExecutableFile } from "../../../src/core/exec/shell.ts";
import { ShellSnapshots, snapshotsEnabled } from "../../../src/core/exec/shell-snapshot.ts";
import { requireOrSkip } from "../../support/require.ts";

const PATH = ["/usr/bin", "/bin"];
const BASH = chooseShell({ SHELL: "/bin/bash" }, PATH);
const ZSH_FILE = "/usr/bin/zsh";

let home: string;
let stateDir: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openclaw-home-"));
  stateDir = mkdtempSync(join(tmpdir(), "openclaw-state-"));
});

function snapshots(env: Record<string, string> = {}): ShellSnapshots {
  return new ShellSnapshots({ stateDir, home, env, clock: systemClock });
}

function bashrc(text: string): void {
  writeFileSync(join(home, ".bashrc"), text);
}

for (const [file, startup, functionHead] of [
  ["/bin/bash", ".bashrc", "fn ()"],
  [ZSH_FILE, ".zshrc", "fn () {"],
] as const) {
  const name = file.slice(file.lastIndexOf("/") + 1);
  requireOrSkip(name, isExecutableFile(file))(`a snapshot of ${startup} (shell-snapshot-secrets)`, () => {
    const shell = chooseShell({ SHELL: file }, PATH);
    const write = (text: string) => writeFileSync(join(home, startup), text);
    /** What `command` prints in a fresh shell behind the snapshot. */
    const behind = (snapshot: string | undefined, command: string) =>
      execFileSync(file, [...shell.args, `. '${snapshot}'\neval '${command}'`], {
        encoding: "utf8",
        env: { PATH: PATH.join(":") },
      });

    it("has aliases and functions in a private file, and safe variables only", async () => {
      write(
        "echo noise\nalias hey='echo hi'\nfn() { echo fn; }\nexport PYENV_ROOT=/py API_TOKEN=abc OTHER=1 PATH=/rc/bin:$PATH\n",
      );
      const snapshot = await snapshots().for(shell, PATH);
      expect(snapshot?.env).toEqual({ PYENV_ROOT: "/py" });
      expect(snapshot?.path).toEqual(["/rc/bin", "/usr/bin", "/bin"]);
      const text = readFileSync(snapshot?.file ?? "", "utf8");
      expect(text).toContain("alias hey='echo hi'");
      expect(text).toContain(functionHead);
      expect(text).not.toContain("abc");
      expect(text).not.toContain("noise");
      expect(statSync(snapshot?.file ?? "").mode & 0o777).toBe(0o600);
      const folder = join(stateDir, "cache", "shell-snapshots");
      expect(statSync(folder).mode & 0o777).toBe(0o700);
      expect(readdirSync(folder)).toEqual([basename(snapshot?.file ?? "")]);
      expect(behind(snapshot?.file, "hey; fn")).toBe("hi\nfn\n");
    });

    it("gives back what the start-up file made: an alias is expanded once, and may have a function's name", async () => {
      write(
        "alias say='echo said'\ntwice() {\n  say 'a b'\n}\nboth() { echo function; }\nalias both='echo alias; both'\n",
      );
      const snapshot = await snapshots().for(shell, PATH);
      expect(behind(snapshot?.file, "twice; say it; both")).toBe("said a b\nsaid it\nalias\nfunction\n");
    });

    it.each([
      ["an authorization header", "api() { curl -H 'Authorization: Bearer x' http://h; }"],
      ["a token in an alias", "alias deploy='FOO_TOKEN=abcdef deploy'"],
      ["a key by its shape", "alias gh='gh --token ghp_0123456789abcdef'"],
      ["a private key", "key() { echo '-----BEGIN RSA PRIVATE KEY-----'; }"],
    ])("is thrown away whole when it holds %s", async (_, text) => {
      write(`alias hey='echo hi'\n${text}\n`);
      expect(await snapshots().for(shell, PATH)).toBeUndefined();
      expect(readdirSync(join(stateDir, "cache", "shell-snapshots"))).toEqual([]);
    });

    it.each([
      ["exits", "exit 3"],
      ["becomes another program", "exec true"],
      ["can not be read as shell text", "alias hey='echo hi'\nif then ((\n"],
    ])("a start-up file that %s costs at most the snapshot", async (_, text) => {
      write(`${text}\n`);
      const snapshot = await snapshots().for(shell, PATH);
      if (snapshot !== undefined) expect(behind(snapshot.file, "echo ok")).toBe("ok\n");
    });

    it("is taken again when the start-up file changes", async () => {
      write("alias a='echo 1'\n");
      const taker = snapshots();
      const first = await taker.for(shell, PATH);
      expect(await taker.for(shell, PATH)).toBe(first);
      write("alias a='echo 22'\n");
      expect(behind((await taker.for(shell, PATH))?.file, "a")).toBe("22\n");
    });
  });
}

requireOrSkip("zsh", isExecutableFile(ZSH_FILE))("where zsh keeps its start-up files", () => {
  it("ZDOTDIR of the gateway says it, as for zsh itself", async () => {
    const shell = chooseShell({ SHELL: ZSH_FILE }, PATH);
    const dots = mkdtempSync(join(tmpdir(), "openclaw-zdotdir-"));
    writeFileSync(join(home, ".zshrc"), "alias where='echo home'\n");
    writeFileSync(join(dots, ".zshrc"), "alias where='echo zdotdir'\n");
    const snapshot = await snapshots({ ZDOTDIR: dots }).for(shell, PATH);
    expect(readFileSync(snapshot?.file ?? "", "utf8")).toContain("echo zdotdir");
  });
});

describe("a snapshot of start-up files (shell-snapshot-secrets)", () => {
  it("an ordinary function that speaks of passwords is no secret", async () => {
    bashrc('ask() { read -rsp "password: " reply; echo "$reply"; }\n');
    expect(await snapshots().for(BASH, PATH)).toBeDefined();
  });

  it("is taken once, again when the start-up file changes, and again when the file was tampered with", async () => {
    bashrc("alias a='echo 1'\n");
    const taker = snapshots();
    const [first, same] = await Promise.all([taker.for(BASH, PATH), taker.for(BASH, PATH)]);
    expect(same).toBe(first);
    bashrc("alias a='echo 22'\n");
    utimesSync(join(home, ".bashrc"), 1, 1);
    const second = await taker.for(BASH, PATH);
    expect(readFileSync(second?.file ?? "", "utf8")).toContain("echo 22");
    expect(second?.file).not.toBe(first?.file);
    writeFileSync(second?.file ?? "", "echo evil");
    chmodSync(second?.file ?? "", 0o666);
    const third = await taker.for(BASH, PATH);
    expect(readFileSync(third?.file ?? "", "utf8")).not.toContain("evil");
  });

  it("a start-up file that hangs is waited for once, then commands run without one", async () => {
    bashrc("sleep 60\n");
    const taker = snapshots();
    const since = performance.now();
    expect(await taker.for(BASH, PATH)).toBeUndefined();
    expect(performance.now() - since).toBeGreaterThan(4500);
    const again = performance.now();
    expect(await taker.for(BASH, PATH)).toBeUndefined();
    expect(performance.now() - again).toBeLessThan(200);
  });

  it("is off for other shells and by the gateway's environment", async () => {
    const sh = chooseShell({ SHELL: "/bin/sh" }, PATH);
    expect(await snapshots().for(sh, PATH)).toBeUndefined();
    for (const value of ["0", "false", "No", "off"])
      expect(snapshotsEnabled({ OPENCLAW_EXEC_SHELL_SNAPSHOT: value })).toBe(false);
    expect(snapshotsEnabled({ OPENCLAW_EXEC_SHELL_SNAPSHOT: "1" })).toBe(true);
    expect(await snapshots({ OPENCLAW_EXEC_SHELL_SNAPSHOT: "0" }).for(BASH, PATH)).toBeUndefined();
  });

  it("files nobody used for three days go, once", async () => {
    bashrc("");
    const first = await snapshots().for(BASH, PATH);
    const longAgo = Date.now() / 1000 - 4 * 86_400;
    utimesSync(first?.file ?? "", longAgo, longAgo);
    bashrc("alias a='b'\n");
    const second = await snapshots().for(BASH, PATH);
    expect(readdirSync(join(stateDir, "cache", "shell-snapshots"))).toEqual([second?.file.split("/").at(-1)]);
  });
});
