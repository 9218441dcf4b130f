/** What `openclaw-exec gateway` does: configuration, token, lock, start, a few honest lines, and an orderly end. */
import type { Logger } from "pino";
import { systemClock } from "../core/clock.ts";
import { ConfigHolder } from "../core/config/holder.ts";
import { type LoadedConfig, openConfig, renderProblems } from "../core/config/load.ts";
import type { Actor } from "../core/route.ts";
import { bindAddress } from "../gateway/bind.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { atEndOfTurn, createLogger } from "../gateway/logging.ts";
import { urlOf } from "../gateway/server.ts";
import { acquireStateLock, findRunningGateway } from "../gateway/state-lock.ts";
import { chatLink, type GatewayToken, loadGatewayToken } from "../gateway/token.ts";
import type { GatewayFlags } from "./gateway.ts";
import { startGateway } from "./gateway-start.ts";
import { type Cli, EXIT } from "./io.ts";
import { version } from "./version.ts";

/** What still hangs this long after the drain time is left behind. */
const EXIT_GRACE_MS = 2_000;
const SYSTEM: Actor = { kind: "system", channel: "gateway", accountId: "default", id: "gateway" };

/** Resolves with the exit code once the gateway has stopped. */
export async function runGateway(cli: Cli, flags: GatewayFlags): Promise<number> {
  const opened = await openConfig({ env: cli.env, workingDir: cli.cwd });
  if (!opened.ok) {
    cli.err(renderProblems(opened.file.path, opened.problems));
    return EXIT.failed;
  }
  const { config, stateDir } = opened;
  const host = bindAddress(config.gateway);
  const lock = await acquireStateLock({ stateDir, clock: systemClock, version: version() });
  process.once("exit", () => lock.release());
  const holder = new ConfigHolder(opened, { env: cli.env, workingDir: cli.cwd });
  const log = atEndOfTurn((text) => process.stderr.write(text));
  process.once("exit", log.flush);
  const logger = createLogger({
    level: config.logging.level,
    destination: log,
    pretty: process.stderr.isTTY === true,
  });
  let gateway: Gateway | undefined;
  try {
    const token = await tokenOf(opened, cli);
    const ending = awaitEnd(logger);
    const givenUp = new AbortController();
    void ending.then(() => givenUp.abort());
    const started = await startGateway({
      gateway: {
        loaded: opened,
        config: () => holder.current(),
        reloadConfig: () => holder.reload(),
        token: token?.token,
        version: version(),
        logger,
        host,
        port: flags.port ?? config.gateway.port,
      },
      clock: systemClock,
      logger,
      signal: givenUp.signal,
    });
    if (!started) return (await ending).code;
    const { server } = started;
    gateway = started.gateway;
    lock.listening(server);
    followConfig(holder, gateway, logger);
    cli.out(`openclaw-exec ${version()} listens on ${server.url} (state in ${tilde(stateDir, opened.home)}).`);
    if (opened.starterWritten) {
      cli.out(`Wrote ${tilde(opened.file.path, opened.home)}: commands ask before they run (tools.exec.mode: "ask").`);
    }
    for (const warning of opened.warnings) cli.err(warning);
    if (token && (token.created || flags.showLink)) cli.out(`Web chat: ${chatLink(server.url, token.token)}`);

    const end = await ending;
    const drainMs = holder.current().gateway.drainTimeoutSec * 1000;
    const hard = setTimeout(() => process.exit(EXIT.failed), drainMs + EXIT_GRACE_MS).unref();
    logger.info({ reason: end.reason }, "stopping");
    holder.stop();
    await gateway.stop({ drainMs, reason: end.reason });
    clearTimeout(hard);
    return end.code;
  } catch (error) {
    holder.stop();
    await gateway?.stop({ drainMs: 0, reason: "The gateway could not start." }).catch(() => undefined);
    throw error;
  } finally {
    lock.release();
    // Everything is stopped and stored; something forgotten must not keep a service manager waiting.
    cli.leave?.(EXIT_GRACE_MS);
  }
}

/** Prints the link to the gateway that runs, or to the one that would start now. */
export async function printLink(cli: Cli, flags: GatewayFlags): Promise<number> {
  const opened = await openConfig({ env: cli.env, workingDir: cli.cwd });
  if (!opened.ok) {
    cli.err(renderProblems(opened.file.path, opened.problems));
    return EXIT.failed;
  }
  const token = await tokenOf(opened, cli);
  const running = findRunningGateway(opened.stateDir, systemClock.now());
  const { gateway } = opened.config;
  const url = running?.url ?? urlOf(bindAddress(gateway), flags.port ?? gateway.port);
  cli.out(token ? chatLink(url, token.token) : url);
  if (!running) cli.err("No gateway is running. Start it with: openclaw-exec gateway");
  return EXIT.ok;
}

async function tokenOf({ config, secrets, stateDir }: LoadedConfig, cli: Cli): Promise<GatewayToken | undefined> {
  if (config.gateway.auth.mode === "none") return undefined;
  return loadGatewayToken({ stateDir, configured: secrets.gatewayToken, env: cli.env });
}

interface End {
  readonly reason: string;
  readonly code: number;
}

/** Settles at the first signal or unforeseen error; a second signal ends the process at once. */
function awaitEnd(logger: Logger): Promise<End> {
  return new Promise((resolve) => {
    let ending = false;
    const end = (how: End) => {
      if (ending) process.exit(EXIT.failed);
      ending = true;
      resolve(how);
    };
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.on(signal, () => end({ reason: `Stopped by ${signal}.`, code: EXIT.ok }));
    }
    const crash = (error: unknown) => {
      logger.fatal({ err: error }, "unforeseen error");
      end({ reason: "The gateway met an unforeseen error.", code: EXIT.failed });
    };
    process.on("uncaughtException", crash);
    process.on("unhandledRejection", crash);
  });
}

function followConfig(holder: ConfigHolder, gateway: Gateway, logger: Logger): void {
  holder.onChange((reload) => {
    switch (reload.kind) {
      case "unchanged":
        return;
      case "refused":
        logger.error({ problems: reload.problems }, "the configuration file has errors; what ran before still holds");
        return;
      case "applied":
        gateway.configRead();
        if (reload.live.length > 0) logger.info({ keys: reload.live }, "configuration changed");
        if (reload.restart.length > 0) logger.warn({ keys: reload.restart }, "these keys need a restart");
        gateway.audit
          .record({ type: "config-changed", paths: [...reload.live, ...reload.restart], actor: SYSTEM })
          .catch((error: unknown) => logger.error({ err: error }, "the audit trail could not be written"));
    }
  });
  holder.watch();
}

function tilde(path: string, home: string): string {
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
