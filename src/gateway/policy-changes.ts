/**
 * Whatever changes what may run is written down, old and new, and told to the owners who did not do it (openclaw 137365: an
 * agent widened its own policy and nobody heard of it). Changes that come together are told together; what was changed
 * in the files by something else than the gateway is noticed, also when the gateway was not running.
 */
import { createHash } from "node:crypto";
import { holdsToken } from "../core/access/operator.ts";
import { ownersOf } from "../core/access/people.ts";
import type { ApprovalsDocument } from "../core/approvals/approvals-document.ts";
import type { ApprovalsFile } from "../core/approvals/approvals-file.ts";
import type { Audit } from "../core/audit/audit.ts";
import { changesBetween, changeText, type PolicyChange, type PolicySource } from "../core/audit/policy-change.ts";
import type { TextCard } from "../core/cards.ts";
import type { Clock } from "../core/clock.ts";
import type { Config } from "../core/config/schema.ts";
import type { Deliveries } from "../core/events/deliveries.ts";
import type { Queue } from "../core/events/queue.ts";
import { type Actor, actorLabel, type Route, routeKey } from "../core/route.ts";
import type { Store } from "../core/store/store.ts";
import { phrase, type Wording } from "../core/words/phrase.ts";
import { OPERATOR_ROUTE } from "./notice-routes.ts";
import { type Reading, readingOfConfig, readingOfFile } from "./policy-readings.ts";

/** Changes within this time are one message. */
const MERGE_MS = 5_000;
/** How often the file of the host is looked at while nothing runs. */
const LOOK_MS = 2_000;
const JOB = "policy-notice";
const WAITING_NS = "policy-notice";
const TOLD_NS = "policy-told";
const READING_NS = "policy-reading";
const TOLD_TTL_MS = 7 * 24 * 3_600_000;
const SHOWN_CHANGES = 10;
const SHOWN_VALUES = 5;

export interface PolicyChanges {
  start(): Promise<void>;
  stop(): void;
  /** Written down and told. */
  record(change: PolicyChange): Promise<void>;
  /** Told only: it has its own line in the audit trail. */
  tell(change: PolicyChange): Promise<void>;
  /** The gateway itself wrote the file; what was there before may hold what somebody else wrote. */
  fileWritten(before: ApprovalsDocument, after: ApprovalsDocument): void;
  /** The configuration was read anew. */
  configRead(): void;
}

export interface PolicyChangesOptions {
  readonly store: Store;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly gatewayId: string;
  readonly config: () => Config;
  readonly audit: Pick<Audit, "record">;
  /** Made later. */
  readonly approvalsFile: () => Pick<ApprovalsFile, "snapshot" | "damage">;
  readonly deliveries: () => Pick<Deliveries, "post">;
  readonly onError: (error: unknown, what: string) => void;
}

interface Waiting {
  readonly atMs: number;
  readonly change: PolicyChange;
}

type FileSource = Extract<PolicySource, "exec-approvals.json" | "openclaw.json">;

export function createPolicyChanges(options: PolicyChangesOptions): PolicyChanges {
  const { store, queue, clock, gatewayId, config, audit } = options;
  const system: Actor = { kind: "system", channel: "gateway", accountId: gatewayId, id: gatewayId };
  const known = new Map<FileSource, Reading>();
  let chain: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  async function tell(change: PolicyChange): Promise<void> {
    if (!config().approvals.tellOwners || change.changes.length === 0) return;
    if (await store.get(TOLD_NS, change.id)) return;
    await store.put<Waiting>(WAITING_NS, change.id, { atMs: clock.now(), change });
    await queue.add({ name: JOB, id: `${JOB}/${change.id}`, data: {}, delayMs: MERGE_MS, attempts: 5 });
  }

  async function record(change: PolicyChange): Promise<void> {
    const { source, changes, actor } = change;
    await audit.record({ type: "policy-changed", source, changes, actor });
    await tell(change);
  }

  async function send(): Promise<void> {
    const waiting = (await store.list<Waiting>(WAITING_NS)).map(({ value }) => value);
    if (waiting.length === 0) return;
    waiting.sort((one, other) => one.atMs - other.atMs);
    const routes = new Map<string, { readonly route: Route; readonly items: Waiting[] }>();
    for (const one of waiting) {
      for (const route of whoHears(config(), one.change.actor)) {
        const there = routes.get(routeKey(route)) ?? { route, items: [] };
        there.items.push(one);
        routes.set(routeKey(route), there);
      }
    }
    for (const { route, items } of routes.values()) {
      await options.deliveries().post({ key: `policy:${hashOf(items)}`, route, card: noticeCard(items) });
    }
    for (const { change } of waiting) {
      await store.put(TOLD_NS, change.id, true, { ttlMs: TOLD_TTL_MS });
      await store.delete(WAITING_NS, change.id);
    }
  }

  /** Compares with what was read before, in this life or an earlier one, and remembers what is there now. */
  async function compare(source: FileSource, now: Reading, isOwn: boolean): Promise<void> {
    const key = `${gatewayId}/${source}`;
    const before = known.get(source) ?? (await store.get<Reading>(READING_NS, key))?.value;
    const changes = before === undefined ? [] : changesBetween(before, now);
    if (before === undefined || changes.length > 0) await store.put(READING_NS, key, now);
    known.set(source, now);
    if (isOwn || changes.length === 0) return;
    await record({ id: `${source}/${hashOf([changes, clock.now()])}`, source, actor: system, changes });
  }

  function inTurn(what: string, work: () => Promise<void>): void {
    chain = chain.then(work).catch((error: unknown) => options.onError(error, what));
  }

  function look(): void {
    inTurn("comparing exec-approvals.json with what it was", async () => {
      const file = options.approvalsFile();
      if (file.damage() !== undefined) return;
      await compare("exec-approvals.json", readingOfFile(file.snapshot().document), false);
    });
  }

  const configRead = (): void =>
    inTurn("comparing the configuration with what it was", () =>
      compare("openclaw.json", readingOfConfig(config()), false),
    );

  return {
    record,
    tell,
    configRead,
    fileWritten(before, after) {
      inTurn("remembering exec-approvals.json", async () => {
        await compare("exec-approvals.json", readingOfFile(before), false);
        await compare("exec-approvals.json", readingOfFile(after), true);
      });
    },
    async start() {
      await queue.process(JOB, send);
      configRead();
      look();
      await chain;
      timer = setInterval(look, LOOK_MS);
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}

/** Every owner but who did it, once on each platform; the operator when that is nobody. */
export function whoHears(config: Config, actor: Actor): readonly Route[] {
  const owners = (["slack", "discord", "telegram"] as const).flatMap((channel): Route[] => {
    const [accountId] = Object.entries(config.channels[channel]?.accounts ?? {})
      .filter(([, account]) => account.enabled)
      .map(([id]) => id);
    if (accountId === undefined) return [];
    return ownersOf(config, channel)
      .filter((id) => actor.channel !== channel || actor.id !== id)
      .map((chatId) => ({ channel, accountId, chatType: "dm", chatId }));
  });
  if (owners.length > 0) return owners;
  return holdsToken(actor) ? [] : [OPERATOR_ROUTE];
}

function noticeCard(items: readonly Waiting[]): TextCard<Wording> {
  const more = items.length - SHOWN_CHANGES;
  return {
    kind: "text",
    tone: "warning",
    title: phrase("policy.changed"),
    fields: items.slice(0, SHOWN_CHANGES).map(({ atMs, change }) => ({
      label: change.source,
      value: {
        lines: [
          ...change.changes.slice(0, SHOWN_VALUES).map(changeText),
          ...(change.changes.length > SHOWN_VALUES ? [`+${change.changes.length - SHOWN_VALUES}`] : []),
        ],
      },
      note: phrase("policy.changed.by", {
        who: change.actor.kind === "system" ? phrase("policy.changed.outside") : actorLabel(change.actor),
        time: new Date(atMs).toISOString().slice(0, 16).replace("T", " "),
      }),
    })),
    ...(more > 0 ? { text: phrase("policy.changed.more", { count: more }) } : {}),
    hint: phrase("policy.changed.hint"),
  };
}

function hashOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}
