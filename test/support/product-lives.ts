/** The built product through several lives on one state directory: killed, terminated, started again. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import JSON5 from "json5";
import { Person } from "./gateway.ts";
import { ensureBuilt } from "./product.ts";
import { tied } from "./tied.ts";

export const BIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
/** A second when nothing else runs; much more on a machine with many test files at work. */
const START_TIMEOUT_MS = 25_000;
/** The product promises to be down within 10 s of a SIGTERM. */
const END_TIMEOUT_MS = 20_000;

export interface ProductLives {
  readonly stateDir: string;
  readonly workspace: string;
  readonly url: string;
  /** Everything printed since the last start. */
  readonly output: string;
  readonly pid: number;
  token(): Promise<string>;
  person(chatId?: string): Promise<Person>;
  /** SIGKILL, as a crash or the OOM killer would. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  terminate(): Promise<number | null>;
  start(): Promise<void>;
  /** Ends everything and removes the state. */
  dispose(): Promise<void>;
}

export async function productLives(
  options: {
    readonly config?: object;
    readonly env?: Record<string, string>;
    /** The same in every life, for clients that come back by themselves. Absent: a free one each time. */
    readonly port?: number;
  } = {},
): Promise<ProductLives> {
  await ensureBuilt();
  const stateDir = await mkdtemp(join(tmpdir(), "openclaw-exec-e2e-"));
  if (options.config) {
    await writeFile(join(stateDir, "openclaw.json"), JSON5.stringify(options.config), { mode: 0o600 });
  }
  let child: ChildProcess | undefined;
  let output = "";
  let url = "";
  const people: Person[] = [];

  async function start(): Promise<void> {
    output = "";
    const started = spawn(...tied(process.execPath, [BIN, "gateway", "--port", String(options.port ?? 0)]), {
      cwd: stateDir,
      env: { PATH: process.env.PATH ?? "", HOME: stateDir, OPENCLAW_STATE_DIR: stateDir, ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    child = started;
    url = await new Promise<string>((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`The gateway did not start (${why}):\n${output}`));
      const timer = setTimeout(() => fail("timeout"), START_TIMEOUT_MS);
      const read = (chunk: Buffer) => {
        output += chunk;
        const found = /listens on (http:\S+)/.exec(output)?.[1];
        if (!found) return;
        clearTimeout(timer);
        resolve(found);
      };
      started.stdout.on("data", read);
      started.stderr.on("data", read);
      started.once("exit", (code) => {
        clearTimeout(timer);
        fail(`exit code ${code}`);
      });
    });
  }

  function end(signal: NodeJS.Signals): Promise<number | null> {
    const ending = child;
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return Promise.resolve(null);
    const exited = new Promise<number | null>((resolve, reject) => {
      const late = setTimeout(() => {
        ending.kill("SIGKILL");
        reject(new Error(`The gateway was not gone ${END_TIMEOUT_MS} ms after ${signal}:\n${output}`));
      }, END_TIMEOUT_MS);
      ending.once("exit", (code) => {
        clearTimeout(late);
        resolve(code);
      });
    });
    ending.kill(signal);
    return exited;
  }

  await start();
  const token = async () => (await readFile(join(stateDir, "gateway-token"), "utf8")).trim();
  return {
    stateDir,
    workspace: join(stateDir, "workspace"),
    get url() {
      return url;
    },
    get output() {
      return output;
    },
    get pid() {
      return child?.pid ?? 0;
    },
    token,
    async person(chatId = "main") {
      const person = await Person.join(url, chatId, await token());
      people.push(person);
      return person;
    },
    async kill() {
      await end("SIGKILL");
    },
    terminate: () => end("SIGTERM"),
    start,
    async dispose() {
      await Promise.all(people.splice(0).map((person) => person.leave()));
      await end("SIGKILL");
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}
