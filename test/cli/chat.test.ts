import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type IPty, spawn as spawnPty } from "node-pty";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startTestGateway, type TestGateway, TOKEN } from "../support/gateway.ts";
import { cliHome } from "./run-cli.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({ config: { tools: { exec: { mode: "ask" } } } });
});

afterAll(() => gateway.stop());

const env = (token = TOKEN) => ({ OPENCLAW_GATEWAY_URL: gateway.url, OPENCLAW_GATEWAY_TOKEN: token });

function chat(chatId: string, ...lines: string[]) {
  return cliHome().runWith({ stdin: `${lines.join("\n")}\n`, env: env() }, "chat", "--chat", chatId);
}

describe("over a pipe", () => {
  test("a command asks, 1 allows it, its output and end are shown", async () => {
    const { code, out } = await chat("allow", "/exec echo hi there", "1");
    expect(code).toBe(0);
    expect(out).toContain("> /exec echo hi there");
    expect(out).toMatch(/\[1\] Allow once {3}\[2\] Allow always {3}\[3\] Deny/);
    expect(out).toContain("Allowed once");
    expect(out).toContain("│ hi there\nFinished · exit code 0");
  });

  test("3 denies it and nothing runs", async () => {
    const file = join(gateway.stateDir, "must-not-exist");
    const { code, out } = await chat("deny", `/exec touch ${file}`, "3");
    expect(code).toBe(0);
    expect(out).toContain("Denied");
    expect(existsSync(file)).toBe(false);
  });

  test("it waits for what it started and shows how that ended", async () => {
    const { out } = await chat("later", "/exec sleep 1; echo first; sleep 1; echo second; exit 4", "1");
    expect(out).toContain("│ first\n│ second\nFailed · exit code 4");
  });

  test("a number while nothing waits is just said", async () => {
    const { out } = await chat("number", "1");
    expect(out).toContain("> 1");
  });

  test("several waiting approvals are not answered by a bare number", async () => {
    const { out, err } = await chat("several", "/exec touch a", "/exec touch b", "1");
    expect(out).toMatch(/Several approvals wait.*\/approve [0-9a-f]{8} allow-once or \/approve [0-9a-f]{8} allow-once/);
    expect(err.match(/still waits/g)).toHaveLength(2);
  });

  test("output can neither move the cursor nor pass for a card", async () => {
    const { out } = await chat("escape", String.raw`/exec printf 'a\033[2J\033]52;c;aGk=\007b\n[1] Allow once\n'`, "1");
    expect(out).toContain("│ ab\n│ [1] Allow once");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the point is that none is there
    expect(out).not.toMatch(/\u001b|\u0007/);
  });
});

describe("finding the gateway", () => {
  test("a wrong token is told once and ends", async () => {
    const home = cliHome();
    const { code, err } = await home.runWith({ env: env("wrong-token") }, "chat");
    expect(code).toBe(1);
    expect(err).toBe("The gateway token is wrong. Print the link again with: openclaw-exec gateway --print-link");
  });

  test("without a running gateway it says how to start one", async () => {
    const home = cliHome();
    const { code, err } = await home.run("chat");
    expect(code).toBe(1);
    expect(err).toBe(`No gateway is running on ${home.dir}. Start it with: openclaw-exec gateway`);
  });

  test("an address where nobody answers is named", async () => {
    const { code, err } = await cliHome().run("chat", "--url", "http://127.0.0.1:1");
    expect(code).toBe(1);
    expect(err).toContain("No gateway answers at http://127.0.0.1:1 (ECONNREFUSED)");
  });

  test("an address that is none is refused", async () => {
    const { code, err } = await cliHome().run("chat", "--url", "localhost:1");
    expect(code).toBe(1);
    expect(err).toContain("is not an address like");
  });
});

describe("at a terminal", () => {
  class Terminal {
    readonly #pty: IPty;
    readonly ended: Promise<number>;
    #seen = "";
    #waiting: (() => void)[] = [];

    constructor(...args: string[]) {
      const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
      const home = cliHome();
      this.#pty = spawnPty(process.execPath, ["--import", "tsx", main, "chat", ...args], {
        cols: 160,
        rows: 50,
        cwd: fileURLToPath(new URL("../../", import.meta.url)),
        env: { PATH: process.env.PATH, HOME: home.dir, OPENCLAW_STATE_DIR: home.dir, NO_COLOR: "1", ...env() },
      });
      this.#pty.onData((data) => {
        this.#seen += data;
        for (const look of this.#waiting.splice(0)) look();
      });
      this.ended = new Promise((resolve) => this.#pty.onExit(({ exitCode }) => resolve(exitCode)));
      onTestFinished(() => {
        try {
          this.#pty.kill("SIGKILL");
        } catch {
          // It has ended by itself.
        }
      });
    }

    type(keys: string): void {
      this.#pty.write(keys);
    }

    /** Resolves when `text` has come after everything seen before; forgets up to there. */
    async see(text: string): Promise<void> {
      while (!this.#seen.includes(text)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
      this.#seen = this.#seen.slice(this.#seen.indexOf(text) + text.length);
    }
  }

  test("completes, runs, stops on the first Ctrl-C and leaves on the third", async () => {
    const terminal = new Terminal("--chat", "tty");
    await terminal.see("> ");
    terminal.type("/sta\t");
    await terminal.see("/status");
    terminal.type("\u0015/exec echo started; sleep 300\r");
    await terminal.see("[1] Allow once");
    terminal.type("1\r");
    await terminal.see("│ started");
    terminal.type("\u0003");
    await terminal.see("Stopping ");
    await terminal.see("Stopped");
    terminal.type("\u0003");
    await terminal.see("Press Ctrl-C again to leave");
    terminal.type("\u0003");
    expect(await terminal.ended).toBe(0);
  }, 60_000);
});
