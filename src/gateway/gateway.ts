/**
 * The composition root: builds every part from one configuration, wires them, starts them in order and stops them in
 * reverse. No other file knows all parts, and no part is reachable except through here.
 */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Channel, Inbound } from "../channels/channel.ts";
import { createRedactor } from "../channels/text/redact.ts";
import { WEB_ACCOUNT, WebChannel } from "../channels/web/adapter.ts";
import { complete } from "../commands/complete.ts";
import { COMMANDS } from "../commands/registry.ts";
import type { CommandServices } from "../commands/services.ts";
import type { Access } from "../core/access/access.ts";
import { approvalTargets } from "../core/access/approval-targets.ts";
import { approversOf, createChannelAccess } from "../core/access/channel-access.ts";
import { createPairing } from "../core/access/pairing.ts";
import { ownersOf } from "../core/access/people.ts";
import type { Rank } from "../core/access/rank.ts";
import { createApprovals } from "../core/approvals/approvals.ts";
import { APPROVALS_FILE, openApprovalsFile } from "../core/approvals/approvals-file.ts";
import { type ApprovalRecord, slugOf } from "../core/approvals/record.ts";
import { type Audit, createAudit } from "../core/audit/audit.ts";
import { type Clock, type NewId, systemClock } from "../core/clock.ts";
import { boundAgent } from "../core/config/bindings.ts";
import type { LoadedConfig } from "../core/config/load.ts";
import type { Config } from "../core/config/schema.ts";
import { ExecError } from "../core/errors.ts";
import { type Announcements, createAnnouncements } from "../core/events/announcements.ts";
import { createDeliveries } from "../core/events/deliveries.ts";
import { createReaders } from "../core/events/readers.ts";
import { createSystemEvents } from "../core/events/system-events.ts";
import { createWakes } from "../core/events/wakes.ts";
import { createPatchRequests } from "../core/exec/apply-patch/request.ts";
import { createApplyPatchTool } from "../core/exec/apply-patch/tool.ts";
import { channelMarks, checkEnvOverrides } from "../core/exec/env.ts";
import { createExecTool } from "../core/exec/exec-tool.ts";
import { cachedFileFacts, freshFileFacts } from "../core/exec/file-facts.ts";
import { preflight } from "../core/exec/preflight.ts";
import { createProcessTool } from "../core/exec/process-tool.ts";
import { runCard } from "../core/exec/run-card.ts";
import { createRunRecorder } from "../core/exec/run-recorder.ts";
import { Runs } from "../core/exec/runs.ts";
import { agentSettings, DEFAULT_YIELD_MS, defaultAgentId, findAgent } from "../core/exec/settings.ts";
import { chooseShell } from "../core/exec/shell.ts";
import { ShellSnapshots } from "../core/exec/shell-snapshot.ts";
import { createGatewayHost } from "../core/hosts/gateway-host.ts";
import { recheckBinding } from "../core/policy/binding.ts";
import type { ReasonCode } from "../core/policy/decision.ts";
import { layerPhrase, reasonPhrase } from "../core/policy/reasons.ts";
import { createLeftovers } from "../core/process/leftovers.ts";
import { processLimits } from "../core/process/limits.ts";
import { Recordings } from "../core/process/recording.ts";
import { ProcessSessions } from "../core/process/registry.ts";
import { createSupervisor } from "../core/process/supervisor.ts";
import { type Actor, actorLabel, type Route } from "../core/route.ts";
import { createSessions, sessionKey } from "../core/sessions/sessions.ts";
import { openState } from "../core/store/open-state.ts";
import type { Language } from "../core/words/languages.ts";
import { phrase } from "../core/words/phrase.ts";
import { inLanguage } from "../core/words/say.ts";
import { createGatewayAgents } from "./agents.ts";
import { buildChannels, platformRequests, startChannel } from "./channels.ts";
import { ChatMigrations } from "./chat-migrations.ts";
import { Cluster } from "./cluster.ts";
import { createGatewayCron, cronMethods } from "./cron.ts";
import { createElsewhere } from "./elsewhere.ts";
import { createGatewayHeartbeats, rememberRoute } from "./heartbeats.ts";
import { gatewayIdentity } from "./identity.ts";
import { createIngress, type Ingress } from "./ingress.ts";
import { leasedChannel } from "./leases.ts";
import { createMetrics } from "./metrics.ts";
import { createPairingDesk, recordPairing } from "./pairing-desk.ts";
import { createPolicyService, explainCard } from "./policy-service.ts";
import { redactCard } from "./redact-card.ts";
import { createReplays } from "./replays.ts";
import { reviewWith } from "./reviewer.ts";
import { createRunLog } from "./run-log.ts";
import { SearchPath } from "./search-path.ts";
import { startServer } from "./server.ts";
import type { ReadinessCheck, RunningServer, ServerDeps } from "./server-deps.ts";
import { idsOfMessage, loggedAudit, loggedRuns } from "./story-log.ts";
import { createTools, type InvokeTool } from "./tools.ts";

/** Queue and channels get this much of the drain time; the rest is for children. */
const QUEUE_DRAIN_SHARE = 0.3;

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

export interface Gateway {
  readonly gatewayId: string;
  readonly audit: Audit;
  readonly invokeTool: InvokeTool;
  /** Sweeps what an earlier life left, starts queue, channels and, unless told otherwise, the server. */
  start(options?: { readonly listen?: boolean }): Promise<RunningServer | undefined>;
  /** Stops within `drainMs`: no new work, clients told, children ended, messages handed on, state closed. */
  stop(options: { readonly drainMs: number; readonly reason: string }): Promise<void>;
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
  const trail = createAudit({ store, clock, gatewayId, redact: (text) => redactor.redact(text).text });
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

  const leftovers = createLeftovers();
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
  const approvalsFile = await openApprovalsFile({
    path: join(stateDir, APPROVALS_FILE),
    clock,
    newId,
    onDamage: (problem) =>
      logger.error({ problem }, "exec-approvals.json is damaged: nothing runs until it is repaired"),
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
    askers: (request) => [...ownerRoutes(config(), request), WEB_MAIN_ROUTE],
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
    takeBack,
    onRevoked: (record) => announcements.showApproval(record.id),
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
  const channels: readonly Channel[] = [
    webChannel,
    ...(await buildChannels({
      config: config(),
      current: config,
      secrets: loaded.secrets,
      clock,
      logger,
      redactor,
      ...(cluster ? { hold: (make) => leasedChannel({ leases: cluster.leases, make, onTrouble: onError }) } : {}),
      commands: COMMANDS,
      onChatMigrated: (accountId, from, to) => migrations.moved(accountId, from, to),
      suggest: async ({ command, option, typed, actor, route }) => {
        const items = await completions(
          `/${command} ${option === "session" ? "log " : ""}`,
          await access.rank(actor, route),
        );
        return items.map((item) => item.label).filter((label) => label.startsWith(typed));
      },
    })),
  ];
  const readers = createReaders({ store, configured: (route) => localeOf(config(), route) });
  const deliveries = createDeliveries({
    store,
    queue,
    clock,
    findSender: (id, accountId) => channels.find((channel) => channel.id === id && channel.accountId === accountId),
    prepare: (card) => redactCard(card, redactor),
    onUndelivered: (lost) => announcements.undelivered(lost),
    languageOf: readers.languageOf,
    onDelivered: ({ channel, kind, waitedMs, entity, key, messageId, maybeTwice }) => {
      const line = { ...idsOfMessage(entity, key), channel, kind, messageId, waitedMs };
      if (maybeTwice) logger.warn(line, "delivered, maybe twice: an earlier try was cut off");
      else logger.info(line, "delivered");
      metrics.deliveries.delivered.inc({ channel, kind });
      metrics.deliveries.seconds.observe({ channel }, waitedMs / 1000);
    },
  });

  const snapshots = new ShellSnapshots({ stateDir, env: process.env, home: loaded.home, clock });
  const gatewayHost = createGatewayHost({
    supervisor,
    env: process.env,
    get path() {
      return searchPath.folders();
    },
    secretNames: namesOf(loaded.secrets.values, process.env),
    snapshots,
  });
  /** Start-up files can be slow: they are read beside the start, so that the first command does not wait for them. */
  const warmUp = async () => {
    await searchPath.ready();
    await snapshots.for(chooseShell(process.env, searchPath.folders()), searchPath.folders());
  };
  const recordings = new Recordings(join(stateDir, "recordings"));
  const recorder = createRunRecorder({
    recordings,
    clock,
    mode: (agentId) => agentSettings(config(), agentId, stateDir).exec.record,
    onError,
  });
  const runs = new Runs({
    store,
    clock,
    audit,
    sessions: processSessions,
    leftovers,
    gatewayId,
    instanceId,
    hosts: new Map([["gateway", gatewayHost]]),
    recheck: (spec) => recheckBinding(spec.binding, spec, freshFileFacts()),
    revokedBy: async ({ agentId, sessionKey, host }) => {
      const { security } = await policy.resolve({ agentId, sessionKey, host, fromChannel: false });
      return security.value === "deny" ? layerPhrase(security.from) : undefined;
    },
    limits: () => {
      const { maxConcurrentRuns, maxConcurrentRunsPerAgent, maxQueuedRuns } = config().limits;
      return { total: maxConcurrentRuns, perAgent: maxConcurrentRunsPerAgent, queued: maxQueuedRuns };
    },
    mayStart: () => cluster?.isMember ?? true,
    mayStartAgain: async () => cluster?.regain() ?? true,
    recorder,
    channelContext: (spec) =>
      spec.route ? channelMarks({ senderId: spec.requester.id, chatId: spec.route.chatId }) : {},
    onError,
  });

  const exec = createExecTool({
    config,
    stateDir,
    sessions,
    approvals,
    runs,
    audit,
    resolvePolicy: policy.resolve,
    decide: policy.decide,
    checkEnv: checkEnvOverrides,
    preflight,
    sandboxActive: (key, agentId) => isSandboxed(config(), key, agentId),
    elevated: async () => ({
      refused: phrase("error.elevated"),
    }),
    noteUse(decision, command, agentId) {
      for (const { entry, resolvedPath } of decision.segments) {
        if (entry) approvalsFile.noteUse({ agentId, rule: entry, command, ...(resolvedPath ? { resolvedPath } : {}) });
      }
    },
    review: reviewWith(config, loaded.secrets.models, (why) =>
      logger.warn(`the automatic reviewer gave no answer, so a person is asked: ${why}`),
    ),
    yieldMs: (settings) => settings.exec.backgroundMs ?? limits.yieldMs ?? DEFAULT_YIELD_MS,
    forget: (session) => processSessions.forget(session),
    warningsFor: (decision) => decision.reasons.filter((reason) => UNPINNED.has(reason.code)).map(reasonPhrase),
    announce: (record) => announcements.showApproval(record.id),
    defaultRoute: WEB_MAIN_ROUTE,
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
    operatorRoute: WEB_MAIN_ROUTE,
    onSkip: (agent, why) => logger.debug({ agent, why }, "heartbeat skipped"),
  });
  const announcements: Announcements = createAnnouncements({
    clock,
    wake: wakes.request,
    approvals,
    deliveries,
    events: systemEvents,
    wakeOnDenial: () => config().approvals.wakeOnDenial,
    execConfig: (agentId) => agentSettings(config(), agentId, stateDir).exec,
    approvalTargets: (record) => approvalTargets(config(), record, WEB_MAIN_ROUTE),
    responsible: (origin) => {
      const owners = ownerRoutes(config(), origin);
      return owners.length > 0 ? owners : [WEB_MAIN_ROUTE];
    },
    operatorRoute: WEB_MAIN_ROUTE,
    endSeen: (runId) => {
      const session = processSessions.byRun(runId);
      return session?.endAcknowledged ? "acknowledged" : session?.endObserved ? "observed" : "no";
    },
    onError,
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
  const callProcess = elsewhere.process;
  const applyPatch = createPatchRequests({
    tool: createApplyPatchTool(),
    audit,
    sandboxActive: (key, agentId) => isSandboxed(config(), key, agentId),
    onError,
  });
  const invokeTool = createTools({ config, stateDir, newId, exec, process: callProcess, applyPatch });
  const agents = createGatewayAgents({
    ...{ store, queue, clock, config, stateDir, invokeTool, deliveries, channels, redactor, onError },
    events: systemEvents,
    keys: loaded.secrets.models,
    onUsage: (agent, { input, output }) => {
      metrics.tokens.inc({ agent, kind: "input" }, input);
      metrics.tokens.inc({ agent, kind: "output" }, output);
    },
    onEnd: ({ trigger, state: outcome }) => metrics.turns.inc({ trigger, outcome }),
    onTrouble: (why) => logger.warn(why),
  });
  const runLog = createRunLog({ runs, sessions: processSessions, redact: (text) => redactor.redact(text).text });

  let phase: "starting" | "ready" | "draining" = "starting";
  const readiness = async () => {
    const checks = await Promise.all([
      check("store", () => store.health()),
      check("queue", () => queue.health()),
      ...(cluster ? [check("cluster", () => cluster.health())] : []),
      check("approvals-file", async () => {
        const damage = approvalsFile.damage();
        if (damage) throw new Error(damage);
      }),
    ]);
    return { ready: phase === "ready" && checks.every((one) => one.ok), checks };
  };

  const services: CommandServices = {
    commands: COMMANDS,
    exec,
    runs,
    approvals,
    sessions,
    pairingDesk,
    cron,
    bashEnabled: () => config().commands.bash,
    bashForegroundMs: () => config().commands.bashForegroundMs,
    process: callProcess,
    stopRun: elsewhere.stopRun,
    stopAll: elsewhere.stopAll,
    stopTurns: agents.stop,
    forgetConversation: agents.forget,
    policy: policy.fields,
    async explain(command, scope) {
      const judged = await exec.judge({ command }, { ...scope, requestId: newId(), fromChannel: true });
      return explainCard(command, judged.decision);
    },
    async status() {
      const [{ ready, checks }, queueCounts] = await Promise.all([readiness(), queue.counts()]);
      return {
        version,
        gatewayId,
        upMs: clock.now() - startedAtMs,
        state: phase === "draining" ? "draining" : ready ? "ready" : "not-ready",
        problems: checks.filter((one) => !one.ok).map((one) => `${one.name}: ${one.detail ?? "not available"}`),
        channels: channels.map((channel) => {
          const { state: channelState, detail, accountId } = channel.status();
          return {
            name: accountId === "default" ? channel.id : `${channel.id}/${accountId}`,
            state: channelState,
            ...(detail ? { detail } : {}),
          };
        }),
        queue: queueCounts,
      };
    },
    runCard: (record) => runCard(record),
  };
  const ingress: Ingress = createIngress({
    store,
    queue,
    clock,
    config,
    access,
    services,
    deliveries,
    readers,
    spokeIn: (agentId, route) => rememberRoute(store, agentId, route),
    talk: agents.take,
    firstWithoutModel: (key) => store.setIfAbsent("told-no-model", key, true, { ttlMs: TOLD_NO_MODEL_MS }),
    agentFor: (event: Inbound) => agentOf(event.route, event.actor),
    onError,
    logFile: runLog.file,
  });

  /** Exactly the rules that this request stored. */
  async function takeBack({ request }: ApprovalRecord) {
    const stored = new Set(request.alwaysStores.map((rule) => JSON.stringify([rule.pattern, rule.argPattern])));
    return approvalsFile.revoke(request.agentId, (rule) => stored.has(JSON.stringify([rule.pattern, rule.argPattern])));
  }

  /** What a person decided becomes effect: stored rule, run, final card. Runs at least once per settled record. */
  async function onSettled(record: ApprovalRecord): Promise<void> {
    metrics.approvals.resolved.inc({ state: record.status === "pending" ? "expired" : record.status });
    await announcements.settled(record);
    const unanswered = record.status === "expired" && record.request.fallback !== undefined;
    if (record.status !== "allowed" && !unanswered) return;
    if (record.decision === "allow-always" && !record.revoked) {
      await approvalsFile.grant(record.request.agentId, record.request.alwaysStores);
      await audit.record({
        type: "allowlist-changed",
        change: "added",
        agentId: record.request.agentId,
        patterns: record.request.alwaysStores.map((entry) => entry.pattern),
        actor: record.decidedBy ?? record.request.requester,
        approvalId: record.id,
      });
    }
    // Taken back while it was being stored.
    if ((await approvals.get(record.id))?.revoked) await takeBack(record);
    try {
      await exec.runApproved(record);
    } catch (error) {
      // The run's own record and card say why it did not start; only an unexpected fault is tried again.
      if (!(error instanceof ExecError)) throw error;
      logger.warn({ approvalId: record.id, code: error.code }, error.message);
    }
  }

  async function completions(text: string, rank: Rank) {
    return complete(text, {
      commands: COMMANDS,
      rank,
      sessions: processSessions
        .list(`agent:${defaultAgentId(config())}`)
        .map((one) => ({ id: one.id, label: one.name })),
      approvals: (await approvals.pending()).map((record) => ({
        slug: slugOf(record.id),
        command: record.request.command,
      })),
    });
  }

  let server: RunningServer | undefined;
  async function start({ listen = true }: { readonly listen?: boolean } = {}): Promise<RunningServer | undefined> {
    warmUp().catch((error) => onError(error, "reading the shell's start-up files"));
    await processSessions.start();
    await recordings.start(clock.now());
    await cluster?.join(elsewhere.answers);
    await runs.sweep();
    await approvals.start(onSettled);
    for (const record of await approvals.pending()) {
      if (record.gatewayId !== gatewayId || !listen) continue;
      await approvals.annotate(record.id, { statusLine: phrase("request.restarted") });
      await announcements.showApproval(record.id);
    }
    await deliveries.start();
    await pairingDesk.start();
    await agents.start();
    await wakes.start();
    await cron.start();
    await heartbeats.start();
    await migrations.catchUp();
    await ingress.start();
    await Promise.all(channels.map((channel) => startChannel(channel, ingress.accept, logger)));
    metrics.watchQueue(() => queue.counts());
    metrics.watchNow({
      running: () => runs.active().length,
      queued: () => runs.queued().length,
      pendingApprovals: async () => (await approvals.pending()).length,
    });
    phase = "ready";
    if (!listen) return undefined;
    server = await startServer(serverDeps(), {
      host: options.host,
      port: options.port,
      limits: {
        maxBodyBytes: config().gateway.maxBodyBytes,
        maxTokenFailures: config().gateway.auth.maxFailures,
        tokenLockoutSec: config().gateway.auth.lockoutSec,
      },
    });
    await audit.record({ type: "gateway-started", version, pid: process.pid, url: server.url });
    return server;
  }

  async function stop({ drainMs, reason }: { readonly drainMs: number; readonly reason: string }): Promise<void> {
    phase = "draining";
    agents.drain();
    runs.drain();
    announcements.stop();
    // Calls that wait for a command end with it, so both at once. The queue stays open: ends are recorded and handed on.
    await Promise.all([server?.close({ drainMs: drainMs * QUEUE_DRAIN_SHARE, reason }), supervisor.shutdown()]);
    await runs.settled();
    for (const channel of channels) await channel.stop();
    deliveries.stop();
    await audit.record({ type: "gateway-stopped", reason });
    await audit.settle();
    await cluster?.leave();
    await approvalsFile.close();
    await state.close({ drainMs: drainMs * QUEUE_DRAIN_SHARE });
    await processSessions.close();
  }

  const { boardQueues } = state;
  if (config().redis.board && !boardQueues)
    logger.warn("redis.board is on without a Redis: there is nothing at /queues");
  const openQueueBoard =
    config().redis.board && boardQueues
      ? async () => {
          const { createQueueBoard } = await import("./queue-board.ts");
          return createQueueBoard(() => boardQueues((text) => redactor.redact(text).text));
        }
      : undefined;
  const serverDeps = (): ServerDeps => ({
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
    webChats: webChannel,
    platformRequests: platformRequests(channels, config()),
    complete: async (text, actor) => {
      const language = await readers.languageOf(WEB_MAIN_ROUTE, actor);
      const items = await completions(text, await access.rank(actor, undefined));
      return items.map((item) => ({ ...item, detail: inLanguage(item.detail, language) }));
    },
    runLog: elsewhere.runLog,
    recordings: createReplays({ recordings, redactor, clock }),
    invokeTool,
    ...(openQueueBoard ? { openQueueBoard } : {}),
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
    pairing: pairingDesk.methods,
    channelReports: () =>
      channels.map((channel) => ({
        ...channel.status(),
        approvers: approversOf(config(), channel.id, channel.accountId),
        buttons: channel.capabilities.buttons,
      })),
    readiness,
  });

  return { gatewayId, audit, invokeTool, start, stop };
}

/** How long a conversation knows that there is no agent. */
const TOLD_NO_MODEL_MS = 30 * 24 * 3_600_000;

/** Where requests go that come from no chat: the operator's own. */
const WEB_MAIN_ROUTE: Route = { channel: "web", accountId: WEB_ACCOUNT, chatType: "dm", chatId: "main" };

/** Direct messages with the owners of a channel, by the account that is meant. */
function ownerRoutes(config: Config, { channel, accountId }: Pick<Route, "channel" | "accountId">): Route[] {
  return ownersOf(config, channel).map((chatId) => ({ channel, accountId, chatType: "dm", chatId }));
}

/** The configured language of what is said on this route. */
function localeOf({ channels, messages }: Config, route: Route): Language {
  const account = route.channel === "web" ? undefined : channels[route.channel]?.accounts[route.accountId];
  return account?.locale ?? messages.locale;
}

/** Variables of the gateway that hold a secret of the configuration, under whatever name: they never reach a child. */
function namesOf(secrets: readonly string[], env: NodeJS.ProcessEnv): string[] {
  return Object.entries(env).flatMap(([name, value]) => (value && secrets.includes(value) ? [name] : []));
}

/** Reasons after which what runs is the text as it stands, not something pinned to files. */
const UNPINNED: ReadonlySet<ReasonCode> = new Set(["cannot-pin", "script-not-bindable", "script-missing"]);

async function check(name: string, probe: () => Promise<void>): Promise<ReadinessCheck> {
  try {
    await probe();
    return { name, ok: true };
  } catch (error) {
    return { name, ok: false, detail: (error as Error).message };
  }
}

/** Whether this session has to run in a sandbox (hosts.md section 2.1). Without a backend such calls fail closed. */
function isSandboxed(config: Config, sessionKey: string, agentId: string): boolean {
  const mode = findAgent(config, agentId)?.sandbox?.mode ?? config.agents.defaults.sandbox.mode;
  if (mode === "off") return false;
  return mode === "all" || sessionKey !== `agent:${agentId}:main`;
}
