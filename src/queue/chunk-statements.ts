import { nowMs } from './schema.js';

const isPlace = 'run = $1 AND lane = $2 AND chunk = $3';
const isLast = "state = 'ready' AND chunks_done + 1 = chunks";

/** What is asked of the tables about chunks. `$1` is always the run. */
export const chunkStatements = {
  add:
    'INSERT INTO queue_chunks (run, lane, chunk, body, takes, done) SELECT $1, lane, chunk, body, 0, 0' +
    ' FROM json_to_recordset(CAST($2 AS JSON)) AS given (lane BIGINT, chunk BIGINT, body TEXT)',
  setReady: "UPDATE queue_runs SET state = 'ready', chunks = $2 WHERE run = $1 AND state = 'loading'",
  /** A run cannot be cancelled while a chunk of it is taken. */
  lockReady: "SELECT run FROM queue_runs WHERE run = $1 AND state = 'ready' FOR SHARE",
  lease:
    `UPDATE queue_chunks SET job = $4, holder = $5, leased_until = ${nowMs} + $6, takes = takes + 1` +
    ` WHERE ${isPlace} AND done = 0 RETURNING body, takes, (SELECT COUNT(*) FROM queue_chunks other` +
    ' WHERE other.run = $1 AND other.lane = $2 AND other.chunk = $3 + 1) AS followers',
  /** When it is the turn of some more rows, so that all of them together keep to a rate. */
  takeTurn:
    `UPDATE queue_runs SET next_start = GREATEST(next_start, ${nowMs}) + $2 WHERE run = $1` +
    ` RETURNING next_start - $2 - ${nowMs} AS wait_ms`,
  renew:
    `UPDATE queue_chunks SET leased_until = ${nowMs} + $3 WHERE run = $1 AND holder = $2` +
    ' AND leased_until IS NOT NULL RETURNING job',
  stateOf: 'SELECT state FROM queue_runs WHERE run = $1',
  release:
    'UPDATE queue_chunks SET holder = NULL, leased_until = NULL WHERE run = $1 AND holder = $2' +
    ' AND leased_until IS NOT NULL RETURNING job',
  reclaim:
    'UPDATE queue_chunks SET holder = NULL, leased_until = NULL WHERE run = $1' +
    ` AND leased_until < ${nowMs} RETURNING job`,
  finish:
    'UPDATE queue_chunks SET done = 1, holder = NULL, leased_until = NULL,' +
    ` body = CASE WHEN $4 = 1 THEN body ELSE NULL END WHERE ${isPlace} AND done = 0`,
  /** Adds the outcomes of a chunk to those of its run. */
  count:
    'UPDATE queue_runs SET chunks_done = chunks_done + 1, ok = ok + added.ok_rows, failed = failed + added.failed_rows,' +
    ' invalid = invalid + added.invalid_rows, unknown = unknown + added.unknown_rows,' +
    ` state = CASE WHEN ${isLast} THEN 'done' ELSE state END,` +
    ` ended_at = CASE WHEN ${isLast} THEN ${nowMs} ELSE ended_at END FROM (SELECT` +
    " COUNT(*) FILTER (WHERE outcome = 'ok') AS ok_rows, COUNT(*) FILTER (WHERE outcome = 'failed') AS failed_rows," +
    " COUNT(*) FILTER (WHERE outcome = 'invalid') AS invalid_rows, COUNT(*) FILTER (WHERE outcome = 'unknown') AS unknown_rows" +
    ' FROM queue_outcomes WHERE run = $1 AND line = ANY (CAST($2 AS BIGINT[]))) AS added' +
    ' WHERE run = $1 RETURNING state',
  bodies:
    'SELECT lane, chunk, body FROM queue_chunks WHERE run = $1 AND (lane, chunk) > ($2, $3)' +
    ' ORDER BY lane, chunk LIMIT 1',
};
