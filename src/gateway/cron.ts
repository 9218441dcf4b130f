/** Cron as the gateway runs it: which conversation a job speaks in, and how its command takes the ordinary way. */
import type { Clock, NewId } from "../core/clock.ts";
import type { Config } from "../core/config/schema.ts";
import { type Cron, type CronJob, type CronOrigin, createCron, type ListedCronJob } from "../core/events/cron.ts";
import type { Deliveries } from "../core/events/deliveries.ts";
import type { Queue } from "../core/events/queue.ts";
import type { SystemEvents } from "../core/events/system-events.ts";
import type { Wakes } from "../core/events/wakes.ts";
import type { ExecTool } from "../core/exec/exec-tool.ts";
import type { Actor, Route } from "../core/route.ts";
import { sessionKey } from "../core/sessions/sessions.ts";
import type { Store } from "../core/store/store.ts";
import { inEnglish, phrase } from "../core/words/phrase.ts";
import type { ServerDeps } from "./server-deps.ts";
import { knownAgent } from "./tools.ts";

const WEB_CHAT = "main";

export interface GatewayCronOptions {
  readonly store: Store;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly gatewayId: string;
  readonly exec: ExecTool;
  readonly events: SystemEvents;
  readonly wakes: Wakes;
  readonly deliveries: Deliveries;
}

export function createGatewayCron(options: GatewayCronOptions): Cron {
  const { store, queue, clock, gatewayId, exec, events, wakes, deliveries } = options;
  return createCron({
    store,
    queue,
    clock,
    gatewayId,
    async begin(job, task, requestId) {
      const begun = await exec.begin(
        {
          command: task.command,
          ...(task.workdir ? { workdir: task.workdir } : {}),
          ...(task.timeoutSec === undefined ? {} : { timeout: task.timeoutSec }),
        },
        {
          requestId,
          agentId: job.agentId,
          sessionKey: job.sessionKey,
          actor: actorOf(job),
          route: job.route,
          fromChannel: job.fromChannel,
        },
      );
      return begun.kind === "approval" ? "asked" : "started";
    },
    async tell(job, task, contextKey) {
      const target = { agentId: job.agentId, sessionKey: job.sessionKey };
      await events.add(job.sessionKey, {
        contextKey,
        text: task.text,
        atMs: clock.now(),
        route: job.route,
        isTask: true,
      });
      if (task.wake === "now") await wakes.request(target, "cron");
    },
    async refused(job, tick, why) {
      await deliveries.post({
        key: `cron-refused:${job.id}:${tick}`,
        route: job.route,
        card: { kind: "text", tone: "error", title: phrase("cron.notRun", { job: job.name ?? job.id }), text: why },
      });
    },
  });
}

/** No person is there when it runs; whose wish it was stays known, so that nobody approves their own job unseen. */
function actorOf({ createdBy, id, name }: CronJob): Actor {
  return { ...createdBy, kind: "system", display: `job ${name ?? id} of ${createdBy.display ?? createdBy.id}` };
}

/** The protocol's side: jobs made by holders of the token speak in a web chat. */
export function cronMethods(cron: Cron, config: () => Config, newId: NewId): ServerDeps["cron"] {
  const origin = (agentId: string, chatId: string, createdBy: Actor): CronOrigin => {
    const route: Route = { channel: "web", accountId: "default", chatType: "dm", chatId };
    return {
      agentId,
      route,
      createdBy,
      sessionKey: sessionKey(agentId, route, createdBy, config().session),
      fromChannel: false,
    };
  };
  return {
    list: async () => (await cron.list()).map(inPlainEnglish),
    add({ agentId, chatId = WEB_CHAT, ...request }, by) {
      return cron.add(request, origin(knownAgent(config(), agentId), chatId, by), newId().slice(0, 8));
    },
    remove: (job) => cron.remove(job),
    run: (job) => cron.run(job, newId()),
  };
}

/** Programs read the result of the last tick as text. */
function inPlainEnglish(job: ListedCronJob): ListedCronJob {
  return job.last ? { ...job, last: { ...job.last, result: inEnglish(job.last.result) } } : job;
}
