/** A wire that a test can cut: what connects to `port` is passed on to a server, until it is not. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface TcpProxy {
  readonly port: number;
  /** Open connections now. */
  readonly open: number;
  /** Breaks every connection in the middle of whatever it carries; new ones are accepted. */
  cut(): void;
  /** Cuts whenever a client sends something that `matches` instead of passing it on; undefined ends that. */
  cutAt(matches: ((sent: string) => boolean) | undefined): void;
  /** From now on nothing passes and nobody is told, as behind a dead router; `false` lets everything pass again. */
  stall(stalled: boolean): void;
  stop(): Promise<void>;
}

export async function tcpProxy(targetPort: number): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isStalled = false;
  let cutsAt: ((sent: string) => boolean) | undefined;
  const server = createServer((outside) => {
    const inside = connect(targetPort, "127.0.0.1");
    const pair = [outside, inside] as const;
    pairs.add(pair);
    for (const [from, to] of [
      [outside, inside],
      [inside, outside],
    ] as const) {
      from.on("data", (chunk) => {
        if (from === outside && cutsAt?.(chunk.toString("latin1"))) cut();
        else to.write(chunk);
      });
      from.on("error", () => {});
      from.on("close", () => {
        to.destroy();
        pairs.delete(pair);
      });
      if (isStalled) from.pause();
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");

  const cut = (): void => {
    for (const pair of pairs) for (const socket of pair) socket.resetAndDestroy();
  };
  return {
    port: address.port,
    get open() {
      return pairs.size;
    },
    cut,
    cutAt(matches) {
      cutsAt = matches;
    },
    stall(stalled) {
      isStalled = stalled;
      for (const pair of pairs) for (const socket of pair) stalled ? socket.pause() : socket.resume();
    },
    async stop() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
