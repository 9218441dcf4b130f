/** Marks a SQLite file as ours (`PRAGMA application_id`): the letters OCEX. */
export const APPLICATION_ID = 0x4f434558;

/**
 * The schema, as the steps that lead to it: entry n takes a file from `user_version` n to n + 1. A step that has
 * been released is never edited; a change is a new step.
 *
 * Names and keys are TEXT and compare by bytes (SQLite's BINARY). Times are epoch milliseconds.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE records (
    ns TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    expires_at INTEGER,
    value TEXT NOT NULL,
    PRIMARY KEY (ns, key)
  ) STRICT;
  CREATE INDEX records_expiry ON records (expires_at) WHERE expires_at IS NOT NULL;

  CREATE TABLE streams (
    stream TEXT PRIMARY KEY,
    last_seq INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE stream_entries (
    stream TEXT NOT NULL,
    seq INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (stream, seq)
  ) STRICT;
  `,
];
