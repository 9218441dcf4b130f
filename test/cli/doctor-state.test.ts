/** What `doctor` says of where the state is kept: the file, or a Redis. */
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { PermanentFailure } from "../../src/core/events/queue.ts";
import { openState } from "../../src/core/store/open-state.ts";
import { type RedisServer, redisAvailable, startRedis } from "../support/redis.ts";
import { requireOrSkip } from "../support/require.ts";
import { eventually } from "../support/state.ts";
import { type CliHome, cliHome } from "./run-cli.ts";

const found = async (home: CliHome, name: string) => {
  const result = await home.run("doctor", "--json");
  const { checks } = JSON.parse(result.out) as { checks: { name: string; state: string; message: string }[] };
  return checks.filter((check) => check.name === name);
};

describe("doctor on the state file", () => {
  it("is content with none, and with one that a running gateway uses", async () => {
    const home = cliHome();
    expect(await found(home, "state")).toMatchObject([{ state: "ok", message: /will be made/ }].map(matching));
    const state = await openState({ stateDir: home.dir, clock: systemClock, newId: randomUUID });
    expect(await found(home, "state")).toMatchObject([{ state: "ok" }]);
    await state.queue.add({ name: "work", data: 1, id: "hopeless" });
    await state.queue.process("work", async () => {
      throw new PermanentFailure("no such chat");
    });
    await eventually(async () => (await state.queue.counts()).dead === 1);
    expect(await found(home, "state")).toMatchObject(
      [{ state: "warning", message: /1 jobs were given up/ }].map(matching),
    );
    await state.close();
  });

  it("says that it is damaged, and what to do", async () => {
    const home = cliHome();
    writeFileSync(join(home.dir, "state.db"), "this is no database at all, it is a text of some length".repeat(20), {
      mode: 0o600,
    });
    expect(await found(home, "state")).toMatchObject(
      [{ state: "error", message: /is damaged or no SQLite file.*Put a backup in its place/ }].map(matching),
    );
  });
});

requireOrSkip("redis-server", redisAvailable)("doctor on a Redis", () => {
  let redis: RedisServer | undefined;
  afterEach(() => redis?.stop());
  const withRedis = async (url: string) => {
    const home = cliHome();
    writeFileSync(join(home.dir, ".env"), `REDIS_URL=${url}\n`, { mode: 0o600 });
    return home;
  };

  it("is content with one that keeps what it is given", async () => {
    redis = await startRedis({ persist: true });
    expect(await found(await withRedis(redis.url), "Redis")).toMatchObject(
      [{ state: "ok", message: /Redis \d/ }].map(matching),
    );
  });

  it("mq-eviction-and-growth: warns of one that evicts, or forgets at a crash", async () => {
    redis = await startRedis({ args: ["--maxmemory", "100mb", "--maxmemory-policy", "volatile-lru"] });
    const messages = (await found(await withRedis(redis.url), "Redis")).map(
      (check) => `${check.state} ${check.message}`,
    );
    expect(messages).toEqual([
      expect.stringMatching(/^warning maxmemory-policy is volatile-lru.*noeviction/),
      expect.stringMatching(/^warning appendonly is no/),
    ]);
  });

  it("says that one can not be reached, or written, without showing its password", async () => {
    redis = await startRedis({ args: ["--requirepass", "hunter2-hunter2"] });
    const refused = await found(await withRedis(redis.url.replace("://", "://:wrong-wrong@")), "Redis");
    expect(refused).toMatchObject([{ state: "error", message: /WRONGPASS/ }].map(matching));
    expect(JSON.stringify(refused)).not.toContain("wrong-wrong");
    const { url } = redis;
    await redis.stop();
    expect(await found(await withRedis(url), "Redis")).toMatchObject(
      [{ state: "error", message: /ECONNREFUSED/ }].map(matching),
    );
  });
});

function matching({ state, message }: { readonly state: string; readonly message: RegExp }) {
  return { state, message: expect.stringMatching(message) };
}
