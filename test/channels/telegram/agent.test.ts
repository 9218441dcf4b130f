import { createServer, type Server, type Socket } from "node:net";
import { Api } from "grammy";
import { afterEach, describe, expect, it } from "vitest";
import { connectingAgent } from "../../../src/channels/telegram/agent.ts";
import { failureOf } from "../../../src/channels/telegram/errors.ts";

let server: Server | undefined;
const sockets: Socket[] = [];

/** Takes connections and never says a word. */
async function silent(): Promise<number> {
  const made = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.resume();
  });
  server = made;
  await new Promise<void>((resolve) => made.listen(0, "127.0.0.1", resolve));
  return (made.address() as { port: number }).port;
}

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server?.close();
});

async function failure(apiRoot: string) {
  const api = new Api("7:x", { apiRoot, baseFetchConfig: { agent: connectingAgent(apiRoot, 200) } as never });
  return failureOf(await api.sendMessage(1, "x", {}, AbortSignal.timeout(1_500) as never).catch((error) => error));
}

describe("a Bot API that is silent", () => {
  it("before the connection stands: nothing was sent, so trying again doubles nothing", async () => {
    expect(await failure(`https://127.0.0.1:${await silent()}`)).toEqual({ kind: "not-sent" });
  });

  it("afterwards: it may have been sent", async () => {
    expect(await failure(`http://127.0.0.1:${await silent()}`)).toEqual({ kind: "in-doubt" });
  });
});
