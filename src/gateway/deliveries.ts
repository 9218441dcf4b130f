/** Deliveries as the gateway makes them: to its own channels, without secrets, told in the log and in the numbers. */
import type { Logger } from "pino";
import type { Channel } from "../channels/channel.ts";
import type { Redactor } from "../channels/text/redact.ts";
import { switchedOff } from "../core/access/rooms.ts";
import type { Clock } from "../core/clock.ts";
import type { Config } from "../core/config/schema.ts";
import { createDeliveries, type Deliveries, type DeliveriesOptions } from "../core/events/deliveries.ts";
import type { Queue } from "../core/events/queue.ts";
import type { Readers } from "../core/events/readers.ts";
import type { Store } from "../core/store/store.ts";
import type { GatewayMetrics } from "./metrics.ts";
import { redactCard } from "./redact-card.ts";
import { withShortHome } from "./short-home.ts";
import { idsOfMessage } from "./story-log.ts";

export interface GatewayDeliveriesOptions {
  readonly store: Store;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly channels: readonly Channel[];
  readonly redactor: Redactor;
  /** Home folder of whoever runs the gateway. */
  readonly home: string;
  readonly readers: Readers;
  readonly logger: Logger;
  readonly metrics: GatewayMetrics;
  readonly config: () => Config;
  readonly onUndelivered: NonNullable<DeliveriesOptions["onUndelivered"]>;
}

export function createGatewayDeliveries(options: GatewayDeliveriesOptions): Deliveries {
  const { store, queue, clock, channels, redactor, home, readers, logger, metrics, config, onUndelivered } = options;
  return createDeliveries({
    store,
    queue,
    clock,
    findSender: (id, accountId) => channels.find((channel) => channel.id === id && channel.accountId === accountId),
    prepare: (card) => redactCard(withShortHome(card, home), redactor),
    onUndelivered,
    refuses: (route) => switchedOff(config(), route),
    languageOf: readers.languageOf,
    onDelivered: ({ channel, kind, waitedMs, entity, key, messageId, maybeTwice }) => {
      const line = { ...idsOfMessage(entity, key), channel, kind, messageId, waitedMs };
      if (maybeTwice) logger.warn(line, "delivered, maybe twice: an earlier try was cut off");
      else logger.info(line, "delivered");
      metrics.deliveries.delivered.inc({ channel, kind });
      metrics.deliveries.seconds.observe({ channel }, waitedMs / 1000);
    },
  });
}
