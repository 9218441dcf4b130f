import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { StateDatabase } from "../../../src/core/store/database.ts";
import { GroupCommit } from "../../../src/core/store/group-commit.ts";

let directory: string;
let database: StateDatabase;
let commits: GroupCommit;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "openclaw-group-"));
  database = StateDatabase.open({ file: join(directory, "state.db") });
  commits = new GroupCommit(database);
});
afterEach(async () => {
  database.close();
  await rm(directory, { recursive: true, force: true });
});

const add = (stream: string) => () => database.prepare("INSERT INTO streams VALUES (?, 1)").run(stream);
const stored = () =>
  database
    .prepare<{ stream: string }>("SELECT stream FROM streams ORDER BY stream")
    .all()
    .map(({ stream }) => stream);

it("commits what is asked for together in one transaction, in order, and later asks in a later one", async () => {
  const transactions: boolean[] = [];
  const seen = (stream: string) => () => {
    transactions.push(database.inTransaction);
    add(stream)();
    return stored();
  };
  const first = commits.write(seen("a"));
  // Joins although it is asked for by a promise that settles meanwhile.
  const second = Promise.resolve().then(() => commits.write(seen("b")));
  const third = commits.read(stored);
  expect(stored()).toEqual([]);
  expect(await first).toEqual(["a"]);
  expect(await third).toEqual(["a"]);
  expect(await second).toEqual(["a", "b"]);
  expect(transactions).toEqual([true, true]);
});

it("takes back the part that fails, and stores the others", async () => {
  const failing = commits.write(() =>
    database.transaction(() => {
      add("half")();
      throw new Error("no");
    }),
  );
  const results = await Promise.allSettled([commits.write(add("a")), failing, commits.write(add("b"))]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(stored()).toEqual(["a", "b"]);
});

it("tells every caller when the commit fails, and none of it is stored", async () => {
  const other = StateDatabase.open({ file: database.file });
  try {
    const answers = other.transaction(() => {
      const asked = [commits.write(add("a")), commits.write(add("b"))].map((one) => one.catch((error) => error.code));
      // The other connection holds the write lock while this one tries.
      commits.flush();
      return Promise.all(asked);
    });
    expect(await answers).toEqual(["state-unavailable", "state-unavailable"]);
    expect(stored()).toEqual([]);
  } finally {
    other.close();
  }
});

it("rejects after the file was closed", async () => {
  database.close();
  await expect(commits.write(add("a"))).rejects.toMatchObject({ code: "state-unavailable" });
  await expect(commits.read(stored)).rejects.toMatchObject({ code: "state-unavailable" });
});
