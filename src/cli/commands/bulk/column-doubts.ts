import { doubtsAbout } from '../../../core/contract/doubts.js';
import { quoteName } from '../../../core/contract/errors.js';
import { identifyingText } from '../../../core/contract/passback.js';
import type { FlatValue } from '../../../core/contract/user-info.js';
import { formatCount } from '../../output/numbers.js';
import { type DoubtfulText, keyDoubts } from '../../request/doubts.js';
import { isResultLine } from './files/result-line.js';
import type { RowOperation } from './operations.js';
import { type CellType, parseTypes } from './source/columns.js';

/**
 * Maximum number of names, and of doubts, that are kept: each row of NDJSON may have names of its
 * own.
 */
const maxNames = 200;

/** Counts the doubts about the rows of a file by column, with the line of the first. */
export class ColumnDoubts {
  /** The names of the values that rows have. */
  readonly names = new Set<string>();
  readonly #operation: RowOperation;
  /** Columns whose values are meant as they are. */
  readonly #meant: ReadonlyMap<string, CellType>;
  readonly #doubts = new Map<string, DoubtCount>();

  /** `types` are those of `--types`. */
  constructor(operation: RowOperation, types: string | undefined) {
    this.#operation = operation;
    this.#meant = parseTypes(types);
  }

  add(line: number, fields: ReadonlyMap<string, FlatValue>): void {
    for (const [column, value] of fields) {
      if (this.names.size < maxNames) this.names.add(column);
      if (!this.#meant.has(column)) this.#addValue(line, column, value);
    }
  }

  #addValue(line: number, column: string, value: FlatValue): void {
    const { ids, endpoint } = this.#operation;
    if (ids.includes(column)) {
      const id = identifyingText(value);
      if (id === null) return;
      for (const doubt of doubtsAbout(id, 'id', [column])) this.#count(column, doubt, line);
      return;
    }
    // The other columns of a read are not sent.
    if (!endpoint.writes || typeof value !== 'string') return;
    for (const doubt of doubtsAbout(value, 'value')) this.#count(column, doubt, line);
  }

  #count(column: string, doubt: string, line: number): void {
    const key = `${column}\0${doubt}`;
    const count = this.#doubts.get(key);
    if (count !== undefined) count.rows += 1;
    else if (this.#doubts.size < maxNames) this.#doubts.set(key, { column, doubt, line, rows: 1 });
  }

  /**
   * The doubts about the rows, about keys, and about values; `prefix` is that of the tenant's own
   * keys.
   */
  texts(prefix: string | null): DoubtfulText[] {
    const keys = this.#operation.userInfoKeys(this.names).filter((key) => !this.#meant.has(key));
    const doubts: DoubtfulText[] = [];
    if (isResultLine(this.names))
      doubts.push({ what: 'the rows', why: 'are the outcomes of another run' });
    doubts.push(...keys.flatMap((key) => keyDoubts('key', key, prefix)));
    doubts.push(...Array.from(this.#doubts.values(), describeCount));
    return doubts;
  }
}

/** A doubt about values of a column. */
interface DoubtCount {
  readonly column: string;
  readonly doubt: string;
  /** The line of the first row. */
  readonly line: number;
  rows: number;
}

function describeCount({ column, doubt, line, rows }: DoubtCount): DoubtfulText {
  const what = quoteName(column);
  if (rows === 1) return { what, why: `${doubt}, in line ${line}` };
  return { what, why: `${doubt}, in ${formatCount(rows)} rows, first in line ${line}` };
}
