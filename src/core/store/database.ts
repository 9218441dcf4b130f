import Libsql from "libsql";
import { ExecError } from "../errors.ts";
import { APPLICATION_ID, MIGRATIONS } from "./migrations.ts";
import { makePrivate, prepareStateFile } from "./state-file.ts";

/** How long a statement waits for another process that is writing. It blocks the event loop, so it is short. */
const BUSY_TIMEOUT_MS = 2000;

/** Files up to this size are checked page by page when opened; a larger one would delay the start by seconds. */
const FULL_CHECK_MAX_BYTES = 128 * 1024 * 1024;

export interface DatabaseOptions {
  readonly file: string;
  /**
   * `process` (default): what was written survives a kill of the process; a power cut can lose the last moments, never
   * damage the file. `power`: every commit waits for the disk.
   */
  readonly durability?: "process" | "power";
}

export type Parameter = string | number | null;

const WHOLE = { begin: "BEGIN IMMEDIATE", keep: "COMMIT", undo: "ROLLBACK" };
const PART = { begin: "SAVEPOINT part", keep: "RELEASE part", undo: "ROLLBACK TO part; RELEASE part" };

/** A prepared statement that gives plain rows and `ExecError`s. */
export interface Statement<Row> {
  one(...parameters: Parameter[]): Row | undefined;
  all(...parameters: Parameter[]): Row[];
  /** The number of rows changed. */
  run(...parameters: Parameter[]): number;
}

/**
 * The SQLite file of the state directory, shared by the store and the embedded queue. Every call is synchronous:
 * between two awaits nothing else touches the file from this process, so a transaction never interleaves.
 */
export class StateDatabase {
  readonly file: string;
  readonly #db: Libsql.Database;

  /**
   * Opens or creates the file. Throws `state-damaged` when it is no SQLite file, another program's, broken, or of a
   * newer version, and `state-unavailable` when it can not be reached; in each case the file stays as it was.
   */
  static open(options: DatabaseOptions): StateDatabase {
    const file = prepareStateFile(options.file);
    let db: Libsql.Database;
    try {
      db = new Libsql(file, { timeout: BUSY_TIMEOUT_MS });
    } catch (error) {
      throw stateError(error, file);
    }
    try {
      assertOurs(db, file);
      db.pragma("journal_mode = WAL");
      db.pragma(`synchronous = ${options.durability === "power" ? "FULL" : "NORMAL"}`);
      migrate(db, file);
      makePrivate(file);
      return new StateDatabase(file, db);
    } catch (error) {
      db.close();
      throw error instanceof ExecError ? error : stateError(error, file);
    }
  }

  /**
   * Looks at a file that another process may be using, and changes nothing. Errors are those of `open`.
   * Resolves to how many jobs have been given up.
   */
  static examine(file: string): { readonly deadLetters: number } {
    let db: Libsql.Database | undefined;
    try {
      db = new Libsql(file, { readonly: true, timeout: BUSY_TIMEOUT_MS });
      assertOurs(db, file);
      if (pragmaNumber(db, "user_version") < MIGRATIONS.length) return { deadLetters: 0 };
      const row = db.prepare<[]>("SELECT count(*) AS dead FROM dead_letters").get() as { dead: number };
      return { deadLetters: row.dead };
    } catch (error) {
      throw error instanceof ExecError ? error : stateError(error, file);
    } finally {
      db?.close();
    }
  }

  private constructor(file: string, db: Libsql.Database) {
    this.file = file;
    this.#db = db;
  }

  /** Throws at once when the SQL is wrong; to be called when opening, not on the hot path. */
  prepare<Row = unknown>(sql: string): Statement<Row> {
    const statement = this.#guard(() => this.#db.prepare<[Parameter[]]>(sql));
    return {
      one: (...parameters) => this.#guard(() => statement.get(parameters) as Row | undefined),
      all: (...parameters) => this.#guard(() => statement.all(parameters) as Row[]),
      run: (...parameters) => this.#guard(() => statement.run(parameters).changes),
    };
  }

  get inTransaction(): boolean {
    // The driver aborts the process when a closed file is asked.
    return this.#db.open && this.#db.inTransaction;
  }

  /**
   * Runs `work`, which must not await, as one write transaction: all of it is stored or nothing. Inside another one it is
   * a part that is taken back alone when it throws, and stored with the rest.
   */
  transaction<T>(work: () => T): T {
    const steps = this.inTransaction ? PART : WHOLE;
    return this.#guard(() => {
      this.#db.exec(steps.begin);
      try {
        const result = work();
        this.#db.exec(steps.keep);
        return result;
      } catch (error) {
        // SQLite has rolled back by itself after some errors (disk full), and then a ROLLBACK would hide the cause.
        if (this.inTransaction) this.#db.exec(steps.undo);
        throw error;
      }
    });
  }

  /** Afterwards the one file holds everything, so that it can be copied alone. */
  close(): void {
    if (!this.#db.open) return;
    try {
      this.#db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // Another process is reading; what is in the -wal file is as safe there.
    }
    this.#db.close();
  }

  #guard<T>(call: () => T): T {
    if (!this.#db.open) throw new ExecError("state-unavailable", `The state file ${this.file} is closed.`);
    try {
      return call();
    } catch (error) {
      throw error instanceof Libsql.SqliteError ? stateError(error, this.file) : error;
    }
  }
}

function pragmaNumber(db: Libsql.Database, name: string): number {
  const row = db.prepare<[]>(`PRAGMA ${name}`).get() as Record<string, unknown> | undefined;
  return Number(row?.[name]);
}

/** Reads only, so a file that is not ours is left exactly as it was found. */
function assertOurs(db: Libsql.Database, file: string): void {
  const id = pragmaNumber(db, "application_id");
  const version = pragmaNumber(db, "user_version");
  const { tables } = db.prepare<[]>("SELECT count(*) AS tables FROM sqlite_master").get() as { tables: number };
  if (tables === 0 && id === 0 && version === 0) return;
  if (id !== APPLICATION_ID) {
    throw new ExecError(
      "state-damaged",
      `${file} is a SQLite file of another program. Choose another state directory; nothing was changed.`,
    );
  }
  if (version > MIGRATIONS.length) {
    throw new ExecError(
      "state-damaged",
      `${file} was written by a newer version (schema ${version}, this one knows ${MIGRATIONS.length}). ` +
        "Update openclaw-exec; nothing was changed.",
    );
  }
  if (pragmaNumber(db, "page_count") * pragmaNumber(db, "page_size") > FULL_CHECK_MAX_BYTES) return;
  const check = db.prepare<[]>("PRAGMA quick_check(1)").get() as { quick_check: string };
  if (check.quick_check !== "ok") throw damaged(file, check.quick_check);
}

function migrate(db: Libsql.Database, file: string): void {
  if (pragmaNumber(db, "user_version") === MIGRATIONS.length) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    // Read again inside: another process may have migrated while this one waited for the write lock.
    const from = pragmaNumber(db, "user_version");
    for (const step of MIGRATIONS.slice(from)) db.exec(step);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
    db.exec("COMMIT");
  } catch (error) {
    if (db.inTransaction) db.exec("ROLLBACK");
    throw stateError(error, file);
  }
}

function damaged(file: string, detail: string): ExecError {
  return new ExecError(
    "state-damaged",
    `The state file ${file} is damaged or no SQLite file (${detail}). Put a backup in its place, or move it away to start empty; ` +
      "nothing was changed.",
  );
}

/** What SQLite says, in our words. Its result code decides, never its text. */
function stateError(error: unknown, file: string): ExecError {
  const { code, message } = error as { code?: string; message: string };
  if (code?.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB") return damaged(file, message);
  if (code?.startsWith("SQLITE_BUSY") || code === "SQLITE_LOCKED") {
    return new ExecError("state-unavailable", `The state file ${file} is being written by another process. Try again.`);
  }
  if (code === "SQLITE_FULL") {
    return new ExecError("state-unavailable", `The disk of ${file} is full. Free some space; nothing was lost.`);
  }
  return new ExecError("state-unavailable", `The state file ${file} can not be used: ${message}`);
}
