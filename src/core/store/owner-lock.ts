import Libsql from "libsql";
import { ExecError } from "../errors.ts";
import { prepareStateFile } from "./state-file.ts";

/**
 * Says that one process owns a state file: a lock that the operating system drops when that process ends, also by
 * SIGKILL, so it is never stale. Node has no file locks of its own; SQLite's exclusive transaction on an empty file
 * beside the state file is one.
 */
export class OwnerLock {
  readonly #db: Libsql.Database;

  /** Throws `state-unavailable` when another queue, in this process or another, owns the file. */
  static claim(file: string): OwnerLock {
    const db = new Libsql(prepareStateFile(`${file}.lock`), { timeout: 0 });
    try {
      db.exec("BEGIN EXCLUSIVE");
      return new OwnerLock(db);
    } catch {
      db.close();
      throw new ExecError(
        "state-unavailable",
        `${file} is in use by another gateway. Stop that one first, or choose another state directory.`,
      );
    }
  }

  private constructor(db: Libsql.Database) {
    this.#db = db;
  }

  release(): void {
    if (this.#db.open) this.#db.close();
  }
}
