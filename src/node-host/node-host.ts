/**
 * A headless node: keeps a connection to one gateway and does what it asks, under its own policy. Comes back by itself
 * after every loss; ends only when it is told to, or when trying again can not help.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { APPROVALS_FILE, openApprovalsFile } from "../core/approvals/approvals-file.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import { ExecError } from "../core/errors.ts";
import { loginPath } from "../core/exec/login-path.ts";
import { findOnPath, mergePaths, splitPath } from "../core/exec/shell.ts";
import { ShellSnapshots } from "../core/exec/shell-snapshot.ts";
import { createGatewayHost } from "../core/hosts/gateway-host.ts";
import { createLeftovers } from "../core/process/leftovers.ts";
import { createSupervisor } from "../core/process/supervisor.ts";
import { inEnglish, phrase, type Wording } from "../core/words/phrase.ts";
import { MAX_FRAME_BYTES } from "../protocol/frames.ts";
import {
  type Hello,
  orderOf,
  parsePrepare,
  parseRevoke,
  parseRun,
  reportText,
  whichParams,
} from "../protocol/node-frames.ts";
import type { Endpoint } from "./endpoint.ts";
import { GatewaySocket, type OrderFrame, type SocketEnd } from "./gateway-socket.ts";
import { DeviceTokens, loadIdentity } from "./identity.ts";
import { RunJournal } from "./journal.ts";
import { NodePolicy } from "./policy.ts";
import { NodeRuns } from "./runs.ts";

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 30_000;
/** Share of a wait that is left to chance, so that nodes of a restarted gateway do not come all at once. */
const JITTER = 0.5;
/** While an owner is waited for: each try keeps the request alive. */
const PAIRING_RETRY_MS = 10_000;
/** How long the gateway may be away before what runs for it is stopped. */
export const DEFAULT_GRACE_SEC = 120;
/** The gateway takes frames of 1 MiB; the rest is for what is around the answer. */
const MAX_ANSWER_BYTES = MAX_FRAME_BYTES - 4_096;
const MINIMAL_PATH = "/usr/local/bin:/usr/bin:/bin";

export interface NodeHostOptions {
  readonly stateDir: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly endpoint: Endpoint;
  readonly displayName: string;
  readonly commands: readonly string[];
  readonly version: string;
  /** Of the gateway, for a node that may be paired by itself. */
  readonly gatewayToken?: string;
  /** A setup code, used once. */
  readonly pairCode?: string;
  readonly graceMs: number;
  /** Lines for whoever watches. */
  readonly say: (line: string) => void;
  readonly clock?: Clock;
  readonly newId?: () => string;
  /** Shorter waits, for tests. */
  readonly retry?: { readonly firstMs?: number; readonly pairingMs?: number };
}

export interface NodeHost {
  readonly deviceId: string;
  /** Resolves when it was stopped. @throws ExecError `unauthorized` when trying again can not help. */
  run(): Promise<void>;
  /** Stops what runs here, tells the gateway, hangs up. */
  stop(): Promise<void>;
}

export async function createNodeHost(options: NodeHostOptions): Promise<NodeHost> {
  const { stateDir, env, endpoint, say } = options;
  const clock = options.clock ?? systemClock;
  const newId = options.newId ?? (() => crypto.randomUUID());
  const identity = loadIdentity(stateDir, newId());
  const tokens = new DeviceTokens(identity.folder, newId);
  const workspace = join(stateDir, "workspace");
  mkdirSync(workspace, { recursive: true, mode: 0o700 });
  const own = splitPath(env.PATH || MINIMAL_PATH);
  const path = mergePaths((await loginPath({ env, onWarning: say })) ?? [], own);
  const approvalsFile = await openApprovalsFile({
    path: join(stateDir, APPROVALS_FILE),
    clock,
    newId,
    onDamage: (problem) => say(`${problem}`),
  });
  const supervisor = createSupervisor({ clock });
  const policy = new NodePolicy({
    ...identity,
    ...{ approvalsFile, clock, workspace },
    path: () => path,
    home: options.home,
  });
  const runs = new NodeRuns({
    deviceId: identity.deviceId,
    clock,
    policy,
    host: createGatewayHost({
      supervisor,
      env,
      path,
      snapshots: new ShellSnapshots({ stateDir, env, home: options.home, clock }),
    }),
    journal: new RunJournal(identity.folder, clock, newId),
    leftovers: createLeftovers(),
    graceMs: options.graceMs,
    send: (report) => {
      socket?.send(reportText(report));
    },
    grant: (agentId, rules) => approvalsFile.grant(agentId, rules),
    noteUse: ({ segments }, run) => {
      for (const { entry, resolvedPath } of segments) {
        if (!entry) continue;
        const { agentId, command } = run;
        approvalsFile.noteUse({ agentId, rule: entry, command, ...(resolvedPath ? { resolvedPath } : {}) });
      }
    },
    log: say,
  });
  await runs.recover();

  let socket: GatewaySocket | undefined;
  let gatewayId = "";
  let pairCode = options.pairCode;
  let stopping: Promise<void> | undefined;
  let wake: (() => void) | undefined;
  let saidPairing = "";
  const invokes = new Map<string, AbortController>();

  function onHello(hello: Hello): void {
    gatewayId = hello.server.gatewayId;
    pairCode = undefined;
    saidPairing = "";
    if (hello.auth.deviceToken !== undefined) tokens.set(endpoint.url, hello.auth.deviceToken);
    runs.connected();
    const usable =
      hello.node.commands.join(", ") || "none yet: an owner has to approve them (openclaw-exec nodes pending)";
    say(`Connected to gateway ${gatewayId} as ${hello.node.name}. Usable commands: ${usable}.`);
    send("node.runs", { runs: runs.known(gatewayId) });
  }

  function onFrame(frame: OrderFrame): void {
    if (frame.event === "node.invoke.request") void answer(frame.payload);
    else if (frame.event === "node.invoke.cancel") invokes.get(frame.payload.id)?.abort();
    else if (frame.event === "shutdown") say(`The gateway stops: ${frame.payload.reason}`);
    else {
      const order = orderOf(frame);
      if (order) runs.order(order);
    }
  }

  async function answer(request: { readonly id: string; readonly command: string; readonly params?: unknown }) {
    const { id, command, params } = request;
    const over = new AbortController();
    invokes.set(id, over);
    try {
      send("node.invoke.result", { id, ok: true, payload: fits(await perform(command, params, over.signal)) });
    } catch (error) {
      send("node.invoke.result", { id, ok: false, error: errorOf(error) });
    } finally {
      invokes.delete(id);
    }
  }

  async function perform(command: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    // Goes with running: it can only make the node stricter.
    const needed = command === "system.run.revoke" ? "system.run" : command;
    if (!options.commands.includes(needed)) {
      throw new ExecError("not-found", `This node does not offer ${command}.`);
    }
    switch (command) {
      case "system.run.prepare":
        return policy.prepare(parsePrepare(params), gatewayId);
      case "system.run":
        return runs.start(parseRun(params), gatewayId, signal);
      case "system.run.revoke":
        return { rules: await revoke(parseRevoke(params)) };
      case "system.which":
        return { bins: which(whichParams.parse(params).bins) };
      default:
        throw new ExecError("not-found", `This node does not know ${command}.`);
    }
  }

  /** Only what "Allow always" has stored; what an operator wrote is an operator's to remove. */
  function revoke({ agentId, rules }: ReturnType<typeof parseRevoke>) {
    const stored = new Set(rules.map((rule) => JSON.stringify([rule.pattern, rule.argPattern])));
    return approvalsFile.revoke(
      agentId,
      (rule) => rule.source === "allow-always" && stored.has(JSON.stringify([rule.pattern, rule.argPattern])),
    );
  }

  function which(bins: readonly string[]): Record<string, string> {
    const found: Record<string, string> = {};
    for (const name of bins) {
      const file = name.includes("/") ? undefined : findOnPath(name, path);
      if (file !== undefined) found[name] = file;
    }
    return found;
  }

  function send(event: string, payload: unknown): void {
    socket?.send(JSON.stringify({ type: "event", event, payload }));
  }

  /** An answer that the gateway may not take would end the connection: that it is too large is the answer then. */
  function fits(payload: unknown): unknown {
    if (Buffer.byteLength(JSON.stringify(payload)) <= MAX_ANSWER_BYTES) return payload;
    throw new ExecError("payload-too-large", phrase("error.nodeRun.tooLarge"));
  }

  function auth() {
    const deviceToken = tokens.get(endpoint.url);
    // What would let anybody act as the operator is not sent where others could read it.
    const token = endpoint.loopback || endpoint.tls ? options.gatewayToken : undefined;
    return {
      ...(pairCode === undefined ? {} : { pairCode }),
      ...(deviceToken === undefined || pairCode !== undefined ? {} : { deviceToken }),
      ...(token === undefined ? {} : { token }),
    };
  }

  async function session(): Promise<{ readonly end: SocketEnd; readonly wasUp: boolean }> {
    let wasUp = false;
    socket = new GatewaySocket({
      ...{ endpoint, identity, onFrame },
      version: options.version,
      displayName: options.displayName,
      commands: options.commands,
      auth: auth(),
      onHello: (hello) => {
        wasUp = true;
        onHello(hello);
      },
    });
    const end = await socket.ended;
    socket = undefined;
    runs.disconnected();
    return { end, wasUp };
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function wind(): Promise<void> {
    await runs.shutdown();
    // Ends that were sent just now have to be written out.
    socket?.close();
    wake?.();
    await approvalsFile.close();
  }

  return {
    deviceId: identity.deviceId,
    async run() {
      for (let attempt = 0; stopping === undefined; attempt++) {
        const { end, wasUp } = await session();
        if (stopping !== undefined || end.kind === "closed") break;
        if (wasUp) attempt = 0;
        if (end.kind === "refused") {
          await runs.shutdown();
          throw new ExecError("unauthorized", end.message);
        }
        if (end.kind === "pairing") {
          if (end.message !== saidPairing) say(`${end.message}\nWaiting for it; the device is ${identity.deviceId}.`);
          saidPairing = end.message;
          await pause(options.retry?.pairingMs ?? PAIRING_RETRY_MS);
          continue;
        }
        const longest = Math.min(MAX_RETRY_MS, (options.retry?.firstMs ?? FIRST_RETRY_MS) * 2 ** Math.min(attempt, 16));
        const waitMs = Math.round(longest * (1 - JITTER * Math.random()));
        say(`No connection to ${endpoint.url} (${end.why}). Trying again in ${(waitMs / 1000).toFixed(1)} s.`);
        await pause(waitMs);
      }
      await stopping;
    },
    stop() {
      stopping ??= wind();
      return stopping;
    },
  };
}

function errorOf(error: unknown): { code: string; message: string; wording?: Wording; details?: object } {
  if (error instanceof ExecError) {
    return {
      code: error.code,
      message: inEnglish(error.wording).slice(0, 2_000),
      wording: error.wording,
      ...(error.details ? { details: { ...error.details } } : {}),
    };
  }
  const name = error instanceof Error && error.name === "ZodError" ? "invalid-argument" : "internal";
  return {
    code: name,
    message:
      name === "internal"
        ? "The node failed to answer."
        : "This node does not understand the call; versions may differ.",
  };
}
