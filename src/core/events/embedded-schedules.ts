import type { NewId } from "../clock.ts";
import type { StateDatabase } from "../store/database.ts";
import { fromSqlText, toSqlText } from "../store/keys.ts";
import { firstTickMs, nextTickMs } from "./cadence.ts";
import type { JobTable } from "./embedded-jobs.ts";
import { planJob } from "./job-spec.ts";
import type { Cadence, JobSpec } from "./queue.ts";

interface ScheduleRow {
  readonly id: string;
  readonly next_at: number;
  readonly cadence: string;
  readonly spec: string;
}

/** The recurring jobs: when each ticks next and what it adds then. */
export class ScheduleTable {
  readonly #jobs: JobTable;
  readonly #newId: NewId;
  readonly #sql: ReturnType<typeof prepareStatements>;
  #nextAt: number | undefined;

  constructor(database: StateDatabase, jobs: JobTable, newId: NewId) {
    this.#jobs = jobs;
    this.#newId = newId;
    this.#sql = prepareStatements(database);
    this.refresh();
  }

  /** Epoch milliseconds of the next tick of any schedule. */
  get nextAt(): number | undefined {
    return this.#nextAt;
  }

  /**
   * An unchanged cadence keeps its next tick: a gateway that restarts more often than the interval and declares its
   * schedules at each start would otherwise never see one tick.
   */
  set(id: string, cadence: Cadence, spec: JobSpec, now: number): void {
    planJob(spec, this.#newId);
    const first = firstTickMs(cadence, now);
    const json = JSON.stringify(cadence);
    const known = this.#sql.get.one(toSqlText(id));
    const nextAt = known?.cadence === json ? known.next_at : first;
    this.#sql.set.run(toSqlText(id), nextAt, json, JSON.stringify(spec));
    this.refresh();
  }

  remove(id: string): boolean {
    const removed = this.#sql.remove.run(toSqlText(id)) === 1;
    this.refresh();
    return removed;
  }

  list(): { readonly id: string; readonly nextAtMs: number; readonly cadence: Cadence }[] {
    return this.#sql.all
      .all()
      .map((row) => ({ id: fromSqlText(row.id), nextAtMs: row.next_at, cadence: JSON.parse(row.cadence) }));
  }

  /** Adds a job for each schedule that has come due, one however many ticks were missed. */
  tick(now: number): void {
    if (this.#nextAt === undefined || this.#nextAt > now) return;
    for (const row of this.#sql.due.all(now)) {
      if (!this.#jobs.isTickWaiting(row.id)) {
        this.#jobs.insert(planJob(JSON.parse(row.spec), this.#newId), now, row.id);
      }
      const next = nextTickMs(JSON.parse(row.cadence), now, row.next_at);
      if (next === undefined) this.#sql.remove.run(row.id);
      else this.#sql.advance.run(next, row.id);
    }
    this.refresh();
  }

  /** Reads the next tick again; to be called when a transaction with a tick in it was rolled back. */
  refresh(): void {
    this.#nextAt = this.#sql.next.one()?.next_at ?? undefined;
  }
}

function prepareStatements(database: StateDatabase) {
  return {
    get: database.prepare<ScheduleRow>("SELECT * FROM schedules WHERE id = ?"),
    set: database.prepare("INSERT OR REPLACE INTO schedules (id, next_at, cadence, spec) VALUES (?, ?, ?, ?)"),
    remove: database.prepare("DELETE FROM schedules WHERE id = ?"),
    all: database.prepare<ScheduleRow>("SELECT * FROM schedules ORDER BY id"),
    due: database.prepare<ScheduleRow>("SELECT * FROM schedules WHERE next_at <= ? ORDER BY next_at"),
    advance: database.prepare("UPDATE schedules SET next_at = ? WHERE id = ?"),
    next: database.prepare<{ readonly next_at: number | null }>("SELECT min(next_at) AS next_at FROM schedules"),
  };
}
