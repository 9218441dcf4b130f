/** Reads and checks audit trails: through the gateway that runs, or from the state itself when none does. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { AUDIT_MAX_ENTRIES, auditedGateways, readAudit } from "../core/audit/audit.ts";
import { ChainVerifier, faultSentence } from "../core/audit/chain.ts";
import type { AuditEntry, AuditPage } from "../core/audit/events.ts";
import { systemClock } from "../core/clock.ts";
import { type LoadedConfig, loadConfig, renderProblems } from "../core/config/load.ts";
import { STATE_FILE } from "../core/store/open-state.ts";
import { openSqliteStore } from "../core/store/sqlite-store.ts";
import type { Store } from "../core/store/store.ts";
import { findRunningGateway } from "../gateway/state-lock.ts";
import type { AuditFlags } from "./audit.ts";
import { auditLine } from "./audit-line.ts";
import { URL_ENV } from "./client.ts";
import { type Cli, EXIT } from "./io.ts";
import { withGateway } from "./with-gateway.ts";

const PAGE = 1_000;

/** One chain, read page by page: after the entry `after`, or the newest `limit`. */
interface Trail {
  read(request: { readonly after?: number; readonly limit: number }): Promise<AuditPage>;
}

export async function runAudit(cli: Cli, flags: AuditFlags): Promise<number> {
  const loaded = await loadConfig({ env: cli.env, workingDir: cli.cwd });
  const running = findRunningGateway(loaded.stateDir, systemClock.now());
  if (cli.env[URL_ENV] !== undefined || running?.url !== undefined) {
    return withGateway(cli, {}, (client) =>
      show(cli, flags, [{ read: (request) => client.request("audit.read", request) }]),
    );
  }
  if (!loaded.ok) {
    cli.err(renderProblems(loaded.file.path, loaded.problems));
    return EXIT.failed;
  }
  return fromState(cli, flags, loaded);
}

async function fromState(cli: Cli, flags: AuditFlags, loaded: LoadedConfig): Promise<number> {
  const store = await openStore(loaded);
  if (!store) return show(cli, flags, []);
  try {
    const trails = (await auditedGateways(store)).map(
      (gatewayId): Trail => ({
        read: (request) => readAudit(store, gatewayId, request),
      }),
    );
    return await show(cli, flags, trails);
  } finally {
    await store.close();
  }
}

/** The store alone: opening the queue would hand out its jobs. `undefined` when nothing was ever written. */
async function openStore({ stateDir, config, secrets }: LoadedConfig): Promise<Store | undefined> {
  if (secrets.redisUrl !== undefined) {
    const { openRedisStore } = await import("../core/store/redis-store.ts");
    return openRedisStore({ url: secrets.redisUrl, prefix: config.redis.prefix });
  }
  const file = join(stateDir, STATE_FILE);
  return existsSync(file) ? openSqliteStore({ file, clock: systemClock }) : undefined;
}

async function show(cli: Cli, flags: AuditFlags, trails: readonly Trail[]): Promise<number> {
  if (flags.verify) return verify(cli, flags, trails);
  const pages = await Promise.all(trails.map((trail) => newest(trail, flags.limit)));
  const entries = pages
    .flat()
    .sort((a, b) => a.atMs - b.atMs)
    .slice(-flags.limit);
  for (const entry of entries) cli.out(flags.json ? JSON.stringify(entry) : auditLine(entry));
  if (entries.length === 0 && !flags.json) cli.err("The audit trail is empty.");
  return EXIT.ok;
}

async function newest(trail: Trail, limit: number): Promise<readonly AuditEntry[]> {
  const last = await trail.read({ limit: Math.min(limit, PAGE) });
  if (limit <= PAGE || last.entries.length < PAGE) return last.entries;
  const entries: AuditEntry[] = [];
  for await (const page of pagesFrom(trail, Math.max(0, (last.head?.seq ?? 0) - limit))) entries.push(...page.entries);
  return entries;
}

async function* pagesFrom(trail: Trail, after: number): AsyncGenerator<AuditPage> {
  for (let from = after; ; ) {
    const page = await trail.read({ after: from, limit: PAGE });
    yield page;
    const last = page.entries.at(-1);
    if (!last || page.entries.length < PAGE) return;
    from = last.seq;
  }
}

async function verify(cli: Cli, flags: AuditFlags, trails: readonly Trail[]): Promise<number> {
  let untouched = true;
  for (const trail of trails) {
    let verifier: ChainVerifier | undefined;
    let gatewayId = "";
    for await (const page of pagesFrom(trail, 0)) {
      verifier ??= new ChainVerifier(page.head, AUDIT_MAX_ENTRIES);
      verifier.add(page.entries);
      gatewayId = page.gatewayId;
    }
    const verdict = verifier?.verdict();
    if (!verdict) continue;
    untouched &&= verdict.ok;
    if (flags.json) cli.out(JSON.stringify({ gatewayId, ...verdict }));
    else if (!verdict.ok) cli.err(`Gateway ${gatewayId}: ${faultSentence(verdict.fault)}`);
    else {
      const { entries, firstSeq, head } = verdict;
      const range = entries === 0 ? "no entries" : `entries ${firstSeq} to ${head?.seq} are as they were written`;
      cli.out(`Gateway ${gatewayId}: ${range}${head ? `, last hash ${head.hash}` : ""}.`);
    }
  }
  if (trails.length === 0 && !flags.json) cli.err("The audit trail is empty.");
  return untouched ? EXIT.ok : EXIT.failed;
}
