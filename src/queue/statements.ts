import { type Outcome, outcomes } from '../bulk/outcome.js';
import type { Schema } from '../database/migrations.js';

/** Maximum number of times that workers take a chunk. */
const maxTakings = 1000;

/** The tables of the queue. Times are milliseconds since 1970, by the clock of the database. */
export const queueSchema: Schema = {
  table: 'userinfo_queue_migrations',
  owner: 'the queue',
  steps: [
    [
      `CREATE TABLE userinfo_runs (
        run TEXT NOT NULL PRIMARY KEY, state TEXT NOT NULL, properties TEXT NOT NULL,
        waits_for TEXT NOT NULL DEFAULT '[]', created_at BIGINT NOT NULL, ended_at BIGINT,
        chunks BIGINT NOT NULL DEFAULT 0, chunks_done BIGINT NOT NULL DEFAULT 0,
        ${outcomes.map((outcome) => `${outcome} BIGINT NOT NULL DEFAULT 0`).join(', ')})`,
      `CREATE TABLE userinfo_chunks (
        run TEXT NOT NULL, chunk BIGINT NOT NULL, data TEXT, done BOOLEAN NOT NULL DEFAULT false,
        takings BIGINT NOT NULL DEFAULT 0, leased_until BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (run, chunk))`,
      'CREATE INDEX userinfo_runs_by_state ON userinfo_runs (state, ended_at)',
      'CREATE INDEX userinfo_chunks_left ON userinfo_chunks (run, chunk) WHERE NOT done',
      'CREATE INDEX userinfo_chunks_leased ON userinfo_chunks (run) WHERE leased_until > 0',
      `CREATE INDEX userinfo_chunks_failed ON userinfo_chunks (run) WHERE takings >= ${maxTakings} AND NOT done`,
      `CREATE TABLE userinfo_outcomes (
        run TEXT NOT NULL, line BIGINT NOT NULL, outcome TEXT NOT NULL, result TEXT NOT NULL,
        PRIMARY KEY (run, line))`,
    ],
  ],
};

/** The current time, by the clock of the database; in milliseconds since 1970. */
const nowMs = 'CAST(EXTRACT(EPOCH FROM now()) * 1000 AS BIGINT)';

/** A worker has the chunk. The first condition is that of its index. */
const isLeased = `leased_until > 0 AND leased_until > ${nowMs}`;
const hasFailed = `takings >= ${maxTakings} AND NOT done AND leased_until <= ${nowMs}`;

/** The properties of a run, its state and its counts. A cancelled run is awaited until its last lease has ended. */
const selectRuns = (condition: string) => `SELECT properties, run, state, ${outcomes.join(', ')},
  ok + failed + invalid + unknown AS done, failed + invalid + unknown AS not_ok, (
    SELECT COALESCE(json_agg(awaited), '[]') FROM json_array_elements_text(CAST(waits_for AS JSON)) AS awaited
    WHERE EXISTS (SELECT 1 FROM userinfo_runs WHERE run = awaited AND state = 'ready')
    OR EXISTS (SELECT 1 FROM userinfo_chunks WHERE run = awaited AND ${isLeased})) AS waits_for,
  chunks, CASE WHEN state IN ('loading', 'ready') THEN chunks - chunks_done - failed_chunks ELSE 0 END AS chunks_left,
  failed_chunks, workers, created_at / 1000 AS created_at, ended_at / 1000 AS ended_at
  FROM userinfo_runs runs,
    LATERAL (SELECT COUNT(*) AS workers FROM userinfo_chunks WHERE run = runs.run AND ${isLeased}) AS leased,
    LATERAL (SELECT COUNT(*) AS failed_chunks FROM userinfo_chunks WHERE run = runs.run AND ${hasFailed}) AS failing
  WHERE ${condition} ORDER BY created_at, run`;

const countsOf = (outcome: Outcome) => `COUNT(*) FILTER (WHERE outcome = '${outcome}') AS ${outcome}`;
const sumOf = (outcome: Outcome) => `${outcome} = runs.${outcome} + added.${outcome}`;

/** The statements of the queue. None of them reads all chunks of a run. */
export const queueStatements = {
  add: `INSERT INTO userinfo_runs (run, state, properties, created_at) VALUES ($1, 'loading', $2, ${nowMs})`,
  addChunk: `WITH counted AS (UPDATE userinfo_runs SET chunks = chunks + 1 WHERE run = $1 AND state = 'loading'
      RETURNING run, chunks - 1 AS chunk)
    INSERT INTO userinfo_chunks (run, chunk, data) SELECT run, chunk, $2 FROM counted`,
  /** Conflicts with itself, and with nothing else that the queue does. */
  lockReleases: 'LOCK TABLE userinfo_runs IN SHARE UPDATE EXCLUSIVE MODE',
  release: "UPDATE userinfo_runs SET state = 'ready', waits_for = $2 WHERE run = $1 AND state = 'loading'",
  find: selectRuns('run = $1'),
  list: selectRuns('true'),
  ready: selectRuns("state = 'ready'"),
  unfinished: selectRuns("state = 'ready' OR (state = 'cancelled' AND workers > 0)"),
  lockReady: "SELECT 1 FROM userinfo_runs WHERE run = $1 AND state = 'ready' FOR NO KEY UPDATE",
  take: `UPDATE userinfo_chunks SET takings = takings + 1, leased_until = ${nowMs} + $2
    WHERE run = $1 AND chunk = (SELECT chunk FROM userinfo_chunks WHERE run = $1 AND NOT done
      AND leased_until <= ${nowMs} AND takings < ${maxTakings} ORDER BY chunk LIMIT 1 FOR UPDATE SKIP LOCKED)
    AND ($3 = 0 OR NOT EXISTS (SELECT 1 FROM userinfo_chunks WHERE run = $1 AND ${isLeased}))
    RETURNING chunk, data, leased_until`,
  /** The first outcome of a row counts: two workers may have sent it. Returns a row if the worker is to continue. */
  record: `WITH new AS (INSERT INTO userinfo_outcomes (run, line, outcome, result) SELECT $1, line, outcome, result
      FROM json_to_recordset(CAST($4 AS JSON)) AS given (line BIGINT, outcome TEXT, result TEXT)
      WHERE EXISTS (SELECT 1 FROM userinfo_runs WHERE run = $1 AND state <> 'deleting' FOR KEY SHARE)
      ORDER BY line ON CONFLICT (run, line) DO NOTHING RETURNING outcome),
    added AS (SELECT COUNT(*) AS "rows", ${outcomes.map(countsOf)} FROM new),
    counted AS (UPDATE userinfo_runs runs SET ${outcomes.map(sumOf)} FROM added WHERE run = $1 AND added."rows" > 0)
    SELECT 1 FROM userinfo_chunks JOIN userinfo_runs USING (run)
    WHERE run = $1 AND chunk = $2 AND leased_until = $3 AND ${isLeased} AND state = 'ready'`,
  /**
   * Ends a chunk whose rows all have outcomes, whoever has it, and with the last one its run. Returns another, unless
   * it was taken meanwhile.
   */
  finish: `WITH found AS (SELECT COUNT(*) >= $5 AS complete FROM userinfo_outcomes
      WHERE run = $1 AND line BETWEEN $3 AND $4),
    ended AS (UPDATE userinfo_chunks SET leased_until = 0, done = complete,
      data = CASE WHEN complete AND $7 = 0 THEN NULL ELSE data END
      FROM found WHERE run = $1 AND chunk = $2 AND NOT done AND (complete OR leased_until = $6) RETURNING done)
    UPDATE userinfo_runs SET chunks_done = chunks_done + 1,
      state = CASE WHEN state = 'ready' AND chunks_done + 1 = chunks THEN 'done' ELSE state END,
      ended_at = CASE WHEN state = 'ready' AND chunks_done + 1 = chunks THEN ${nowMs} ELSE ended_at END
    WHERE run = $1 AND EXISTS (SELECT 1 FROM ended WHERE done)`,
  retry: `UPDATE userinfo_chunks SET takings = 0 WHERE run = $1 AND ${hasFailed}`,
  stop: `UPDATE userinfo_runs SET state = 'cancelled', ended_at = ${nowMs} WHERE run = $1 AND state IN ('loading', $2)`,
  /** The leases stay: they say that requests may be under way. */
  removeData: 'UPDATE userinfo_chunks SET data = NULL WHERE run = $1 AND chunk >= $2 AND chunk < $3',
  /** Waits for outcomes that are being recorded. */
  lockWhole: 'SELECT 1 FROM userinfo_runs WHERE run = $1 FOR UPDATE',
  startRemoval: "UPDATE userinfo_runs SET state = 'deleting' WHERE run = $1",
  lastLine: 'SELECT MAX(line) AS last FROM userinfo_outcomes WHERE run = $1',
  removeChunks: 'DELETE FROM userinfo_chunks WHERE run = $1 AND chunk >= $2 AND chunk < $3',
  removeOutcomes: 'DELETE FROM userinfo_outcomes WHERE run = $1 AND line >= $2 AND line < $3',
  removeRun: 'DELETE FROM userinfo_runs WHERE run = $1',
  expired: `SELECT run FROM userinfo_runs runs WHERE state IN ('done', 'cancelled', 'deleting')
    AND ended_at < ${nowMs} - $1 AND NOT EXISTS (SELECT 1 FROM userinfo_chunks WHERE run = runs.run AND ${isLeased})
    ORDER BY ended_at LIMIT 1`,
  outcomes: 'SELECT line, outcome, result FROM userinfo_outcomes WHERE run = $1 AND line BETWEEN $2 AND $3',
  nextChunk: `SELECT chunk, data FROM userinfo_chunks
    WHERE run = $1 AND chunk > $2 AND data IS NOT NULL ORDER BY chunk LIMIT 1`,
};
