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
  `
  -- state: waiting | active. held: an earlier job of the same name and key is not finished.
  -- attempt: the try that runs now or next, from 1. named: the caller chose the id.
  CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    key TEXT,
    state TEXT NOT NULL,
    held INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    crashes INTEGER NOT NULL,
    named INTEGER NOT NULL,
    added_at INTEGER NOT NULL,
    not_after INTEGER,
    schedule TEXT,
    backoff TEXT NOT NULL,
    data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX jobs_due ON jobs (name, due_at, seq) WHERE state = 'waiting' AND held = 0;
  CREATE INDEX jobs_lane ON jobs (name, key, seq) WHERE key IS NOT NULL;
  CREATE INDEX jobs_active ON jobs (seq) WHERE state = 'active';
  CREATE INDEX jobs_schedule ON jobs (schedule) WHERE schedule IS NOT NULL;

  CREATE TABLE done_jobs (
    id TEXT PRIMARY KEY,
    until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX done_jobs_until ON done_jobs (until);

  CREATE TABLE dead_letters (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    key TEXT,
    attempts_made INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    named INTEGER NOT NULL,
    died_at INTEGER NOT NULL,
    error TEXT NOT NULL,
    backoff TEXT NOT NULL,
    data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX dead_letters_name ON dead_letters (name, seq);

  CREATE TABLE schedules (
    id TEXT PRIMARY KEY,
    next_at INTEGER NOT NULL,
    cadence TEXT NOT NULL,
    spec TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE job_totals (
    name TEXT PRIMARY KEY,
    completed INTEGER NOT NULL,
    expired INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
];
