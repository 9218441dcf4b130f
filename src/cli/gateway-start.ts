/**
 * Starts a gateway, and with a Redis waits for it: what comes up beside us may take its time, and one that is slow in the
 * middle of a start ends that start, not the service.
 */
import type { Logger } from "pino";
import type { Clock } from "../core/clock.ts";
import { ExecError } from "../core/errors.ts";
import { createGateway, type Gateway, type GatewayOptions } from "../gateway/gateway.ts";
import type { RunningServer } from "../gateway/server-deps.ts";
import { startWaitingServer, type WaitingServer } from "../gateway/waiting-server.ts";

export interface StartOptions {
  readonly gateway: GatewayOptions;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The gateway is to end before it has started. */
  readonly signal: AbortSignal;
}

export interface Started {
  readonly gateway: Gateway;
  readonly server: RunningServer;
}

/** `undefined` when `signal` ended the start. Rejects when it can not start, with nothing left behind. */
export async function startGateway(options: StartOptions): Promise<Started | undefined> {
  const { clock, signal, logger } = options;
  const { loaded } = options.gateway;
  const { redisUrl } = loaded.secrets;
  if (!redisUrl) return startOnce(options.gateway);
  const limitMs = loaded.config.redis.startWaitSec * 1_000;
  const begun = clock.monotonic();
  const left = () => Math.max(0, limitMs - (clock.monotonic() - begun));
  for (;;) {
    if (!(await untilRedis(options, redisUrl, left()))) return undefined;
    try {
      return await startOnce(options.gateway);
    } catch (error) {
      const isOutage = error instanceof ExecError && error.code === "state-unavailable";
      if (!isOutage || left() === 0 || signal.aborted) throw error;
      logger.warn({ why: error.message }, "Redis went away while the gateway started; starting again");
    }
  }
}

async function startOnce(options: GatewayOptions): Promise<Started> {
  const gateway = await createGateway(options);
  try {
    const server = await gateway.start();
    if (!server) throw new Error("the gateway started without its server");
    return { gateway, server };
  } catch (error) {
    await gateway.stop({ drainMs: 0, reason: "The gateway could not start." }).catch(() => undefined);
    throw error;
  }
}

async function untilRedis({ gateway, clock, logger, signal }: StartOptions, url: string, limitMs: number) {
  // Loaded with a Redis only: the embedded mode starts without its library.
  const { awaitRedis } = await import("../core/store/await-redis.ts");
  let waiting: Promise<WaitingServer> | undefined;
  try {
    return await awaitRedis({
      url,
      limitMs,
      clock,
      signal,
      onWaiting: (waitedMs, why) => {
        // Port 0 is another one each time: nobody would look there.
        if (gateway.port !== 0) waiting ??= startWaitingServer(gateway);
        logger.warn({ waitedMs, limitMs, why }, "waiting for Redis; not ready yet");
      },
    });
  } finally {
    await (await waiting)?.close();
  }
}
