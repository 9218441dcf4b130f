/**
 * Starting a child without copying the gateway's memory tables first: native/spawn.c, which `npm install` builds on Linux.
 * What it gives behaves as a `ChildProcess` of `node:child_process`; wherever it can not serve, that one does.
 */
import { EventEmitter } from "node:events";
import { createRequire } from "node:module";
import { Socket } from "node:net";
import { constants } from "node:os";
import { isMainThread } from "node:worker_threads";
import type { SpawnPlan } from "./types.ts";

interface Native {
  supported(): boolean;
  /** `[pid, stdin, stdout, stderr]`, or why nothing was started. A closed stdin is -1. */
  start(
    file: string,
    argv: readonly string[],
    env: readonly string[],
    cwd: string,
    stdinOpen: boolean,
    onExit: (code: number, signal: number) => void,
  ): readonly [number, number, number, number] | number;
}

/** The same from sources and from what is built. */
const BINARY = "../../../build/Release/spawn.node";

/** Undefined: nothing was started, and `spawn` of Node may do it or say why not. */
export type DirectSpawn = (plan: SpawnPlan) => DirectChild | undefined;

/** Undefined where it was not built, or this system does not offer what it needs. */
export function loadDirectSpawn(): DirectSpawn | undefined {
  // The end of a child arrives at the event loop of the main thread.
  if (process.platform !== "linux" || !isMainThread) return undefined;
  let native: Native;
  try {
    native = createRequire(import.meta.url)(BINARY) as Native;
    if (!native.supported()) return undefined;
  } catch {
    return undefined;
  }
  return (plan) => {
    // A name alone is looked up on the PATH of the child, which only Node's spawn does.
    if (!plan.file.includes("/")) return undefined;
    const child = new DirectChild();
    return child.start(native, plan) ? child : undefined;
  };
}

/** Emits `exit` (code, signal) and, once all output has been read, `close`. */
export class DirectChild extends EventEmitter {
  pid: number | undefined;
  stdin: Socket | null = null;
  stdout: Socket | null = null;
  stderr: Socket | null = null;
  /** The end of the child and of its two outputs. */
  #awaited = 3;

  /** False: nothing was started. */
  start(native: Native, plan: SpawnPlan): boolean {
    const env = Object.entries(plan.env).map(([name, value]) => `${name}=${value}`);
    const argv = [plan.argv0 ?? plan.file, ...plan.args];
    const started = native.start(plan.file, argv, env, plan.cwd, plan.stdin === "open", (code, signal) => {
      this.stdin?.destroy();
      if (signal === 0) this.emit("exit", code, null);
      else this.emit("exit", null, SIGNAL_NAMES.get(signal) ?? `SIG${signal}`);
      this.#arrived();
    });
    if (typeof started === "number") return false;
    const [pid, stdin, stdout, stderr] = started;
    this.pid = pid;
    if (stdin !== -1) this.stdin = new Socket({ fd: stdin, readable: false, writable: true });
    this.stdout = this.#output(stdout);
    this.stderr = this.#output(stderr);
    return true;
  }

  #output(fd: number): Socket {
    const socket = new Socket({ fd, readable: true, writable: false });
    return socket.once("close", () => this.#arrived());
  }

  #arrived(): void {
    this.#awaited -= 1;
    if (this.#awaited === 0) this.emit("close");
  }
}

/** Of two names for one number (SIGABRT, SIGIOT) the first is the usual one. */
const SIGNAL_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.signals)
    .map(([name, number]) => [number, name] as const)
    .reverse(),
);
