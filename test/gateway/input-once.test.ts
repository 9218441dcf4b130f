/** Input to a session can not be made idempotent: a message that is tried again does not pass it on a second time. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { type RedisServer, redisAvailable, startRedis } from "../support/redis.ts";
import { requireOrSkip } from "../support/require.ts";
import { eventually } from "../support/state.ts";
import { type TcpProxy, tcpProxy } from "../support/tcp-proxy.ts";

const LINES = 8;

requireOrSkip("redis-server", redisAvailable)("input to a session", () => {
  let redis: RedisServer | undefined;
  let wire: TcpProxy | undefined;
  let gateway: TestGateway | undefined;
  afterEach(async () => {
    await gateway?.stop();
    await wire?.stop();
    await redis?.stop();
  });

  it("reaches it at most once, and is answered, though the connection to Redis breaks meanwhile", async () => {
    redis = await startRedis({ persist: true });
    wire = await tcpProxy(Number(new URL(redis.url).port));
    gateway = await startTestGateway({
      redisUrl: `redis://127.0.0.1:${wire.port}`,
      config: { tools: { exec: { mode: "full" } } },
    });
    const started = await gateway.tool("exec", { command: "cat > got", stdin: "open", background: true });
    if (!started.body.ok) throw new Error(started.body.error.message);
    const sessionId = started.body.result.details.sessionId as string;
    const person = await gateway.person();
    const answers = () => person.screen().filter((card) => card.kind === "text").length;
    for (let n = 0; n < LINES; n++) {
      const said = untilTaken(() => person.say(`/process write ${sessionId} line-${n}`, `write-${n}`));
      // Each cut comes a little later in the life of what was just said.
      await new Promise((resolve) => setTimeout(resolve, 4 * n));
      wire.cut();
      await said;
      await eventually(() => answers() > n, 30_000);
    }
    const got = (await readFile(join(gateway.stateDir, "workspace", "got"), "utf8"))
      .split("\n")
      .filter((line) => line !== "");
    expect(got).toEqual([...new Set(got)]);
    expect(got.length).toBeGreaterThan(0);
  }, 180_000);
});

async function untilTaken(say: () => Promise<void>): Promise<void> {
  for (let left = 100; ; left--) {
    try {
      return await say();
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}
