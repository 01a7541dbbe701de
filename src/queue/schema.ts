import type { Schema } from '../database/migrations.js';

/**
 * The tables of the queue, beside those of pg-boss, which hand out places of chunks and hold no personal data.
 * Times are milliseconds since 1970, by the clock of the database.
 */
export const queueSchema: Schema = {
  table: 'userinfo_queue_migrations',
  owner: 'the queue',
  steps: [
    [
      `CREATE TABLE queue_runs (
        run TEXT NOT NULL PRIMARY KEY, state TEXT NOT NULL, created_at BIGINT NOT NULL, ended_at BIGINT,
        target TEXT NOT NULL, naming TEXT NOT NULL, source TEXT NOT NULL, row_count BIGINT NOT NULL,
        rate BIGINT, keeps_rows BIGINT NOT NULL, next_start BIGINT NOT NULL, chunks BIGINT NOT NULL,
        chunks_done BIGINT NOT NULL, ok BIGINT NOT NULL, failed BIGINT NOT NULL, invalid BIGINT NOT NULL,
        unknown BIGINT NOT NULL)`,
      `CREATE TABLE queue_chunks (
        run TEXT NOT NULL, lane BIGINT NOT NULL, chunk BIGINT NOT NULL, body TEXT, job TEXT, holder TEXT,
        leased_until BIGINT, takes BIGINT NOT NULL, done BIGINT NOT NULL, PRIMARY KEY (run, lane, chunk))`,
      'CREATE INDEX queue_chunks_by_lease ON queue_chunks (run, leased_until)',
      `CREATE TABLE queue_outcomes (
        run TEXT NOT NULL, line BIGINT NOT NULL, outcome TEXT NOT NULL, result TEXT NOT NULL,
        PRIMARY KEY (run, line))`,
    ],
  ],
};

/** The current time, by the clock of the database. */
export const nowMs = 'CAST(EXTRACT(EPOCH FROM now()) * 1000 AS BIGINT)';
