/** Answers on the gateway's port while its state is not there yet: alive, and not ready. */
import { createServer, type Server } from "node:http";

const RETRY_AFTER_S = 2;

export interface WaitingServer {
  /** Frees the port. */
  close(): Promise<void>;
}

/**
 * `/healthz` as ever, so that nobody restarts a gateway for waiting; `/readyz` and all else 503. A port that can not be had
 * is left to the start proper, which says so.
 */
export async function startWaitingServer(address: {
  readonly host: string;
  readonly port: number;
}): Promise<WaitingServer> {
  const server = createServer((request, response) => {
    const path = (request.url ?? "").split("?", 1)[0];
    const [status, body] =
      path === "/healthz"
        ? [200, { ok: true }]
        : path === "/readyz"
          ? [503, { ready: false, draining: false, checks: [{ name: "store", ok: false }] }]
          : [503, { ok: false, error: { code: "state-unavailable", message: "The gateway waits for its state." } }];
    response.writeHead(status, {
      "content-type": "application/json",
      connection: "close",
      ...(status === 503 ? { "retry-after": String(RETRY_AFTER_S) } : {}),
    });
    response.end(JSON.stringify(body));
  });
  const isListening = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(address.port, address.host, () => resolve(true));
  });
  return { close: () => (isListening ? closed(server) : Promise.resolve()) };
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
