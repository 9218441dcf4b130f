/** One port for everything: HTTP and WebSocket, loopback unless told otherwise, never open to others without a token. */
import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { ExecError } from "../core/errors.ts";
import { TokenGate } from "./auth.ts";
import { createHttpApp } from "./http.ts";
import { DEFAULT_LIMITS, type ServerLimits } from "./limits.ts";
import { isLoopback } from "./peer.ts";
import { Refusals } from "./refusals.ts";
import type { ListenOptions, RunningServer, ServerDeps } from "./server-deps.ts";
import { BUILT_PAGE, StaticFiles } from "./static-files.ts";
import { SHORT_TOKEN_CHARS } from "./token.ts";
import { WebSocketClients } from "./websocket.ts";
import { Work } from "./work.ts";

const DEFAULT_PORT = 18_789;
/** A client that takes longer to send its headers or its request is not one of ours. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
/** For writing out the last answers once the calls behind them have ended. */
const WRITE_OUT_MS = 500;

/**
 * Rejects with `bind-refused` (the address is not ours, or open to others without a good token) or
 * `address-in-use`.
 */
export async function startServer(deps: ServerDeps, options: ListenOptions): Promise<RunningServer> {
  const limits: ServerLimits = { ...DEFAULT_LIMITS, ...options.limits };
  refuseOpenDoor(options.host, deps.auth.token);
  const files = await StaticFiles.load(deps.staticDir ?? BUILT_PAGE);
  const gate = new TokenGate({
    token: deps.auth.token,
    maxFailures: limits.maxTokenFailures,
    lockoutSec: limits.tokenLockoutSec,
  });
  const work = new Work();
  const refusals = new Refusals(deps);
  let draining = false;
  const isDraining = () => draining;

  const app = createHttpApp({ deps, limits, gate, work, files, refusals, draining: isDraining });
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  if (deps.platformRequests?.size) divert(server, deps.platformRequests);
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  await listen(server, options);

  const clients = new WebSocketClients({ deps, limits, gate, work, refusals, draining: isDraining });
  server.on("upgrade", (request, socket, head) => clients.upgrade(request, socket, head));
  const { port } = server.address() as AddressInfo;

  async function close({ drainMs, reason = "The gateway is stopping." }: Parameters<RunningServer["close"]>[0]) {
    draining = true;
    clients.shutdown(reason);
    const drained = await work.idle(drainMs);
    if (!drained) deps.logger.warn({ calls: work.active, drainMs }, "calls were still at work when the server closed");
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    await clients.close(reason);
    // Answers that are ready still have to be written.
    const cut = setTimeout(() => server.closeAllConnections(), WRITE_OUT_MS);
    await closed;
    clearTimeout(cut);
  }

  let closing: Promise<void> | undefined;
  return {
    url: urlOf(options.host, port),
    host: options.host,
    port,
    close(request) {
      closing ??= close(request);
      return closing;
    },
  };
}

/** Requests to these paths go to their own listener and never reach the app. */
function divert(server: Server, paths: ReadonlyMap<string, RequestListener>): void {
  const app = server.listeners("request") as RequestListener[];
  server.removeAllListeners("request");
  server.on("request", (request, response) => {
    const own = paths.get((request.url ?? "").split("?", 1)[0] ?? "");
    if (own) own(request, response);
    else for (const listener of app) listener(request, response);
  });
}

function refuseOpenDoor(host: string, token: string | undefined): void {
  if (isLoopback(host)) return;
  if (token === undefined) {
    throw new ExecError(
      "bind-refused",
      `Refusing to listen on ${host} without a token: anybody who reaches it could run commands. ` +
        'Set gateway.auth.mode to "token", or gateway.bind to "loopback".',
    );
  }
  if (token.length < SHORT_TOKEN_CHARS) {
    throw new ExecError(
      "bind-refused",
      `Refusing to listen on ${host} with a token of fewer than ${SHORT_TOKEN_CHARS} characters. ` +
        "Remove gateway.auth.token and a good one is made at the next start.",
    );
  }
}

function listen(server: Server, { host, port }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)));
    server.listen({ host, port }, () => {
      server.removeAllListeners("error");
      resolve();
    });
  });
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const other = `Choose another with: openclaw-exec gateway --port ${port + 1 > 65_535 ? DEFAULT_PORT : port + 1}, or set gateway.port.`;
  switch (error.code) {
    case "EADDRINUSE":
      return new ExecError("address-in-use", `Port ${port} on ${host} is in use by another program. ${other}`, {
        host,
        port,
      });
    case "EACCES":
      return new ExecError("bind-refused", `This user may not listen on port ${port}. ${other}`, { host, port });
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return new ExecError("bind-refused", `This machine has no address ${host}. Set gateway.bind or gateway.host.`, {
        host,
        port,
      });
    default:
      return error;
  }
}

/** An address a person can open; a wildcard is shown as loopback, which it includes. */
export function urlOf(host: string, port: number): string {
  const shown = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${shown.includes(":") ? `[${shown}]` : shown}:${port}`;
}
