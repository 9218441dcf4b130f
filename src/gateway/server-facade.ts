/** The gateway as the HTTP and WebSocket server sees it: each question of a client answered by the service that knows. */

import type { Channel, ChannelStatus } from "../channels/channel.ts";
import type { Redactor, SecretFinder } from "../channels/text/redact.ts";
import { approverNames } from "../core/access/channel-access.ts";
import type { Approvals } from "../core/approvals/approvals.ts";
import { slugOf } from "../core/approvals/record.ts";
import type { Config } from "../core/config/schema.ts";
import type { Cron } from "../core/events/cron.ts";
import type { DeadLetterDesk } from "../core/events/dead-letters.ts";
import type { Readers } from "../core/events/readers.ts";
import type { Recordings } from "../core/process/recording.ts";
import { actorLabel } from "../core/route.ts";
import type { State } from "../core/store/open-state.ts";
import { inEnglish } from "../core/words/phrase.ts";
import { inLanguage } from "../core/words/say.ts";
import { platformRequests } from "./channels.ts";
import type { Completions } from "./completions.ts";
import { cronMethods } from "./cron.ts";
import type { Elsewhere } from "./elsewhere.ts";
import { OPERATOR_ROUTE } from "./notice-routes.ts";
import type { GatewayPairingDesk } from "./pairing-desk.ts";
import type { Readiness } from "./readiness.ts";
import { createReplays } from "./replays.ts";
import type { ServerDeps } from "./server-deps.ts";
import type { InvokeTool } from "./tools.ts";

export interface ServerFacadeOptions
  extends Pick<
    ServerDeps,
    "version" | "gatewayId" | "startedAtMs" | "clock" | "newId" | "logger" | "metrics" | "audit" | "webChats"
  > {
  readonly token: string | undefined;
  readonly config: () => Config;
  readonly stateDir: string;
  readonly approvals: Approvals;
  readonly pairingDesk: GatewayPairingDesk;
  readonly channels: readonly Channel[];
  readonly completions: Completions;
  readonly cron: Cron;
  readonly deadLetters: DeadLetterDesk;
  readonly elsewhere: Elsewhere;
  readonly invokeTool: InvokeTool;
  readonly nodes: ServerDeps["nodes"];
  readonly readers: Readers;
  readonly readiness: Readiness;
  readonly recordings: Recordings;
  readonly redactor: Redactor & SecretFinder;
  readonly state: Pick<State, "boardQueues">;
}

export function createServerFacade(options: ServerFacadeOptions): ServerDeps {
  const { version, gatewayId, startedAtMs, clock, newId, logger, config, metrics, audit } = options;
  const { approvals, pairingDesk, channels, completions, cron, elsewhere, invokeTool } = options;
  const { readers, readiness, recordings, redactor } = options;
  return {
    version,
    gatewayId,
    startedAtMs,
    clock,
    newId,
    logger,
    auth: {
      token: options.token,
      allowedOrigins: config().gateway.allowedOrigins,
      allowedHosts: config().gateway.allowedHosts,
    },
    metrics,
    audit,
    webChats: options.webChats,
    platformRequests: platformRequests(channels, config()),
    complete: async (text, actor) => {
      const language = await readers.languageOf(OPERATOR_ROUTE, actor);
      const items = await completions(text, { actor });
      return items.map((item) => ({ ...item, detail: inLanguage(item.detail, language) }));
    },
    runLog: elsewhere.runLog,
    recordings: createReplays({ recordings, redactor, clock }),
    invokeTool,
    // What describes the tools is loaded with the first question: most gateways are never asked.
    listTools: async (agentId) => (await import("./tool-list.ts")).listTools(config(), options.stateDir, agentId),
    ...queueBoard(options),
    async listApprovals() {
      return (await approvals.pending()).map((record) => ({
        id: record.id,
        slug: slugOf(record.id),
        command: redactor.redact(record.request.command).text,
        cwd: record.request.cwd,
        agentId: record.request.agentId,
        requester: actorLabel(record.request.requester),
        createdAtMs: record.createdAtMs,
        expiresAtMs: record.expiresAtMs,
        offered: record.request.offered,
      }));
    },
    async resolveApproval({ id, decision, comment, actor }) {
      const { record } = await approvals.resolve(id, decision, actor, comment ? { comment } : {});
      return { id: record.id, state: record.status, ...(record.decision ? { decision: record.decision } : {}) };
    },
    cron: cronMethods(cron, config, newId),
    deadLetters: options.deadLetters,
    pairing: pairingDesk.methods,
    nodes: options.nodes,
    channelReports: () =>
      channels.map((channel) => ({
        ...inPlainEnglish(channel.status()),
        approvers: approverNames(config(), channel.id, channel.accountId),
        buttons: channel.capabilities.buttons,
        ...inlineButtons(config(), channel),
      })),
    readiness: () => readiness.now(),
  };
}

function inlineButtons({ channels }: Config, { id, accountId }: Channel) {
  const account = id === "telegram" ? channels.telegram?.accounts[accountId] : undefined;
  return account ? { inlineButtons: account.capabilities.inlineButtons } : {};
}

function queueBoard({ state, config, redactor, logger }: ServerFacadeOptions): Pick<ServerDeps, "openQueueBoard"> {
  if (!config().redis.board) return {};
  const { boardQueues } = state;
  if (!boardQueues) {
    logger.warn("redis.board is on without a Redis: there is nothing at /queues");
    return {};
  }
  return {
    async openQueueBoard() {
      const { createQueueBoard } = await import("./queue-board.ts");
      return createQueueBoard(() => boardQueues((text) => redactor.redact(text).text));
    },
  };
}

/** The HTTP API and the command line read English. */
function inPlainEnglish({ detail, ...status }: ChannelStatus) {
  return { ...status, ...(detail === undefined ? {} : { detail: inEnglish(detail) }) };
}
