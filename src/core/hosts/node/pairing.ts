/**
 * Which nodes belong to this gateway (hosts.md 4.2): who asks to be one, who was let in by an owner, and what each may be
 * used for. A node proves its device key before anything here is asked. Tokens and setup codes are kept as hashes only.
 */
import { createHash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import type { Clock, NewId } from "../../clock.ts";
import { ExecError } from "../../errors.ts";
import type { Store, Versioned } from "../../store/store.ts";
import { phrase } from "../../words/phrase.ts";

/** A request to be paired lives this long after the node's last try. */
export const PENDING_TTL_MS = 5 * 60_000;
/** Requests waiting at once, in all and from one address; further strangers are turned away. */
export const MAX_PENDING_NODES = 20;
export const MAX_PENDING_PER_ADDRESS = 5;
/** A node that was rejected is not listed again for so long. */
export const REJECTED_TTL_MS = 10 * 60_000;
export const SETUP_CODE_TTL_MS = 10 * 60_000;
/** Wrong secrets before a setup code is void. */
const MAX_WRONG_SECRETS = 5;
/** 32 symbols without 0 O 1 I: 5 bits each. */
const CODE_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const CODE_NAME_CHARS = 4;
const CODE_SECRET_CHARS = 16;
const TOKEN_BYTES = 32;
const MAX_NAME_CHARS = 64;
/** Of a request or a device: less is too likely to be somebody else's. */
const MIN_PREFIX_CHARS = 6;
/** Nodes there can be. */
export const MAX_NODES = 500;

const NODES = "node";
const PENDING = "node-pending";
const REJECTED = "node-rejected";
const CODES = "node-code";

export interface NodeRecord {
  readonly id: string;
  /** base64url of the raw key. */
  readonly publicKey: string;
  readonly name: string;
  /** An owner gave the name; what the node calls itself does not change it any more. */
  readonly renamed?: true;
  readonly platform: string;
  readonly version: string;
  /** What it offered when it connected last, and what of it an owner has approved. */
  readonly declared: readonly string[];
  readonly approved: readonly string[];
  readonly pairedAtMs: number;
  /** `owner`, `setup code`, `this machine` or the network it is in. */
  readonly pairedBy: string;
  readonly lastSeenAtMs?: number;
  readonly lastAddress?: string;
  /** SHA-256 (hex). Absent: none was handed out yet. */
  readonly tokenHash?: string;
  /** The node has shown that it has it; until then a lost one is made again. */
  readonly tokenKnown?: true;
}

export interface PendingNode {
  readonly requestId: string;
  readonly nodeId: string;
  readonly publicKey: string;
  readonly name: string;
  readonly platform: string;
  readonly version: string;
  readonly address: string;
  readonly commands: readonly string[];
  /** `commands`: it is paired and offers more than was approved. */
  readonly kind: "device" | "commands";
  readonly createdAtMs: number;
  /** Absent: until it is decided. */
  readonly expiresAtMs?: number;
}

/** A device whose signature was good. */
export interface Caller {
  readonly nodeId: string;
  readonly publicKey: string;
  readonly name: string;
  readonly platform: string;
  readonly version: string;
  readonly address: string;
  readonly commands: readonly string[];
  readonly deviceToken?: string;
  readonly pairCode?: string;
  /**
   * Asked only for those that would have to wait: why they are let in without anybody being asked, and whether with their
   * commands. Rejects when what they present for it is wrong.
   */
  readonly trust?: () => Promise<{ readonly by: string; readonly withCommands: boolean } | undefined>;
}

export type Welcome =
  | {
      readonly kind: "paired";
      readonly record: NodeRecord;
      readonly newToken?: string;
      /** It was not before: what let it in. */
      readonly pairedNow?: string;
    }
  | { readonly kind: "pending"; readonly request: PendingNode; readonly isNew: boolean }
  | { readonly kind: "refused"; readonly why: "rejected" | "full" | "code-wrong" };

export interface NodePairing {
  /** Called at every connect. */
  greet(caller: Caller): Promise<Welcome>;
  get(nodeId: string): Promise<NodeRecord | undefined>;
  list(): Promise<readonly NodeRecord[]>;
  pending(): Promise<readonly PendingNode[]>;
  /** By request id, device id or an unambiguous start of either. */
  approve(wanted: string): Promise<{ readonly record: NodeRecord; readonly request: PendingNode }>;
  reject(wanted: string): Promise<PendingNode>;
  remove(nodeId: string): Promise<boolean>;
  rename(nodeId: string, name: string): Promise<NodeRecord>;
  seen(nodeId: string, address: string): Promise<void>;
  newSetupCode(): Promise<{ readonly code: string; readonly expiresAtMs: number }>;
}

interface StoredCode {
  readonly hash: string;
  readonly wrong: number;
}

export interface NodePairingOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly newId: NewId;
}

export function createNodePairing({ store, clock, newId }: NodePairingOptions): NodePairing {
  const record = (nodeId: string) => store.get<NodeRecord>(NODES, nodeId);

  /** Reads, changes and writes until nobody else did in between. */
  async function change(nodeId: string, edit: (before: NodeRecord) => NodeRecord): Promise<NodeRecord | undefined> {
    for (;;) {
      const found = await record(nodeId);
      if (!found) return undefined;
      const after = edit(found.value);
      if (after === found.value) return after;
      if ((await store.compareAndSet(NODES, nodeId, found.version, after)) !== undefined) return after;
    }
  }

  async function pair(caller: Caller, by: string, withCommands = true): Promise<NodeRecord> {
    const before = (await record(caller.nodeId))?.value;
    if (!before && (await store.list(NODES, { limit: MAX_NODES })).length >= MAX_NODES) {
      throw new ExecError("rate-limited", phrase("error.node.many", { most: MAX_NODES }));
    }
    const paired: NodeRecord = {
      id: caller.nodeId,
      publicKey: caller.publicKey,
      name: before?.renamed ? before.name : caller.name,
      platform: caller.platform,
      version: caller.version,
      declared: caller.commands,
      approved: withCommands ? caller.commands : [],
      pairedAtMs: clock.now(),
      pairedBy: by,
      ...(before?.renamed ? { renamed: true } : {}),
    };
    await store.put(NODES, caller.nodeId, paired);
    await store.delete(PENDING, caller.nodeId);
    return paired;
  }

  /** Of a paired node whose token is right, or that has none yet. */
  async function welcome(before: NodeRecord, caller: Caller): Promise<Extract<Welcome, { kind: "paired" }>> {
    const newToken = before.tokenKnown ? undefined : randomBytes(TOKEN_BYTES).toString("base64url");
    const known = before.tokenHash !== undefined && isSecret(caller.deviceToken, before.tokenHash);
    const after = await change(before.id, (now) => ({
      ...now,
      name: now.renamed ? now.name : caller.name,
      platform: caller.platform,
      version: caller.version,
      declared: caller.commands,
      lastSeenAtMs: clock.now(),
      lastAddress: caller.address,
      ...(known ? { tokenKnown: true as const } : newToken ? { tokenHash: sha256(newToken) } : {}),
    }));
    // Removed in this very moment: it has to ask again.
    if (!after) throw new ExecError("unauthorized", "This node was removed just now.");
    await noteWider(after, caller);
    return { kind: "paired", record: after, ...(newToken && !known ? { newToken } : {}) };
  }

  /** More than was approved waits for an owner; what was approved goes on. */
  async function noteWider(now: NodeRecord, caller: Caller): Promise<void> {
    if (now.declared.every((command) => now.approved.includes(command))) {
      await store.delete(PENDING, now.id);
      return;
    }
    const before = (await store.get<PendingNode>(PENDING, now.id))?.value;
    await store.put(PENDING, now.id, requestOf(caller, "commands", before));
  }

  function requestOf(caller: Caller, kind: PendingNode["kind"], before: PendingNode | undefined): PendingNode {
    const now = clock.now();
    return {
      requestId: before?.kind === kind ? before.requestId : newId(),
      nodeId: caller.nodeId,
      publicKey: caller.publicKey,
      name: caller.name,
      platform: caller.platform,
      version: caller.version,
      address: caller.address,
      commands: caller.commands,
      kind,
      createdAtMs: before?.kind === kind ? before.createdAtMs : now,
      ...(kind === "device" ? { expiresAtMs: now + PENDING_TTL_MS } : {}),
    };
  }

  async function askOwner(caller: Caller): Promise<Welcome> {
    if (await store.get(REJECTED, caller.nodeId)) return { kind: "refused", why: "rejected" };
    const waiting = await pendingNodes();
    const before = waiting.find((one) => one.nodeId === caller.nodeId);
    if (!before) {
      const strangers = waiting.filter((one) => one.kind === "device");
      const here = strangers.filter((one) => one.address === caller.address);
      if (strangers.length >= MAX_PENDING_NODES || here.length >= MAX_PENDING_PER_ADDRESS) {
        return { kind: "refused", why: "full" };
      }
    }
    const request = requestOf(caller, "device", before);
    await store.put(PENDING, caller.nodeId, request, { ttlMs: PENDING_TTL_MS });
    return { kind: "pending", request, isNew: before === undefined };
  }

  async function pendingNodes(): Promise<readonly PendingNode[]> {
    return (await store.list<PendingNode>(PENDING)).map(({ value }) => value);
  }

  async function findPending(wanted: string): Promise<PendingNode> {
    const waiting = await pendingNodes();
    const exact = waiting.filter((one) => one.requestId === wanted || one.nodeId === wanted);
    const found =
      exact.length > 0
        ? exact
        : wanted.length < MIN_PREFIX_CHARS
          ? []
          : waiting.filter((one) => one.requestId.startsWith(wanted) || one.nodeId.startsWith(wanted));
    const [request, ...others] = found;
    if (!request) throw new ExecError("not-found", phrase("error.node.noRequest", { request: wanted }));
    if (others.length > 0) {
      const names = found.map((one) => `${one.name} (${one.requestId})`);
      throw new ExecError("invalid-argument", phrase("error.node.severalRequests", { request: wanted, nodes: names }));
    }
    return request;
  }

  /** True when the code was right; it is gone then. */
  async function useCode(typed: string): Promise<boolean> {
    const plain = typed.toUpperCase().replace(/[\s-]/g, "");
    const name = plain.slice(0, CODE_NAME_CHARS);
    const found = await store.get<StoredCode>(CODES, name);
    if (!found) return false;
    if (isSecret(plain.slice(CODE_NAME_CHARS), found.value.hash)) return store.delete(CODES, name, found.version);
    await countWrong(name, found);
    return false;
  }

  async function countWrong(name: string, { value, version }: Versioned<StoredCode>): Promise<void> {
    const wrong = value.wrong + 1;
    if (wrong >= MAX_WRONG_SECRETS) await store.delete(CODES, name);
    else await store.compareAndSet(CODES, name, version, { ...value, wrong }, { ttlMs: SETUP_CODE_TTL_MS });
  }

  return {
    async greet(given) {
      const caller = { ...given, name: visibleName(given.name, given.nodeId) };
      const found = (await record(caller.nodeId))?.value;
      if (caller.pairCode !== undefined) {
        if (!(await useCode(caller.pairCode))) return { kind: "refused", why: "code-wrong" };
        return { ...(await welcome(await pair(caller, "setup code"), caller)), pairedNow: "setup code" };
      }
      const hasToken = found?.tokenHash !== undefined && isSecret(caller.deviceToken, found.tokenHash);
      if (found && (hasToken || !found.tokenKnown)) return welcome(found, caller);
      const trusted = await caller.trust?.();
      if (trusted !== undefined) {
        const { by, withCommands } = trusted;
        return { ...(await welcome(await pair(caller, by, withCommands), caller)), pairedNow: by };
      }
      return askOwner(caller);
    },
    get: async (nodeId) => (await record(nodeId))?.value,
    list: async () => (await store.list<NodeRecord>(NODES)).map(({ value }) => value),
    pending: pendingNodes,
    async approve(wanted) {
      const request = await findPending(wanted);
      if (request.kind === "commands") {
        const after = await change(request.nodeId, (now) => ({ ...now, approved: request.commands }));
        if (after) {
          await store.delete(PENDING, request.nodeId);
          return { record: after, request };
        }
      }
      return { record: await pair(request, "owner"), request };
    },
    async reject(wanted) {
      const request = await findPending(wanted);
      await store.delete(PENDING, request.nodeId);
      if (request.kind === "device") await store.put(REJECTED, request.nodeId, true, { ttlMs: REJECTED_TTL_MS });
      else await change(request.nodeId, (now) => ({ ...now, declared: now.approved }));
      return request;
    },
    async remove(nodeId) {
      await store.delete(PENDING, nodeId);
      return store.delete(NODES, nodeId);
    },
    async rename(nodeId, name) {
      const wanted = name.trim();
      if (wanted === "" || wanted.length > MAX_NAME_CHARS || visibleName(wanted, "") !== wanted) {
        throw new ExecError("invalid-argument", phrase("error.node.name", { most: MAX_NAME_CHARS }));
      }
      const after = await change(nodeId, (now) => ({ ...now, name: wanted, renamed: true }));
      if (!after) throw new ExecError("not-found", phrase("error.node.unknown", { node: nodeId, nodes: "-" }));
      return after;
    },
    async seen(nodeId, address) {
      await change(nodeId, (now) => ({ ...now, lastSeenAtMs: clock.now(), lastAddress: address }));
    },
    async newSetupCode() {
      for (;;) {
        const name = randomSymbols(CODE_NAME_CHARS);
        const secret = randomSymbols(CODE_SECRET_CHARS);
        const stored: StoredCode = { hash: sha256(secret), wrong: 0 };
        if (!(await store.setIfAbsent(CODES, name, stored, { ttlMs: SETUP_CODE_TTL_MS }))) continue;
        const groups = secret.match(/.{4}/g) ?? [];
        return { code: [name, ...groups].join("-"), expiresAtMs: clock.now() + SETUP_CODE_TTL_MS };
      }
    },
  };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function isSecret(presented: string | undefined, hash: string): boolean {
  if (presented === undefined) return false;
  return timingSafeEqual(Buffer.from(sha256(presented), "hex"), Buffer.from(hash, "hex"));
}

function randomSymbols(count: number): string {
  return Array.from({ length: count }, () => CODE_ALPHABET[randomInt(CODE_ALPHABET.length)]).join("");
}

/** A name that is what it looks like: letters, digits, spaces and a few marks. */
function visibleName(name: string, nodeId: string): string {
  const plain = name
    .normalize("NFKC")
    .replace(/[^\p{L}\p{N}._ -]/gu, "")
    .trim()
    .slice(0, MAX_NAME_CHARS);
  return plain === "" ? `node-${nodeId.slice(0, 8)}` : plain;
}
