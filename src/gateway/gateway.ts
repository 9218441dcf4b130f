/**
 * The composition root: builds every part from one configuration, wires them, starts them in order and stops them in
 * reverse. No other file knows all parts, and no part is reachable except through here.
 */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import type { BatchLimitsOf } from "../agents/batches.ts";
import type { Channel, Inbound } from "../channels/channel.ts";
import { createRedactor } from "../channels/text/redact.ts";
import { WebChannel } from "../channels/web/adapter.ts";
import { COMMANDS } from "../commands/registry.ts";
import type { Access } from "../core/access/access.ts";
import { approvalReach } from "../core/access/approval-reach.ts";
import { approvalTargets } from "../core/access/approval-targets.ts";
import { createChannelAccess } from "../core/access/channel-access.ts";
import { createPairing } from "../core/access/pairing.ts";
import { createApprovals } from "../core/approvals/approvals.ts";
import { APPROVALS_FILE, openApprovalsFile } from "../core/approvals/approvals-file.ts";
import { type Audit, createAudit } from "../core/audit/audit.ts";
import { type Clock, type NewId, systemClock } from "../core/clock.ts";
import { boundAgent } from "../core/config/bindings.ts";
import type { LoadedConfig } from "../core/config/load.ts";
import type { Config } from "../core/config/schema.ts";
import type { Announcements } from "../core/events/announcements.ts";
import { createDeadLetterDesk } from "../core/events/dead-letters.ts";
import { createReaders } from "../core/events/readers.ts";
import { createSystemEvents } from "../core/events/system-events.ts";
import { createWakes } from "../core/events/wakes.ts";
import { createPatchRequests } from "../core/exec/apply-patch/request.ts";
import { createApplyPatchTool } from "../core/exec/apply-patch/tool.ts";
import { cachedFileFacts } from "../core/exec/file-facts.ts";
import { createProcessTool } from "../core/exec/process-tool.ts";
import { agentSettings, defaultAgentId, isSandboxed } from "../core/exec/settings.ts";
import { processLimits } from "../core/process/limits.ts";
import { Recordings } from "../core/process/recording.ts";
import { ProcessSessions } from "../core/process/registry.ts";
import { createSupervisor } from "../core/process/supervisor.ts";
import type { Actor, Route } from "../core/route.ts";
import { createSessions, sessionKey } from "../core/sessions/sessions.ts";
import { openState } from "../core/store/open-state.ts";
import { AccessGroups } from "./access-groups.ts";
import { createGatewayAgents } from "./agents.ts";
import { createAllowlistDesk } from "./allowlist-desk.ts";
import { createGatewayAnnouncements } from "./announcements.ts";
import { createApprovalDesk } from "./approval-desk.ts";
import { batchLimitsOf, buildChannels, localeOf } from "./channels.ts";
import { ChatMigrations } from "./chat-migrations.ts";
import { Cluster } from "./cluster.ts";
import { createCommandServices } from "./command-services.ts";
import { createCompletions } from "./completions.ts";
import { createGatewayCron } from "./cron.ts";
import { createGatewayDeliveries } from "./deliveries.ts";
import { createElsewhere } from "./elsewhere.ts";
import { createGatewayExec } from "./exec.ts";
import { heardPlaces } from "./heard-places.ts";
import { createGatewayHeartbeats, rememberRoute } from "./heartbeats.ts";
import { gatewayIdentity } from "./identity.ts";
import { createIngress, type Ingress } from "./ingress.ts";
import { leasedChannel } from "./leases.ts";
import { createLifecycle, type Lifecycle } from "./lifecycle.ts";
import { createMetrics } from "./metrics.ts";
import { createGatewayNodes, type GatewayNodes } from "./nodes.ts";
import { OPERATOR_ROUTE, ownerRoutes } from "./notice-routes.ts";
import { createPairingDesk, recordPairing } from "./pairing-desk.ts";
import { createPolicyChanges } from "./policy-changes.ts";
import { createPolicyService } from "./policy-service.ts";
import { Readiness } from "./readiness.ts";
import { RequestSigns } from "./request-signs.ts";
import { createRunLog } from "./run-log.ts";
import { createGatewayRuns } from "./runs.ts";
import { createGatewaySandboxes } from "./sandbox.ts";
import { SearchPath } from "./search-path.ts";
import { startServer } from "./server.ts";
import { createServerFacade } from "./server-facade.ts";
import { createSettlement } from "./settlement.ts";
import { loggedAudit, loggedRuns } from "./story-log.ts";
import { createTools, type InvokeTool } from "./tools.ts";

/** How long a conversation knows that there is no agent. */
const TOLD_NO_MODEL_MS = 30 * 24 * 3_600_000;

export interface GatewayOptions {
  readonly loaded: LoadedConfig;
  /** The configuration as it is now; changes of live keys are seen at the next command. */
  readonly config: () => Config;
  /** Absent only with `gateway.auth.mode: "none"`. */
  readonly token: string | undefined;
  readonly version: string;
  readonly logger: Logger;
  readonly host: string;
  readonly port: number;
  /** Reads the file of the configuration now: the gateway has just changed it. Absent: it is read at the next start. */
  readonly reloadConfig?: () => Promise<unknown>;
  readonly clock?: Clock;
  readonly newId?: NewId;
}

export interface Gateway extends Lifecycle {
  readonly gatewayId: string;
  readonly audit: Audit;
  readonly invokeTool: InvokeTool;
  /** The configuration was read anew: what changed of the policy in it is written down and told. */
  configRead(): void;
}

export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { loaded, config, version, logger } = options;
  const clock = options.clock ?? systemClock;
  const newId = options.newId ?? (() => crypto.randomUUID());
  const { stateDir } = loaded;
  const startedAtMs = clock.now();
  const instanceId = newId();
  const gatewayId = await gatewayIdentity(stateDir);
  const onError = (error: unknown, what: string) => logger.error({ err: error }, what);
  await mkdir(agentSettings(config(), defaultAgentId(config()), stateDir).workspace, { recursive: true, mode: 0o700 });

  const state = await openState({
    stateDir,
    clock,
    newId,
    redisPrefix: config().redis.prefix,
    ...(loaded.secrets.redisUrl ? { redisUrl: loaded.secrets.redisUrl } : {}),
    onTrouble: (what, error) => onError(error, what),
  });
  const { store, queue } = state;
  const redactor = createRedactor([...loaded.secrets.values, ...(options.token ? [options.token] : [])]);
  const mask = (text: string) => redactor.redact(text).text;
  const trail = createAudit({ store, clock, gatewayId, redact: mask });
  const audit = loggedAudit(trail, logger);
  const metrics = createMetrics();
  const sessions = createSessions(store, clock);
  const agentOf = (route: Route, actor: Actor) => boundAgent(config(), route, actor) ?? defaultAgentId(config());
  const systemEvents = createSystemEvents(store);
  /** Only a Redis is shared; in the embedded mode this gateway is alone. */
  const cluster: Cluster | undefined = loaded.secrets.redisUrl
    ? new Cluster({
        ...{ store, clock, newId, gatewayId },
        leftBy: async () =>
          new Set([...(await runs.openGateways()), ...(await approvals.pending()).map((record) => record.gatewayId)]),
        async onGone(id) {
          const lost = await runs.reportDead(id);
          await announcements.asksForGone(id);
          if (lost.length === 0) return;
          logger.warn({ gateway: id, runs: lost.length }, "another gateway is gone; its runs are reported");
        },
        onTrouble: onError,
      })
    : undefined;

  const limits = processLimits(loaded.environment.vars);
  const supervisor = createSupervisor({ clock });
  const processSessions = new ProcessSessions({
    clock,
    limits: () => ({ ...limits, jobTtlMs: config().tools.exec.cleanupMs ?? limits.jobTtlMs }),
    logFolder: join(stateDir, "logs"),
    logMaxBytes: config().limits.maxLogBytes,
    logMaxTotalBytes: config().limits.maxLogTotalBytes,
  });
  const searchPath = new SearchPath(process.env, (message) => logger.warn(message));
  const policyChanges = createPolicyChanges({
    ...{ store, queue, clock, gatewayId, config, audit, onError },
    approvalsFile: () => approvalsFile,
    deliveries: () => deliveries,
  });
  const approvalsFile = await openApprovalsFile({
    path: join(stateDir, APPROVALS_FILE),
    clock,
    newId,
    onDamage: (problem) =>
      logger.error({ problem }, "exec-approvals.json is damaged: nothing runs until it is repaired"),
    onWritten: policyChanges.fileWritten,
  });
  const policy = createPolicyService({
    config,
    stateDir,
    home: loaded.home,
    sessions,
    approvalsFile,
    facts: cachedFileFacts(clock),
    searchPath,
  });

  const pairing = createPairing({
    ...{ store, queue, clock, newId },
    askers: (request) => [...ownerRoutes(config(), request), OPERATOR_ROUTE],
    onDecided: (request) => recordPairing(audit, request),
  });
  const pairingDesk = createPairingDesk({ pairing, audit, deliveries: () => deliveries });
  const access: Access = createChannelAccess({
    config,
    pairing,
    clock,
    onPairingRequest: pairingDesk.show,
    activation: async (route, actor) =>
      (await sessions.overrides(sessionKey(agentOf(route, actor), route, actor, config().session))).activation,
  });
  const approvals = createApprovals({
    store,
    queue,
    clock,
    audit,
    gatewayId,
    mayDecide: (actor, record, route) => access.mayDecide(actor, record, route),
    onForeignSettled: (record) => announcements.showApproval(record.id),
    takeBack: (record) => settlement.takeBack(record),
    onRevoked: async (record) => {
      await announcements.showApproval(record.id);
      await settlement.tellRevoked(record);
    },
    snoozeMs: () => config().approvals.snoozeSec * 1000,
    onSnoozed: (record) => announcements.showApproval(record.id),
    onReminder: (record, at, token) => announcements.remind(record.id, at, token),
  });
  const completions = createCompletions({
    config,
    access,
    approvals,
    sessions: processSessions,
    nodes: () => nodes.names(),
    mask,
  });
  const webChannel = new WebChannel({
    store,
    clock,
    instanceId,
    onError: (error) => onError(error, "reading the web chat"),
  });
  const migrations = new ChatMigrations({
    ...{ loaded, config, store, sessions, logger },
    ...(options.reloadConfig ? { reload: options.reloadConfig } : {}),
    agentIds: () => [defaultAgentId(config()), ...config().agents.list.map((agent) => agent.id)],
  });
  const accessGroups = new AccessGroups({ config, channels: () => channels, clock, onTrouble: onError });
  const channels: readonly Channel[] = [
    webChannel,
    ...(await buildChannels({
      config: config(),
      current: config,
      secrets: loaded.secrets,
      clock,
      logger,
      redactor,
      ...(cluster ? { gateways: () => cluster.size } : {}),
      ...(cluster ? { hold: (make) => leasedChannel({ leases: cluster.leases, make, onTrouble: onError }) } : {}),
      heard: (channel, accountId) => heardPlaces({ store, access, accessGroups, channel, accountId }),
      commands: COMMANDS,
      onChatMigrated: (accountId, from, to) => migrations.moved(accountId, from, to),
      suggest: async ({ command, option, typed, actor, route }) => {
        const asker = { actor: await accessGroups.found(actor), route };
        const before = option === "session" ? "log " : option === "node" ? "node=" : "";
        const items = await completions(`/${command} ${before}`, asker);
        const labels = items.map((item) => (option === "node" ? item.label.replace(/^node=/, "") : item.label));
        return labels.filter((label) => label.startsWith(typed));
      },
    })),
  ];
  const readers = createReaders({ store, configured: (route) => localeOf(config(), route) });
  const deliveries = createGatewayDeliveries({
    ...{ store, queue, clock, channels, redactor, readers, logger, metrics, config },
    home: loaded.home,
    onUndelivered: (lost) => announcements.undelivered(lost),
  });
  const recordings = new Recordings(join(stateDir, "recordings"));
  const nodes: GatewayNodes = createGatewayNodes({
    ...{ store, clock, newId, audit, logger, config, version, gatewayId, onError },
    hasToken: options.token !== undefined,
    runs: () => runs,
  });
  const sandboxes = createGatewaySandboxes({
    ...{ config, stateDir, clock, onError },
    home: loaded.home,
    path: process.env.PATH,
  });
  const { runs, recorder, warmUp } = createGatewayRuns({
    ...{ store, clock, audit, config, stateDir, loaded, gatewayId, instanceId, cluster, onError },
    ...{ policy, recordings, searchPath, supervisor, sandboxes },
    nodeHost: nodes.host,
    sessions: processSessions,
  });
  const exec = createGatewayExec({
    mask,
    ...{ config, stateDir, audit, logger, sessions, approvals, approvalsFile, policy, runs, sandboxes },
    nodes: nodes.exec,
    modelKeys: loaded.secrets.models,
    yieldMs: limits.yieldMs,
    announce: (record) => announcements.showApproval(record.id),
    reach: (record) =>
      approvalReach(approvalTargets(config(), record, OPERATOR_ROUTE), (route) => {
        const { channel: id, accountId } = route;
        const channel = channels.find((one) => one.id === id && one.accountId === accountId);
        if (channel?.capabilities.buttons !== true || channel.status().state === "failed") return "nothing";
        return (channel.buttonsOn?.(route) ?? true) ? "buttons" : "text";
      }),
  });
  const wakes = createWakes({
    store,
    queue,
    clock,
    newId,
    events: systemEvents,
    turnsFor: (agentId) => (agents.hasModel(agentId) || agents.hasModel(agentId, "heartbeat") ? agents : undefined),
    post: (message) => deliveries.post(message),
    onOutcome: (reason, outcome) => metrics.wakes.inc({ reason, outcome }),
  });
  const cron = createGatewayCron({
    ...{ store, queue, clock, gatewayId, exec, wakes, deliveries },
    events: systemEvents,
  });
  const heartbeats = createGatewayHeartbeats({
    ...{ store, queue, clock, wakes, config, stateDir },
    hasModel: (agentId) => agents.hasModel(agentId, "heartbeat"),
    operatorRoute: OPERATOR_ROUTE,
    onSkip: (agent, why) => logger.debug({ agent, why }, "heartbeat skipped"),
  });
  const announcements: Announcements = createGatewayAnnouncements({
    ...{ clock, config, stateDir, approvals, deliveries, channels, onError },
    events: systemEvents,
    wake: wakes.request,
    sessions: processSessions,
    logFile: (runId) => runLog.file(runId),
  });
  const deadLetters = createDeadLetterDesk({
    queue,
    showAgain: (entity, route) => announcements.showAgain(entity, route),
    onChange: (did, letters) => logger.info({ ids: letters.map((letter) => letter.id) }, `dead letters ${did}`),
  });
  const settlement = createSettlement({
    ...{ approvals, approvalsFile, announcements, exec, audit, metrics, logger, nodes },
    tell: policyChanges.tell,
  });
  // First, so that what a card offers to replay is whole.
  runs.listen({ finished: recorder.finished });
  runs.listen(loggedRuns(logger));
  runs.listen(announcements);
  runs.listen({
    started: (run) => metrics.runs.started.inc({ host: run.record.host }),
    finished: async (record) => metrics.runEnded(record.outcome ?? "lost", record.durationMs ?? 0),
  });
  processSessions.onEndAcknowledged((session) => {
    systemEvents
      .remove(session.sessionKey, `exec:${session.id}`)
      .catch((error) => onError(error, `taking back the completion of ${session.id}`));
  });

  const processTool = createProcessTool({ sessions: processSessions });
  const elsewhere = createElsewhere({
    gatewayId,
    cluster,
    runs,
    sessions: processSessions,
    process: (args, agentId, signal) => processTool.call(args, { agentId, ...(signal ? { signal } : {}) }),
    runLog: () => runLog,
    onTrouble: onError,
  });
  const applyPatch = createPatchRequests({
    tool: createApplyPatchTool(),
    audit,
    sandboxActive: (key, agentId) => isSandboxed(config(), key, agentId),
    onError,
  });
  const invokeTool = createTools({ config, stateDir, newId, exec, process: elsewhere.process, applyPatch });
  const batchLimits: BatchLimitsOf = (route) => batchLimitsOf(config(), route);
  const agents = createGatewayAgents({
    ...{ store, queue, clock, config, stateDir, invokeTool, deliveries, channels, redactor, onError },
    events: systemEvents,
    batchLimits,
    keys: loaded.secrets.models,
    onUsage: (agent, { input, output }) => {
      metrics.tokens.inc({ agent, kind: "input" }, input);
      metrics.tokens.inc({ agent, kind: "output" }, output);
    },
    onEnd: ({ trigger, state: outcome }) => metrics.turns.inc({ trigger, outcome }),
    onTrouble: (why) => logger.warn(why),
  });
  const runLog = createRunLog({ runs, sessions: processSessions, redact: mask });

  const about = { version, gatewayId, startedAtMs };
  const readiness = new Readiness({ store, queue, cluster, approvalsFile, channels, clock, ...about });
  const approvalDesk = createApprovalDesk({
    ...{ approvals, exec, announcements, redactor, clock },
    roomOf: ({ channel: id, accountId }) =>
      channels.find((one) => one.id === id && one.accountId === accountId)?.capabilities ?? webChannel.capabilities,
  });
  const services = createCommandServices({
    ...{ config, newId, exec, runs, approvals, approvalDesk, sessions, pairingDesk, cron, deadLetters },
    ...{ access, elsewhere, agents, policy, policyChanges, readiness, mask, nodes: () => nodes.names() },
    allowlist: createAllowlistDesk({ config, stateDir, home: loaded.home, newId, approvalsFile, searchPath }),
  });
  const ingress: Ingress = createIngress({
    store,
    queue,
    clock,
    config,
    access,
    services,
    deliveries,
    readers,
    withGroups: (actor) => accessGroups.found(actor),
    spokeIn: (agentId, route) => rememberRoute(store, agentId, route),
    talk: agents.take,
    batchLimits,
    firstWithoutModel: (key) => store.setIfAbsent("told-no-model", key, true, { ttlMs: TOLD_NO_MODEL_MS }),
    agentFor: (event: Inbound) => agentOf(event.route, event.actor),
    onError,
    logFile: runLog.file,
  });

  const requestSigns = new RequestSigns({ approvals, channels, clock, onError });
  const life = createLifecycle({
    ...{ gatewayId, version, clock, state, queue, metrics, audit, logger, readiness, cluster, channels },
    ...{ processSessions, recordings, runs, sandboxes, approvals, announcements, settlement, deliveries },
    ...{ policyChanges, pairingDesk, agents, wakes, cron, heartbeats, migrations, ingress, requestSigns },
    ...{ supervisor, nodes, approvalsFile, onError, warmUp },
    ...(cluster ? { join: () => cluster.join(elsewhere.answers) } : {}),
    listen: () =>
      startServer(
        createServerFacade({
          ...{ ...about, clock, newId, logger, config, stateDir, metrics, audit, state, token: options.token },
          ...{ approvals, pairingDesk, channels, completions, cron, deadLetters, elsewhere, invokeTool },
          ...{ readers, readiness, recordings, redactor, webChats: webChannel, nodes: nodes.desk },
        }),
        {
          host: options.host,
          port: options.port,
          limits: {
            maxBodyBytes: config().gateway.maxBodyBytes,
            maxTokenFailures: config().gateway.auth.maxFailures,
            tokenLockoutSec: config().gateway.auth.lockoutSec,
          },
        },
      ),
  });
  return { gatewayId, audit, invokeTool, ...life, configRead: policyChanges.configRead };
}
