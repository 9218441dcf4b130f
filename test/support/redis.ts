import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A real redis-server of one test file, on a port of its own. */
export interface RedisServer {
  readonly url: string;
  /** Ends it with SIGKILL and starts it again on the same port; with `downMs`, only after that long. */
  restart(options?: { readonly downMs?: number }): Promise<void>;
  /** Freezes the process (SIGSTOP): connections stay open and nothing answers. The result thaws it. */
  pause(): Promise<() => void>;
  /** Ends it; `start` brings it back. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface RedisOptions {
  /** Keep data over a restart (append-only file, synced with each write). Default: nothing is kept. */
  readonly persist?: boolean;
  readonly args?: readonly string[];
}

export const redisAvailable: boolean = spawnSync("redis-server", ["--version"]).status === 0;

const START_TIMEOUT_MS = 10_000;

export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const directory = await mkdtemp(join(tmpdir(), "openclaw-redis-"));
  const port = await freePort();
  let child: ChildProcess | undefined;

  const start = async (): Promise<void> => {
    const persist = options.persist ? ["--appendonly", "yes", "--appendfsync", "always"] : ["--appendonly", "no"];
    child = spawn(
      "redis-server",
      [
        "--port",
        String(port),
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        ...persist,
        "--dir",
        directory,
        ...(options.args ?? []),
      ],
      { stdio: "ignore" },
    );
    await answering(port);
  };
  const kill = async (): Promise<void> => {
    const running = child;
    child = undefined;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const gone = once(running, "exit");
    running.kill("SIGKILL");
    await gone;
  };

  // A test run that is cut off must not leave servers behind.
  const onExit = (): void => {
    child?.kill("SIGKILL");
  };
  process.once("exit", onExit);
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    start,
    kill,
    async restart({ downMs = 0 } = {}) {
      await kill();
      if (downMs > 0) await new Promise((resolve) => setTimeout(resolve, downMs));
      await start();
    },
    async pause() {
      const frozen = child;
      frozen?.kill("SIGSTOP");
      return () => frozen?.kill("SIGCONT");
    },
    async stop() {
      process.off("exit", onExit);
      await kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** Waits until the server answers PING: a connect alone succeeds while it still loads its data. */
async function answering(port: number): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if (await pings(port)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`redis-server did not answer on port ${port} within ${START_TIMEOUT_MS} ms`);
}

function pings(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => socket.write("PING\r\n"));
    socket.once("data", (data) => {
      socket.destroy();
      resolve(/^(\+PONG|-NOAUTH)/.test(data.toString()));
    });
    socket.once("error", () => resolve(false));
  });
}
