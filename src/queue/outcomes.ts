import type { Outcome } from '../bulk/outcome.js';
import type { Sql, SqlDriver } from '../database/sql-driver.js';

/** The outcome of a row of a run. */
export interface QueuedOutcome {
  readonly line: number;
  readonly outcome: Outcome;
  /** The part of its results line that `formatOutcome` writes. */
  readonly result: string;
}

const statements = {
  /** The first outcome of a row counts: its chunk may be done twice. */
  record:
    'INSERT INTO queue_outcomes (run, line, outcome, result) SELECT $1, line, outcome, result' +
    ' FROM json_to_recordset(CAST($2 AS JSON)) AS given (line BIGINT, outcome TEXT, result TEXT)' +
    ' ORDER BY line ON CONFLICT (run, line) DO NOTHING',
  find: 'SELECT line, outcome, result FROM queue_outcomes WHERE run = $1 AND line = ANY (CAST($2 AS BIGINT[]))',
};

/** Records outcomes, except those of rows that have one already. */
export async function recordOutcomes(
  sql: Sql,
  run: string,
  outcomes: readonly QueuedOutcome[],
): Promise<void> {
  if (outcomes.length > 0) await sql.run(statements.record, [run, JSON.stringify(outcomes)]);
}

/** The outcomes of those rows that have one, by line. */
export async function findOutcomes(
  sql: Sql,
  run: string,
  lines: readonly number[],
): Promise<Map<number, QueuedOutcome>> {
  const rows = await sql.all(statements.find, [run, `{${lines}}`]);
  const found = rows.map(
    ({ line, outcome, result }) =>
      ({ line: Number(line), outcome: String(outcome) as Outcome, result: String(result) }) as const,
  );
  return new Map(found.map((outcome) => [outcome.line, outcome]));
}

/** The same outside of a transaction. */
export function readOutcomes(
  driver: SqlDriver,
  run: string,
  lines: readonly number[],
): Promise<Map<number, QueuedOutcome>> {
  return driver.read((sql) => findOutcomes(sql, run, lines));
}
