import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { tied } from "./tied.ts";

/** A real redis-server of one test file, on a port of its own. */
export interface RedisServer {
  readonly url: string;
  /** With `tls`: what a client has to trust (`NODE_EXTRA_CA_CERTS`). */
  readonly caFile: string;
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
  /** TLS only, with a certificate for `localhost` made by `openssl`; `caFile` of the server says who signed it. */
  readonly tls?: boolean;
}

export const redisAvailable: boolean = spawnSync("redis-server", ["--version"]).status === 0;

export const opensslAvailable: boolean = spawnSync("openssl", ["version"]).status === 0;

const START_TIMEOUT_MS = 10_000;

export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const directory = await mkdtemp(join(tmpdir(), "openclaw-redis-"));
  const port = await freePort();
  const certificate = { key: join(directory, "key.pem"), cert: join(directory, "cert.pem") };
  if (options.tls) makeCertificate(certificate);
  const listen = options.tls
    ? ["--port", "0", "--tls-port", String(port), "--tls-auth-clients", "no"].concat([
        "--tls-cert-file",
        certificate.cert,
        "--tls-key-file",
        certificate.key,
      ])
    : ["--port", String(port)];
  let child: ChildProcess | undefined;

  const start = async (): Promise<void> => {
    const persist = options.persist ? ["--appendonly", "yes", "--appendfsync", "always"] : ["--appendonly", "no"];
    const args = [...listen, "--bind", "127.0.0.1", "--save", "", ...persist, "--dir", directory];
    child = spawn(...tied("redis-server", [...args, ...(options.args ?? [])]), { stdio: "ignore" });
    await answering(port, options.tls === true);
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
    url: options.tls ? `rediss://localhost:${port}` : `redis://127.0.0.1:${port}`,
    caFile: certificate.cert,
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
async function answering(port: number, tls: boolean): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if (await pings(port, tls)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`redis-server did not answer on port ${port} within ${START_TIMEOUT_MS} ms`);
}

function pings(port: number, tls: boolean): Promise<boolean> {
  return new Promise((resolve) => {
    // Only whether it answers is asked here; the tests themselves check the certificate.
    const socket = tls
      ? connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false })
      : connect({ port, host: "127.0.0.1" });
    socket.once(tls ? "secureConnect" : "connect", () => socket.write("PING\r\n"));
    socket.once("data", (data) => {
      socket.destroy();
      resolve(/^(\+PONG|-NOAUTH)/.test(data.toString()));
    });
    socket.once("error", () => resolve(false));
  });
}

/** For `localhost`, signed by itself. */
export function makeCertificate({ key, cert }: { readonly key: string; readonly cert: string }): void {
  const made = spawnSync("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
    ...["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", cert],
  ]);
  if (made.status !== 0) throw new Error(`openssl made no certificate: ${made.stderr}`);
}
