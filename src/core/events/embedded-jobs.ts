import type { StateDatabase } from "../store/database.ts";
import { fromSqlText, toSqlText } from "../store/keys.ts";
import { IDEMPOTENCY_MS, MAX_CRASHES, MAX_DEAD_LETTERS, type PlannedJob } from "./job-spec.ts";
import type { Backoff, DeadLetter, QueueCounts } from "./queue.ts";

/** A job that has been taken from the table to be run. */
export interface ClaimedJob {
  readonly seq: number;
  readonly id: string;
  readonly name: string;
  readonly key: string | undefined;
  readonly json: string;
  readonly attempt: number;
  readonly attempts: number;
  readonly backoff: Backoff;
  readonly enqueuedAtMs: number;
  readonly named: boolean;
}

/** How a run ended. `again`: it was cut off by a shutdown, and runs once more as the same attempt. */
export type Outcome =
  | { readonly kind: "completed" }
  | { readonly kind: "retry"; readonly attempt: number; readonly dueAtMs: number }
  | { readonly kind: "dead"; readonly error: string }
  | { readonly kind: "again" };

export interface Ended {
  readonly job: ClaimedJob;
  readonly outcome: Outcome;
}

interface JobRow {
  readonly seq: number;
  readonly id: string;
  readonly name: string;
  readonly key: string | null;
  readonly data: string;
  readonly attempt: number;
  readonly attempts: number;
  readonly backoff: string;
  readonly added_at: number;
  readonly not_after: number | null;
  readonly named: number;
  readonly due_at: number;
}

type FinishedRow = Pick<JobRow, "seq" | "id" | "name" | "key" | "named">;

interface DeadRow {
  readonly id: string;
  readonly name: string;
  readonly key: string | null;
  readonly data: string;
  readonly error: string;
  readonly attempts_made: number;
  readonly died_at: number;
}

const JOB_COLUMNS = "seq, id, name, key, data, attempt, attempts, backoff, added_at, not_after, named, due_at";

/**
 * The job rows and every step between their states. No method opens a transaction: the queue puts many steps of one
 * event-loop turn into one.
 *
 * Order per key rests on one rule, kept by each step: of the unfinished jobs of a name and key, exactly the one with
 * the lowest `seq` has `held = 0`. Only such a job can be claimed, and it stays in the table, waiting for its retry or
 * active, until it is finished; finishing deletes it and releases the next in the same transaction.
 */
export class JobTable {
  readonly #sql: ReturnType<typeof prepareStatements>;

  constructor(database: StateDatabase) {
    this.#sql = prepareStatements(database);
  }

  /** False when the id is known already: unfinished, dead, or done within `IDEMPOTENCY_MS`. */
  insert(job: PlannedJob, now: number, schedule?: string): boolean {
    const id = toSqlText(job.id);
    const key = job.key === undefined ? null : toSqlText(job.key);
    return (
      this.#sql.insert.run(
        ...[id, job.name, key, job.name, key, now + job.delayMs, job.attempts, job.named ? 1 : 0, now],
        ...[job.notAfterMs ?? null, schedule ?? null, JSON.stringify(job.backoff), job.json, id, now, id],
      ) === 1
    );
  }

  /** Takes up to `limit` due jobs of a name, in order; drops those that came too late, freeing their keys. */
  claim(name: string, limit: number, now: number): ClaimedJob[] {
    const claimed: ClaimedJob[] = [];
    while (claimed.length < limit) {
      const rows = this.#sql.claim.all(name, now, limit - claimed.length);
      const late = rows.filter((row) => row.not_after !== null && row.not_after < now);
      this.#remove(late, now);
      if (late.length > 0) this.#sql.countExpired.run(name, late.length);
      // RETURNING gives no order.
      const inTime = late.length === 0 ? rows : rows.filter((row) => !late.includes(row));
      claimed.push(...inTime.sort((a, b) => a.due_at - b.due_at || a.seq - b.seq).map(claimedJob));
      if (late.length === 0) break;
    }
    return claimed;
  }

  /** The ends of one turn. The completed ones, nearly all, share their statements. */
  finish(ended: readonly Ended[], now: number): void {
    const completed = ended.flatMap(({ job, outcome }) => (outcome.kind === "completed" ? [job] : []));
    this.#remove(completed.map(finishedRow), now);
    const totals = new Map<string, number>();
    for (const { name } of completed) totals.set(name, (totals.get(name) ?? 0) + 1);
    for (const [name, count] of totals) this.#sql.countCompleted.run(name, count);
    for (const { job, outcome } of ended) this.#finishOther(job, outcome, now);
  }

  #finishOther(job: ClaimedJob, outcome: Outcome, now: number): void {
    switch (outcome.kind) {
      case "completed":
        return;
      case "retry":
        this.#sql.reschedule.run(outcome.attempt, outcome.dueAtMs, job.seq);
        return;
      case "again":
        this.#sql.reschedule.run(job.attempt, now, job.seq);
        return;
      case "dead":
        this.#bury(job.seq, outcome.error, now);
        this.#release(job.name, finishedRow(job).key);
        return;
    }
  }

  /** When the next job of a name comes due, held ones left out. */
  nextDueAt(name: string): number | undefined {
    return this.#sql.nextDue.one(name)?.due_at;
  }

  /** True when a job of this schedule waits: its next tick has nothing to add. */
  isTickWaiting(schedule: string): boolean {
    return this.#sql.tickWaiting.one(schedule) !== undefined;
  }

  /** Removes a job that is not running. */
  cancel(id: string): boolean {
    const row = this.#sql.cancel.one(toSqlText(id));
    if (row) this.#release(row.name, row.key);
    return row !== undefined;
  }

  /**
   * For the start: whatever is active was cut off by the end of its process, since one process owns the file. It runs
   * again, unless it has been there at too many such ends.
   */
  reclaim(now: number): void {
    this.#sql.reclaim.run();
    for (const row of this.#sql.crashed.all(MAX_CRASHES)) {
      this.#bury(row.seq, `The gateway ended ${MAX_CRASHES} times while this job ran.`, now);
      this.#release(row.name, row.key);
    }
  }

  forgetDone(now: number, limit: number): void {
    this.#sql.forgetDone.run(now, limit);
  }

  counts(name: string | undefined, now: number): QueueCounts {
    const only = name ?? null;
    const live = this.#sql.countLive.one(now, now, only, only);
    const totals = this.#sql.totals.one(only, only);
    return {
      waiting: live?.waiting ?? 0,
      delayed: live?.delayed ?? 0,
      active: live?.active ?? 0,
      dead: this.#sql.countDead.one(only, only)?.dead ?? 0,
      completed: totals?.completed ?? 0,
      expired: totals?.expired ?? 0,
    };
  }

  deadLetters(name: string | undefined, limit: number): DeadLetter[] {
    const rows = name === undefined ? this.#sql.dead.all(limit) : this.#sql.deadOfName.all(name, limit);
    return rows.map((row) => ({
      id: fromSqlText(row.id),
      name: row.name,
      data: JSON.parse(row.data),
      ...(row.key === null ? {} : { key: fromSqlText(row.key) }),
      error: row.error,
      attempts: row.attempts_made,
      diedAtMs: row.died_at,
    }));
  }

  /** Back into the table as its newest job, without the deadline that has probably passed. */
  revive(id: string, now: number): boolean {
    return this.#sql.revive.run(now, now, toSqlText(id)) === 1 && this.removeDead(id);
  }

  removeDead(id: string): boolean {
    return this.#sql.removeDead.run(toSqlText(id)) === 1;
  }

  /** Done for good: their ids are remembered, and the next of each key is free once all of them are gone. */
  #remove(rows: readonly FinishedRow[], now: number): void {
    if (rows.length === 0) return;
    if (rows.length === 1) this.#sql.delete.run((rows[0] as FinishedRow).seq);
    else this.#sql.deleteAll.run(JSON.stringify(rows.map((row) => row.seq)));
    for (const row of rows) if (row.named) this.#sql.markDone.run(row.id, now + IDEMPOTENCY_MS);
    for (const row of rows) this.#release(row.name, row.key);
  }

  #bury(seq: number, error: string, now: number): void {
    this.#sql.bury.run(error, now, seq);
    this.#sql.delete.run(seq);
    this.#sql.trimDead.run(MAX_DEAD_LETTERS);
  }

  #release(name: string, key: string | null): void {
    if (key !== null) this.#sql.release.run(name, key);
  }
}

function claimedJob(row: JobRow): ClaimedJob {
  return {
    seq: row.seq,
    id: fromSqlText(row.id),
    name: row.name,
    key: row.key === null ? undefined : fromSqlText(row.key),
    json: row.data,
    attempt: row.attempt,
    attempts: row.attempts,
    backoff: JSON.parse(row.backoff),
    enqueuedAtMs: row.added_at,
    named: row.named === 1,
  };
}

function finishedRow(job: ClaimedJob): FinishedRow {
  return {
    seq: job.seq,
    id: toSqlText(job.id),
    name: job.name,
    key: job.key === undefined ? null : toSqlText(job.key),
    named: job.named ? 1 : 0,
  };
}

function prepareStatements(database: StateDatabase) {
  return {
    insert: database.prepare(
      `INSERT INTO jobs (id, name, key, held, state, due_at, attempt, attempts, crashes, named, added_at, not_after,
         schedule, backoff, data)
       SELECT ?, ?, ?, EXISTS (SELECT 1 FROM jobs WHERE name = ? AND key = ?), 'waiting', ?, 1, ?, 0, ?, ?, ?, ?, ?, ?
       WHERE NOT EXISTS (SELECT 1 FROM done_jobs WHERE id = ? AND until > ?)
         AND NOT EXISTS (SELECT 1 FROM dead_letters WHERE id = ?)
       ON CONFLICT (id) DO NOTHING`,
    ),
    claim: database.prepare<JobRow>(
      `UPDATE jobs SET state = 'active' WHERE seq IN (
         SELECT seq FROM jobs WHERE name = ? AND state = 'waiting' AND held = 0 AND due_at <= ?
         ORDER BY due_at, seq LIMIT ?
       ) RETURNING ${JOB_COLUMNS}`,
    ),
    reschedule: database.prepare("UPDATE jobs SET state = 'waiting', attempt = ?, due_at = ? WHERE seq = ?"),
    delete: database.prepare("DELETE FROM jobs WHERE seq = ?"),
    deleteAll: database.prepare("DELETE FROM jobs WHERE seq IN (SELECT value FROM json_each(?))"),
    release: database.prepare(
      `UPDATE jobs SET held = 0
       WHERE seq = (SELECT seq FROM jobs WHERE name = ? AND key = ? ORDER BY seq LIMIT 1) AND held = 1`,
    ),
    markDone: database.prepare("INSERT OR REPLACE INTO done_jobs (id, until) VALUES (?, ?)"),
    forgetDone: database.prepare(
      "DELETE FROM done_jobs WHERE id IN (SELECT id FROM done_jobs WHERE until <= ? ORDER BY until LIMIT ?)",
    ),
    nextDue: database.prepare<{ readonly due_at: number }>(
      "SELECT due_at FROM jobs WHERE name = ? AND state = 'waiting' AND held = 0 ORDER BY due_at, seq LIMIT 1",
    ),
    tickWaiting: database.prepare("SELECT 1 FROM jobs WHERE schedule = ? AND state = 'waiting' LIMIT 1"),
    cancel: database.prepare<{ readonly name: string; readonly key: string | null }>(
      "DELETE FROM jobs WHERE id = ? AND state = 'waiting' RETURNING name, key",
    ),
    reclaim: database.prepare("UPDATE jobs SET state = 'waiting', crashes = crashes + 1 WHERE state = 'active'"),
    crashed: database.prepare<Pick<JobRow, "seq" | "name" | "key">>(
      "SELECT seq, name, key FROM jobs WHERE crashes >= ?",
    ),
    bury: database.prepare(
      `INSERT OR REPLACE INTO dead_letters (id, name, key, attempts_made, attempts, named, died_at, error, backoff, data)
       SELECT id, name, key, attempt, attempts, named, ?2, ?1, backoff, data FROM jobs WHERE seq = ?3`,
    ),
    trimDead: database.prepare("DELETE FROM dead_letters WHERE seq <= (SELECT max(seq) FROM dead_letters) - ?"),
    revive: database.prepare(
      `INSERT INTO jobs (id, name, key, held, state, due_at, attempt, attempts, crashes, named, added_at, backoff, data)
       SELECT id, name, key, EXISTS (SELECT 1 FROM jobs WHERE jobs.name = letter.name AND jobs.key = letter.key),
         'waiting', ?, 1, attempts, 0, named, ?, backoff, data
       FROM dead_letters AS letter WHERE id = ? ON CONFLICT (id) DO NOTHING`,
    ),
    removeDead: database.prepare("DELETE FROM dead_letters WHERE id = ?"),
    dead: database.prepare<DeadRow>("SELECT * FROM dead_letters ORDER BY seq DESC LIMIT ?"),
    deadOfName: database.prepare<DeadRow>("SELECT * FROM dead_letters WHERE name = ? ORDER BY seq DESC LIMIT ?"),
    countLive: database.prepare<{ readonly waiting: number; readonly delayed: number; readonly active: number }>(
      `SELECT count(*) FILTER (WHERE state = 'waiting' AND (held = 1 OR due_at <= ?)) AS waiting,
         count(*) FILTER (WHERE state = 'waiting' AND held = 0 AND due_at > ?) AS delayed,
         count(*) FILTER (WHERE state = 'active') AS active
       FROM jobs WHERE ? IS NULL OR name = ?`,
    ),
    countDead: database.prepare<{ readonly dead: number }>(
      "SELECT count(*) AS dead FROM dead_letters WHERE ? IS NULL OR name = ?",
    ),
    countCompleted: database.prepare(
      `INSERT INTO job_totals (name, completed, expired) VALUES (?, ?, 0)
       ON CONFLICT (name) DO UPDATE SET completed = completed + excluded.completed`,
    ),
    countExpired: database.prepare(
      `INSERT INTO job_totals (name, completed, expired) VALUES (?, 0, ?)
       ON CONFLICT (name) DO UPDATE SET expired = expired + excluded.expired`,
    ),
    totals: database.prepare<{ readonly completed: number; readonly expired: number }>(
      `SELECT coalesce(sum(completed), 0) AS completed, coalesce(sum(expired), 0) AS expired
       FROM job_totals WHERE ? IS NULL OR name = ?`,
    ),
  };
}
