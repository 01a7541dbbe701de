import type { Schema } from '../database/migrations.js';

/** The current time, by the clock of the database; in milliseconds since 1970. */
export const nowMs = 'CAST(EXTRACT(EPOCH FROM now()) * 1000 AS BIGINT)';

/** The tables of the queue, in addition to those of pg-boss, which hold no personal data. */
export const queueSchema: Schema = {
  table: 'userinfo_runs_migrations',
  owner: 'the queue',
  worksWith: 2,
  steps: [
    [
      `CREATE TABLE userinfo_runs (
        run TEXT NOT NULL PRIMARY KEY, state TEXT NOT NULL, given TEXT NOT NULL, created_at BIGINT NOT NULL,
        ended_at BIGINT, chunks BIGINT NOT NULL DEFAULT 0, chunks_done BIGINT NOT NULL DEFAULT 0)`,
      `CREATE TABLE userinfo_chunks (
        run TEXT NOT NULL, chunk BIGINT NOT NULL, row_count BIGINT NOT NULL, body TEXT, holder TEXT,
        taken_at BIGINT, recorded_at BIGINT, done_at BIGINT, ok BIGINT NOT NULL DEFAULT 0,
        failed BIGINT NOT NULL DEFAULT 0, invalid BIGINT NOT NULL DEFAULT 0, unknown BIGINT NOT NULL DEFAULT 0,
        PRIMARY KEY (run, chunk))`,
      `CREATE TABLE userinfo_outcomes (
        run TEXT NOT NULL, line BIGINT NOT NULL, outcome TEXT NOT NULL, result TEXT NOT NULL,
        PRIMARY KEY (run, line))`,
    ],
    ['ALTER TABLE userinfo_runs_migrations ADD COLUMN works_with BIGINT'],
  ],
};
