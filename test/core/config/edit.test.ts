import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import JSON5 from "json5";
import { describe, expect, test } from "vitest";
import { editConfig, InvalidEdit } from "../../../src/core/config/edit.ts";
import { parseKeyPath } from "../../../src/core/config/key-path.ts";
import { scratch } from "./scratch.ts";

const set = (key: string, value: unknown) => ({ kind: "set", path: parseKeyPath(key), value }) as const;
const unset = (key: string) => ({ kind: "unset", path: parseKeyPath(key) }) as const;

describe("a change", () => {
  test("is written privately, and the old file is kept", async () => {
    const home = scratch();
    home.write("{ gateway: { port: 1 } } // mine\n");
    const result = await editConfig(await home.load(), set("gateway.port", 2));
    expect(result).toMatchObject({ changed: true, written: true, restart: true, backup: `${home.file}.bak` });
    expect(readFileSync(home.file, "utf8")).toBe("{ gateway: { port: 2 } } // mine\n");
    expect(readFileSync(`${home.file}.bak`, "utf8")).toBe("{ gateway: { port: 1 } } // mine\n");
    for (const name of readdirSync(home.dir)) expect(statSync(join(home.dir, name)).mode & 0o777).toBe(0o600);
  });

  test("keeps the last five files, newest first, and leaves nothing else behind", async () => {
    const home = scratch();
    home.write("{}");
    for (let port = 1; port <= 8; port++) await editConfig(await home.load(), set("gateway.port", port));
    const ports = ["", ".bak", ".bak.1", ".bak.2", ".bak.3", ".bak.4"].map(
      (suffix) => (JSON5.parse(readFileSync(home.file + suffix, "utf8")) as { gateway: { port: number } }).gateway.port,
    );
    expect(ports).toEqual([8, 7, 6, 5, 4, 3]);
    expect(readdirSync(home.dir)).toHaveLength(6);
  });

  test("that would not be valid is refused with the problems, and nothing is written", async () => {
    const home = scratch();
    home.write("{ gateway: { port: 1 } }");
    const edit = editConfig(await home.load(), set("gateway.port", "high"));
    await expect(edit).rejects.toBeInstanceOf(InvalidEdit);
    await expect(edit).rejects.toMatchObject({ problems: [{ path: "gateway.port" }] });
    expect(readFileSync(home.file, "utf8")).toBe("{ gateway: { port: 1 } }");
    expect(readdirSync(home.dir)).toEqual(["openclaw.json"]);
  });

  test("may repair a broken file one problem at a time, but not add one", async () => {
    const home = scratch();
    home.write("{ gateway: { port: -1, bind: 5 } }");
    const first = await editConfig(await home.load(), set("gateway.port", 80));
    expect(first.remaining).toMatchObject([{ path: "gateway.bind" }]);
    await expect(editConfig(await home.load(), set("logging.level", "loud"))).rejects.toBeInstanceOf(InvalidEdit);
    const second = await editConfig(await home.load(), unset("gateway.bind"));
    expect(second.remaining).toEqual([]);
  });

  test("may enter the tokens of a chat one after the other", async () => {
    const home = scratch();
    home.write("{}");
    const first = await editConfig(await home.load(), set("channels.slack.botToken", "xoxb-1"));
    expect(first).toMatchObject({ written: true, remaining: [{ path: "channels.slack.appToken" }] });
    const second = await editConfig(await home.load(), set("channels.slack.appToken", "env:SLACK_APP_TOKEN"));
    expect(second.remaining).toMatchObject([{ path: "channels.slack.appToken" }]);
    await home.good({ SLACK_APP_TOKEN: "xapp-1" });
  });

  test("in a fresh installation starts from the starter file, so that the policy is not open", async () => {
    const home = scratch();
    await editConfig(await home.load(), set("gateway.port", 8080));
    expect((await home.good()).config).toMatchObject({ gateway: { port: 8080 }, tools: { exec: { mode: "ask" } } });
  });

  test("as a dry run writes nothing, not even a lock", async () => {
    const home = scratch();
    const result = await editConfig(await home.load(), set("gateway.port", 1), { dryRun: true });
    expect(result).toMatchObject({ changed: true, written: false });
    expect(readdirSync(home.dir)).toEqual([]);
  });

  test("follows the file's own spelling of a key", async () => {
    const home = scratch();
    home.write(`{ agents: { entries: { main: { tools: { exec: { timeoutSeconds: 1 } } } } } }`);
    const result = await editConfig(await home.load(), set("agents.list[0].tools.exec.timeoutSec", 2));
    expect(result.path).toBe("agents.entries.main.tools.exec.timeoutSeconds");
    expect(readFileSync(home.file, "utf8")).toContain("timeoutSeconds: 2");
  });

  test("takes a number for a name where names are numbers", async () => {
    const home = scratch();
    home.write("{ channels: { telegram: { enabled: false } } }");
    await editConfig(await home.load(), set("channels.telegram.groups.-1001.topics.7.requireMention", false));
    const { config } = await home.good();
    expect(config.channels.telegram?.accounts.default?.groups).toEqual({
      "-1001": { topics: { "7": { requireMention: false } } },
    });
  });

  test("of what is not there says so", async () => {
    const home = scratch();
    home.write("{}");
    await expect(editConfig(await home.load(), unset("gateway.port"))).rejects.toMatchObject({ code: "not-found" });
  });

  test("to a linked file is refused and names the file behind it", async () => {
    const home = scratch();
    const real = join(home.dir, "real.json");
    writeFileSync(real, "{}", { mode: 0o600 });
    symlinkSync(real, home.file);
    await expect(editConfig(await home.load(), set("gateway.port", 1))).rejects.toThrow(real);
    expect(readFileSync(real, "utf8")).toBe("{}");
  });

  test("is refused where the configuration is managed elsewhere", async () => {
    const home = scratch();
    home.write("{}");
    const loaded = await home.load({ OPENCLAW_CONFIG_READONLY: "1" });
    await expect(editConfig(loaded, set("gateway.port", 1))).rejects.toThrow("OPENCLAW_CONFIG_READONLY");
  });

  test("to a file that is not believed is refused", async () => {
    const home = scratch();
    home.write("{}");
    chmodSync(home.file, 0o666);
    await expect(editConfig(await home.load(), set("gateway.port", 1))).rejects.toThrow("chmod 600");
  });

  test("based on an older file is refused", async () => {
    const home = scratch();
    home.write("{}");
    const loaded = await home.load();
    home.write("{ gateway: { port: 5 } }");
    const edit = editConfig(loaded, set("gateway.port", 1), { baseHash: loaded.file.hash });
    await expect(edit).rejects.toThrow("changed meanwhile");
    expect(readFileSync(home.file, "utf8")).toBe("{ gateway: { port: 5 } }");
  });
});

describe("several writers", () => {
  const script = fileURLToPath(new URL("edit-worker.ts", import.meta.url));
  const run = promisify(execFile);

  test("in different processes lose nothing of each other", async () => {
    const home = scratch();
    home.write("{}");
    const writers = [1, 2, 3, 4].map((writer) =>
      run(process.execPath, ["--import", "tsx", script, home.dir, String(writer), "8"]),
    );
    await Promise.all(writers);
    const { config } = await home.good();
    expect(Object.keys(config.accessGroups)).toHaveLength(32);
    expect(existsSync(`${home.file}.lock`)).toBe(false);
  });

  test("do not wait for one that died", async () => {
    const home = scratch();
    home.write("{}");
    const gone = await run(process.execPath, ["-e", "console.log(process.pid)"]);
    writeFileSync(`${home.file}.lock`, `${gone.stdout.trim()} left-behind\n`);
    const past = Date.now() / 1000 - 10;
    utimesSync(`${home.file}.lock`, past, past);
    const result = await editConfig(await home.load(), set("gateway.port", 1));
    expect(result.written).toBe(true);
    expect(existsSync(`${home.file}.lock`)).toBe(false);
  });
});
