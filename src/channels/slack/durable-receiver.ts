/**
 * Bolt acknowledges an event before its listeners run. A message must be stored first, because Slack redelivers only
 * what was not acknowledged; so the acknowledgement of events waits for the listeners and is withheld when one fails.
 * Commands, buttons and views keep their own `ack`, which listeners call first: their tokens die after 3 s.
 */
import type { App, Receiver, ReceiverEvent } from "@slack/bolt";

export class DurableReceiver implements Receiver {
  private readonly inner: Pick<Receiver, "init">;

  constructor(inner: Pick<Receiver, "init">) {
    this.inner = inner;
  }

  init(app: App): void {
    const gate: Pick<App, "processEvent"> = { processEvent: (event) => processDurably(app, event) };
    this.inner.init(Object.assign(Object.create(app) as App, gate));
  }

  /** The connection is kept by the adapter's own supervisor, not by bolt. */
  start(): Promise<unknown> {
    return Promise.resolve();
  }

  stop(): Promise<unknown> {
    return Promise.resolve();
  }
}

async function processDurably(app: App, event: ReceiverEvent): Promise<void> {
  if (event.body.event === undefined) {
    await app.processEvent(event);
    return;
  }
  await app.processEvent({ ...event, ack: () => Promise.resolve() });
  await event.ack();
}
