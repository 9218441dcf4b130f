/**
 * Connections to the Bot API that are given up while nothing has been sent over them yet. Without that, a network that swallows
 * packets looks like a lost answer, and a message that nobody has seen counts as one that may be there.
 */
import http from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import { CONNECT_TIMEOUT_MS } from "./limits.ts";

/** Tells these failures from all others, after which something may have been sent. */
export const NEVER_CONNECTED = "ECONNECTIONTIMEOUT";

interface Connects {
  createConnection(...given: never[]): unknown;
}

export function connectingAgent(apiRoot: string, connectMs = CONNECT_TIMEOUT_MS): http.Agent {
  const isTls = apiRoot.startsWith("https:");
  const agent = isTls ? new https.Agent({ keepAlive: true }) : new http.Agent({ keepAlive: true });
  const connects = agent as unknown as Connects;
  const create = connects.createConnection.bind(agent);
  connects.createConnection = (...given) => {
    const socket = create(...given) as Socket;
    const timer = setTimeout(() => {
      socket.destroy(
        Object.assign(new Error(`There was no connection within ${connectMs} ms`), { code: NEVER_CONNECTED }),
      );
    }, connectMs);
    const done = () => clearTimeout(timer);
    socket.once(isTls ? "secureConnect" : "connect", done);
    socket.once("close", done);
    return socket;
  };
  return agent;
}
