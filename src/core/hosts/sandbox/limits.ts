/** Limits of one sandboxed command, as the configuration writes them. Pure. */
import type { ContainerSettings } from "../../exec/sandbox-settings.ts";

/** Enforced by control groups. */
export interface GroupLimits {
  readonly pids?: number;
  readonly memoryBytes?: number;
  /** Memory and swap together. */
  readonly memorySwapBytes?: number;
  /** Processors' worth of time: 1.5 is one and a half. */
  readonly cpus?: number;
}

export interface Limits {
  readonly groups: GroupLimits;
  /** Arguments of prlimit(1). */
  readonly prlimit: readonly string[];
}

/** A value nobody could act on. `field` is below `docker`. */
export interface BadLimit {
  readonly field: string;
  readonly value: string;
}

const UNITS: Readonly<Record<string, number>> = { "": 1, b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/** `512m`, `1.5g`, `1048576`. */
export function bytesOf(text: string): number | undefined {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)\s*([bkmgt]?)(?:i?b)?$/i.exec(text.trim()) ?? [];
  const bytes = Math.floor(Number(amount) * (UNITS[(unit ?? "").toLowerCase()] ?? Number.NaN));
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined;
}

const RESOURCES = new Set(
  ["as", "core", "cpu", "data", "fsize", "locks", "memlock", "msgqueue", "nice", "nofile", "nproc", "rss"].concat([
    ...["rtprio", "rttime", "sigpending", "stack"],
  ]),
);

export function limitsOf(docker: ContainerSettings): Limits | BadLimit {
  const sizes: { -readonly [K in keyof GroupLimits]: GroupLimits[K] } = {};
  for (const [field, into] of [
    ["memory", "memoryBytes"],
    ["memorySwap", "memorySwapBytes"],
  ] as const) {
    const text = docker[field];
    if (text === undefined) continue;
    const bytes = bytesOf(text);
    if (bytes === undefined) return { field, value: text };
    sizes[into] = bytes;
  }
  // As with containers: the second is memory and swap together, so it means nothing alone and can not be the smaller.
  if (sizes.memorySwapBytes !== undefined && sizes.memorySwapBytes < (sizes.memoryBytes ?? Number.POSITIVE_INFINITY)) {
    return { field: "memorySwap", value: docker.memorySwap ?? "" };
  }
  if (docker.pidsLimit !== undefined) sizes.pids = docker.pidsLimit;
  if (docker.cpus !== undefined) sizes.cpus = docker.cpus;
  const prlimit: string[] = [];
  for (const [name, limit] of Object.entries(docker.ulimits ?? {})) {
    const value = typeof limit === "object" ? `${limit.soft}:${limit.hard}` : String(limit).trim();
    const [soft = "", hard = soft, ...more] = value.split(":").map((part) => (part === "-1" ? "unlimited" : part));
    const fits = more.length === 0 && [soft, hard].every((part) => /^(?:\d+|unlimited)$/.test(part));
    if (!RESOURCES.has(name) || !fits) return { field: `ulimits.${name}`, value };
    prlimit.push(`--${name}=${soft}:${hard}`);
  }
  return { groups: sizes, prlimit };
}

export interface Tmpfs {
  readonly path: string;
  readonly bytes: number;
}

/** Without a size of its own: it is memory of this machine. */
export const TMPFS_BYTES = 1024 ** 3;

/** `/tmp`, `/tmp:size=64m`; undefined for anything else. */
export function parseTmpfs(text: string): Tmpfs | undefined {
  const [, path, size] = /^(\/[^:]*)(?::size=([^:,]+))?$/.exec(text) ?? [];
  const bytes = size === undefined ? TMPFS_BYTES : bytesOf(size);
  return path === undefined || bytes === undefined ? undefined : { path, bytes };
}
