import { type OutcomeCounts, outcomes } from '../../../client/rows/outcome.js';
import { formatCount } from '../../output/numbers.js';

/** `1 row`, `48,211 rows` */
export function formatRows(count: number): string {
  return count === 1 ? '1 row' : `${formatCount(count)} rows`;
}

/** `3 rows without a value were skipped` */
export function formatEmptyRows(rows: number): string {
  if (rows === 1) return '1 row without a value was skipped';
  return `${formatRows(rows)} without a value were skipped`;
}

/** The number of rows that have an outcome. */
export function totalOf(counts: OutcomeCounts): number {
  return outcomes.reduce((sum, outcome) => sum + counts[outcome], 0);
}
