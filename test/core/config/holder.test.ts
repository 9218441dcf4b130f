import { renameSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { ConfigHolder, type Reload, type Schedule } from "../../../src/core/config/holder.ts";
import { type Scratch, scratch } from "./scratch.ts";

const START = `{ tools: { exec: { mode: "ask" } }, gateway: { port: 1 }, channels: { telegram: { botToken: "1:x" } } }`;

async function follow(home: Scratch, text = START, schedule?: Schedule) {
  home.write(text);
  const loaded = await home.good();
  const holder = new ConfigHolder(
    loaded,
    { env: { HOME: home.dir }, stateDir: home.dir, workingDir: home.dir },
    schedule,
  );
  onTestFinished(() => holder.stop());
  return holder;
}

describe("a changed file", () => {
  test("takes effect at once for policy, agents and access, and names what waits for a restart", async () => {
    const home = scratch();
    const holder = await follow(home);
    home.write(`{
      tools: { exec: { mode: "allowlist", safeBins: [] } },
      agents: { list: [{ id: "a" }] },
      gateway: { port: 2, auth: { maxFailures: 3 } },
      channels: { telegram: { botToken: "1:y", dmPolicy: "allowlist", allowFrom: [5] } },
      commands: { native: false },
    }`);
    expect(await holder.reload()).toEqual({
      kind: "applied",
      live: [
        "tools.exec.mode",
        "tools.exec.safeBins",
        "channels.telegram.dmPolicy",
        "channels.telegram.allowFrom",
        "agents.list",
      ],
      restart: ["gateway.port", "gateway.auth.maxFailures", "channels.telegram.botToken", "commands.native"],
    });
    const config = holder.current();
    expect(config.tools.exec).toMatchObject({ mode: "allowlist", safeBins: [] });
    expect(config.gateway).toMatchObject({ port: 1, auth: { maxFailures: 10 } });
    expect(config.channels.telegram?.accounts.default).toMatchObject({ botToken: "1:x", allowFrom: ["5"] });
  });

  test("that goes back to what runs needs no restart any more", async () => {
    const home = scratch();
    const holder = await follow(home);
    home.write(START.replace("port: 1", "port: 2"));
    await holder.reload();
    home.write(`${START}\n`);
    expect(await holder.reload()).toEqual({ kind: "applied", live: [], restart: [] });
  });

  test("with a new bot account is not half applied", async () => {
    const home = scratch();
    const holder = await follow(home);
    home.write(START.replace('"1:x"', '"1:x", accounts: { b: { botToken: "2:y", allowFrom: ["*"] } }'));
    expect(await holder.reload()).toMatchObject({
      live: [],
      restart: ["channels.telegram.accounts.b.botToken", "channels.telegram.accounts.b.allowFrom"],
    });
    expect(Object.keys(holder.current().channels.telegram?.accounts ?? {})).toEqual(["default"]);
  });

  test("from which a chat was removed keeps its access rules until the restart", async () => {
    const home = scratch();
    const holder = await follow(home, `{ channels: { telegram: { botToken: "1:x", allowFrom: [5] } } }`);
    home.write("{ tools: {} }");
    expect(await holder.reload()).toMatchObject({ live: ["tools"] });
    expect(holder.current().channels.telegram?.accounts.default?.allowFrom).toEqual(["5"]);
  });

  test("that only moved remarks tells nobody to restart", async () => {
    const home = scratch();
    const holder = await follow(home);
    home.write(`// hello\n${START}`);
    expect(await holder.reload()).toEqual({ kind: "applied", live: [], restart: [] });
    expect(await holder.reload()).toEqual({ kind: "unchanged" });
  });
});

describe("a running gateway is not changed by", () => {
  test.each([
    ["a syntax error", "{ tools: {"],
    ["an unknown key", "{ tools: { exce: {} } }"],
    ["a secret that is missing", `{ channels: { telegram: { botToken: "env:NOT_SET" } } }`],
    ["an emptied file, whose defaults would run everything", ""],
    ["an empty document", "{}"],
  ])("%s", async (_name, text) => {
    const home = scratch();
    const holder = await follow(home);
    const before = holder.current();
    home.write(text);
    const reload = await holder.reload();
    expect(reload).toMatchObject({ kind: "refused" });
    expect(reload.kind === "refused" && reload.problems.length).toBe(1);
    expect(holder.current()).toBe(before);
  });

  test("a file that is gone", async () => {
    const home = scratch();
    const holder = await follow(home);
    rmSync(home.file);
    expect(await holder.reload()).toMatchObject({
      kind: "refused",
      problems: [{ message: expect.stringContaining("gone") }],
    });
    expect(holder.current().tools.exec.mode).toBe("ask");
  });
});

describe("watching", () => {
  const next = (holder: ConfigHolder) =>
    new Promise<Reload>((resolve) => {
      const stop = holder.onChange((reload) => {
        stop();
        resolve(reload);
      });
    });

  test("notices a file that is written in place and one that is replaced", async () => {
    const home = scratch();
    const holder = await follow(home);
    holder.watch();
    const first = next(holder);
    home.write(START.replace('"ask"', '"deny"'));
    await expect(first).resolves.toMatchObject({ live: ["tools.exec.mode"] });
    const second = next(holder);
    writeFileSync(`${home.file}.new`, START.replace('"ask"', '"full"'), { mode: 0o600 });
    renameSync(`${home.file}.new`, home.file);
    await second;
    expect(holder.current().tools.exec.mode).toBe("full");
  });

  test("waits until an editor is done", async () => {
    const home = scratch();
    let pending: (() => void) | undefined;
    let scheduled = 0;
    const touched: (() => void)[] = [];
    const holder = await follow(home, START, (work) => {
      scheduled++;
      pending = work;
      touched.splice(0).forEach((wake) => void wake());
      return () => {
        pending = undefined;
      };
    });
    const noticed = () => new Promise<void>((resolve) => touched.push(resolve));
    holder.watch();
    let notice = noticed();
    home.write("");
    await notice;
    notice = noticed();
    home.write(START.replace('"ask"', '"deny"'));
    await notice;
    expect(scheduled).toBeGreaterThan(1);
    const reloaded = next(holder);
    pending?.();
    await expect(reloaded).resolves.toMatchObject({ kind: "applied", live: ["tools.exec.mode"] });
  });

  test("ends with stop()", async () => {
    const home = scratch();
    let cancelled = false;
    let wake = (): void => undefined;
    const noticed = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const holder = await follow(home, START, () => {
      wake();
      return () => {
        cancelled = true;
      };
    });
    holder.watch();
    home.write("{ tools: {} }");
    await noticed;
    holder.stop();
    expect(cancelled).toBe(true);
  });
});
