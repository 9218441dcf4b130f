import { chmod, lstat, mkdir, mkdtemp, open, readFile, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import Libsql from "libsql";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../src/core/clock.ts";
import { MIGRATIONS } from "../../../src/core/store/migrations.ts";
import { openSqliteStore, SWEEP_INTERVAL_MS } from "../../../src/core/store/sqlite-store.ts";
import type { Store } from "../../../src/core/store/store.ts";
import { startChild } from "../../support/child.ts";

let directory: string;
let file: string;
const stores: Store[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "openclaw-sqlite-"));
  file = join(directory, "state", "state.db");
});
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  await rm(directory, { recursive: true, force: true });
});

function opened(path = file): Store {
  const store = openSqliteStore({ file: path, clock: systemClock, onTrouble: () => {} });
  stores.push(store);
  return store;
}

const mode = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;
const codeOf = (act: () => unknown): string | undefined => {
  try {
    act();
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

describe("the state file", () => {
  it("is private from the first moment, with its directory and everything SQLite puts beside it", async () => {
    const before = process.umask(0);
    try {
      const store = opened();
      await store.put("ns", "k", 1);
      expect(await mode(dirname(file))).toBe(0o700);
      for (const path of [file, `${file}-wal`, `${file}-shm`]) expect([path, await mode(path)]).toEqual([path, 0o600]);
    } finally {
      process.umask(before);
    }
  });

  it("is made private again when others could read it", async () => {
    await opened().put("ns", "k", 1);
    await stores.splice(0)[0]?.close();
    await chmod(file, 0o644);
    await chmod(dirname(file), 0o755);
    opened();
    expect([await mode(file), await mode(dirname(file))]).toEqual([0o600, 0o700]);
  });

  it("is refused in a directory that is shared by everybody", async () => {
    const shared = join(directory, "shared");
    await mkdir(shared);
    await chmod(shared, 0o1777);
    expect(codeOf(() => opened(join(shared, "state.db")))).toBe("state-unavailable");
    expect((await stat(shared)).mode & 0o7777).toBe(0o1777);
  });

  it("is refused as a symbolic link, also for the files beside it, and the target stays untouched", async () => {
    const target = join(directory, "target");
    await writeFile(target, "");
    await mkdir(dirname(file));
    for (const link of [file, `${file}-wal`]) {
      await symlink(target, link);
      expect(codeOf(() => opened())).toBe("state-unavailable");
      expect((await lstat(link)).isSymbolicLink()).toBe(true);
      await rm(link);
    }
    expect(await readFile(target, "utf8")).toBe("");
  });

  it("is refused as a directory", async () => {
    await mkdir(file, { recursive: true });
    expect(codeOf(() => opened())).toBe("state-unavailable");
  });

  it("is refused and left as it is when it is no SQLite file", async () => {
    await mkdir(dirname(file));
    const content = "my precious notes\n".repeat(500);
    await writeFile(file, content);
    expect(codeOf(() => opened())).toBe("state-damaged");
    expect(await readFile(file, "utf8")).toBe(content);
  });

  it("is refused and left as it is when it belongs to another program", async () => {
    await mkdir(dirname(file));
    const foreign = new Libsql(file);
    foreign.exec("CREATE TABLE records (a); INSERT INTO records VALUES (1)");
    foreign.close();
    const before = await readFile(file);
    expect(codeOf(() => opened())).toBe("state-damaged");
    expect(await readFile(file)).toEqual(before);
  });

  it("is refused when a newer version wrote it", async () => {
    await opened().put("ns", "k", 1);
    await stores.splice(0)[0]?.close();
    const newer = new Libsql(file);
    newer.exec(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
    newer.close();
    expect(codeOf(() => opened())).toBe("state-damaged");
  });

  it("is refused with its content kept when it is damaged or cut short", async () => {
    const store = opened();
    for (let n = 0; n < 200; n++) await store.put("ns", `k${n}`, "x".repeat(500));
    await stores.splice(0)[0]?.close();
    const whole = await readFile(file);

    const handle = await open(file, "r+");
    await handle.write(Buffer.alloc(4096 * 4, 0xaa), 0, 4096 * 4, 4096 * 2);
    await handle.close();
    const damaged = await readFile(file);
    expect(codeOf(() => opened())).toBe("state-damaged");
    expect(await readFile(file)).toEqual(damaged);

    await writeFile(file, whole);
    await truncate(file, 4096 * 3);
    expect(codeOf(() => opened())).toBe("state-damaged");
    expect((await stat(file)).size).toBe(4096 * 3);

    await writeFile(file, whole);
    expect(await opened().list("ns", { limit: 1000 })).toHaveLength(200);
  });

  it("is brought to the newest schema from every older one with its records", async () => {
    for (let version = 1; version < MIGRATIONS.length; version++) {
      const old = join(directory, `v${version}`, "state.db");
      await opened(old).put("ns", "k", version);
      await stores.splice(0)[0]?.close();
      const db = new Libsql(old);
      const extra = db
        .prepare(
          "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('records', 'streams', 'stream_entries')",
        )
        .all() as { name: string }[];
      for (const { name } of extra) db.exec(`DROP TABLE ${name}`);
      db.exec(`PRAGMA user_version = ${version}`);
      db.close();
      expect((await opened(old).get("ns", "k"))?.value).toBe(version);
    }
  });
});

describe("the SQLite store", () => {
  it("shares its records with another process or connection on the file", async () => {
    const one = opened();
    const two = opened();
    await one.put("ns", "k", "from one");
    expect(await two.get("ns", "k")).toEqual({ value: "from one", version: 1 });
    expect(await two.compareAndSet("ns", "k", 1, "from two")).toBe(2);
    expect(await one.compareAndSet("ns", "k", 1, "late")).toBeUndefined();
  });

  it("has everything it confirmed after a kill in the middle of writing", async () => {
    const child = startChild("store-child.ts", file);
    await child.line((line) => Number(line) >= 300);
    await child.kill();
    const confirmed = Number(child.lines.at(-1));
    const store = opened();
    const keys = (await store.list<{ n: number }>("written", { limit: 10_000 })).map(({ value }) => value.n);
    expect(keys.slice(0, confirmed)).toEqual(Array.from({ length: confirmed }, (_, n) => n + 1));
    expect((await store.read("log", { limit: 10_000 })).length).toBeGreaterThanOrEqual(confirmed);
  });

  it("removes expired records from the file", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      let now = systemClock.now();
      const store = openSqliteStore({ file, clock: { now: () => now, monotonic: () => now }, onTrouble: () => {} });
      stores.push(store);
      for (let n = 0; n < 10; n++) await store.put("ns", `k${n}`, n, { ttlMs: 1000 });
      await store.put("ns", "stays", 1);
      now += 2000;
      vi.advanceTimersByTime(SWEEP_INTERVAL_MS);
      const db = new Libsql(file);
      expect(db.prepare("SELECT count(*) AS n FROM records").get()).toMatchObject({ n: 1 });
      db.close();
    } finally {
      vi.useRealTimers();
    }
  });
});
