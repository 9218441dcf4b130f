import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { cliHome } from "./run-cli.ts";

const run = promisify(execFile);
const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

describe("the command line", () => {
  test("help lists every command in its group, on stdout, and is no error", async () => {
    const { code, out, err } = await cliHome().run("--help");
    expect(code).toBe(0);
    expect(err).toBe("");
    expect(out).toContain("Usage: openclaw-exec <command>");
    for (const name of ["gateway", "config"]) expect(out).toMatch(new RegExp(`^ {2}${name} +[A-Z]`, "m"));
    for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
  });

  test("without a command shows the help as a usage error", async () => {
    const { code, out, err } = await cliHome().run();
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err).toContain("Usage: openclaw-exec <command>");
  });

  test.each([
    [["confg"], "Unknown command 'confg'.\nDid you mean config?"],
    [["config", "gett"], "Unknown command 'gett'.\nDid you mean get?"],
    [["config", "get", "--jsn"], "Unknown option '--jsn'.\nDid you mean --json?"],
    [["config", "unset"], "Missing required argument 'key'"],
    [["config", "file", "extra"], "Too many arguments"],
    [["xyzzy"], "Unknown command 'xyzzy'.\nAdd --help to see what it takes."],
    [["xyzzy", "--help"], "Unknown command 'xyzzy'.\nAdd --help to see what it takes."],
    [["deliveries", "bogus"], "Unknown command 'bogus'.\nThere is: list, retry, drop"],
    [["deliveries", "retyr"], "Unknown command 'retyr'.\nDid you mean retry?"],
    [["deliveries", "retyr", "12"], "Unknown command 'retyr'.\nDid you mean retry?"],
    [["nodes", "aprove", "3f2c91ab"], "Unknown command 'aprove'.\nDid you mean approve?"],
    [
      ["nodes", "invoke", "mac-1", "system.which", "--timeout-ms", "soon"],
      "Option '--timeout-ms <number>' argument 'soon' is invalid: give a number from 100 to 300000.",
    ],
    [["cron", "ad"], "Unknown command 'ad'.\nDid you mean add?"],
    [["tool", "a", "b"], "Add --help to see what it takes."],
  ])("%j is a usage error that says what was meant", async (argv, message) => {
    const { code, out, err } = await cliHome().run(...argv);
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err).toContain(message);
  });

  test("help after a command is that command's", async () => {
    const { code, out } = await cliHome().run("config", "set", "--help");
    expect(code).toBe(0);
    expect(out).toContain("Usage: openclaw-exec config set [options] <key> [value]");
  });

  test("--version prints the version of the package", async () => {
    const { default: manifest } = await import("../../package.json", { with: { type: "json" } });
    expect(await cliHome().run("--version")).toEqual({ code: 0, out: manifest.version, err: "" });
  });

  test("the bin ends with the code of the command", async () => {
    const home = cliHome();
    const bin = [
      process.execPath,
      ["--import", "tsx", file("../../src/main.ts"), "config", "get", "tools.exce"],
    ] as const;
    const failed = await run(...bin, { env: { ...process.env, OPENCLAW_STATE_DIR: home.dir } }).catch((error) => error);
    expect(failed).toMatchObject({ code: 1, stdout: "" });
    expect(failed.stderr).toContain("Did you mean tools.exec?");
  });

  test("a small command loads no chat SDK, no database and no queue", async () => {
    const home = cliHome();
    const { stdout } = await run(process.execPath, ["--import", "tsx", file("loaded-packages.ts")], {
      env: { ...process.env, OPENCLAW_STATE_DIR: home.dir },
    });
    const packages = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as string[];
    expect(packages).toContain("commander");
    expect(packages).not.toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          /^(@slack|discord\.js|@discordjs|grammy|bullmq|ioredis|libsql|node-pty|hono|pino|prom-client)/,
        ),
      ]),
    );
  });
});
