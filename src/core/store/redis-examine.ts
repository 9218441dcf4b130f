/** What `doctor` asks a Redis: may we use it, and will it keep what it is given. Changes nothing that lasts. */
import type { Redis } from "ioredis";
import { maskUrl, RedisLink } from "./redis-connection.ts";

/** Redis 6.2 has what BullMQ and the scripts need. */
const MIN_VERSION = [6, 2] as const;
const READY_MS = 5_000;
const PROBE_MS = 1_000;

export interface RedisFinding {
  readonly state: "ok" | "warning" | "error";
  readonly message: string;
}

export async function examineRedis(url: string, prefix: string): Promise<RedisFinding[]> {
  const link = new RedisLink({ url, name: "openclaw-doctor", onTrouble: () => {} });
  try {
    await link.ready(READY_MS);
    return await link.run((redis) => examine(redis, maskUrl(url), prefix));
  } catch (error) {
    return [{ state: "error", message: (error as Error).message }];
  } finally {
    await link.close();
  }
}

async function examine(redis: Redis, where: string, prefix: string): Promise<RedisFinding[]> {
  await redis.set(`${prefix}doctor`, "1", "PX", PROBE_MS);
  const [server, memory, persistence] = await Promise.all(
    ["server", "memory", "persistence"].map((part) => redis.info(part)),
  );
  const version = field(server, "redis_version") ?? "unknown";
  const findings: RedisFinding[] = [];
  if (isOld(version)) {
    findings.push({
      state: "error",
      message: `${where} is Redis ${version}; ${MIN_VERSION.join(".")} or newer is needed`,
    });
  }
  const policy = field(memory, "maxmemory_policy");
  if (policy !== undefined && policy !== "noeviction") {
    findings.push({
      state: "warning",
      message: `maxmemory-policy is ${policy}, which throws requests and jobs away when memory is full; set it to noeviction`,
    });
  }
  if (field(persistence, "aof_enabled") === "0") {
    findings.push({
      state: "warning",
      message: "appendonly is no: a crash of Redis loses what was written since its last snapshot; set it to yes",
    });
  }
  return findings.length > 0 ? findings : [{ state: "ok", message: `${where}, Redis ${version}` }];
}

function field(info: string | undefined, name: string): string | undefined {
  return new RegExp(`^${name}:(\\S+)`, "m").exec(info ?? "")?.[1];
}

function isOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major < MIN_VERSION[0] || (major === MIN_VERSION[0] && minor < MIN_VERSION[1]);
}
