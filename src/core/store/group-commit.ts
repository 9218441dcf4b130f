/**
 * Many small operations on the state file as one transaction: what is asked for before the event loop goes on is
 * committed together, in the order it was asked for. A commit costs more than all statements of a command, so a command
 * that writes six facts in three moments pays three times, not six.
 */
import type { StateDatabase } from "./database.ts";

interface Waiting {
  readonly work: () => unknown;
  readonly writes: boolean;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export class GroupCommit {
  readonly #database: StateDatabase;
  #waiting: Waiting[] = [];

  constructor(database: StateDatabase) {
    this.#database = database;
  }

  /** Resolves to what `work` gives. It is synchronous, touches the database only, and sees every write asked for before. */
  read<T>(work: () => T): Promise<T> {
    return this.#join(work, false);
  }

  /** As `read`, for work that writes; resolves once that is committed. */
  write<T>(work: () => T): Promise<T> {
    return this.#join(work, true);
  }

  #join<T>(work: () => T, writes: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      // Ticks run when no promise has anything left to do: everything that could join this commit has joined.
      if (this.#waiting.length === 0) process.nextTick(() => this.flush());
      this.#waiting.push({ work, writes, resolve: resolve as (value: unknown) => void, reject });
    });
  }

  /** Commits what waits, now. When the commit fails nothing of it is stored, and every caller is told why. */
  flush(): void {
    const group = this.#waiting;
    this.#waiting = [];
    if (group.length === 0) return;
    const writes = group.some((one) => one.writes);
    const all = () => group.map(({ work }) => this.#attempt(work, writes));
    let answers: readonly Answer[];
    try {
      // Reading takes no write lock, which another process may hold.
      answers = writes ? this.#database.transaction(all) : all();
    } catch (error) {
      for (const { reject } of group) reject(error);
      return;
    }
    for (const [index, { resolve, reject }] of group.entries()) {
      const answer = answers[index] as Answer;
      if ("error" in answer) reject(answer.error);
      else resolve(answer.value);
    }
  }

  /** One that fails takes nothing with it, unless SQLite has given up the whole transaction (disk full, disk error). */
  #attempt(work: () => unknown, inTransaction: boolean): Answer {
    try {
      return { value: work() };
    } catch (error) {
      if (inTransaction && !this.#database.inTransaction) throw error;
      return { error };
    }
  }
}

type Answer = { readonly value: unknown } | { readonly error: unknown };
