import type { Outcome } from '../../../client/rows/outcome.js';

/** Rows that are not ok for the same reason. */
export interface FailureGroup {
  readonly outcome: Exclude<Outcome, 'ok'>;
  /** `40401 no such user`, or the message of the error. */
  readonly reason: string;
  rows: number;
  /** The first of them. */
  readonly lines: number[];
}

/**
 * Why a row is not ok: the answer of the service with its result code, or the message of an error.
 */
interface Reason {
  readonly code?: number;
  readonly text: string;
  /** Whether the same row can succeed another time. */
  readonly canSucceed: boolean;
}

/** Maximum number of groups: rows with further reasons form one group. */
const maxGroups = 50;
/** The key of the group of further reasons. */
const otherKey = 'other';
/** Maximum number of lines that a group names. */
const maxLines = 5;

/** Groups the rows of a run that are not ok by their reason. */
export class FailureGroups {
  readonly #groups = new Map<string, FailureGroup>();
  /** The number of rows of all groups. */
  rows = 0;
  /** How many of them can succeed when they are sent again as they are. */
  retryable = 0;

  /** A service may write another text for each row, but not another code. */
  add(outcome: FailureGroup['outcome'], line: number, { code, text, canSucceed }: Reason): void {
    this.rows += 1;
    if (canSucceed) this.retryable += 1;
    const reason = code === undefined ? text : `${code} ${text}`;
    const group = this.#groupOf(outcome, String(code ?? text), reason);
    group.rows += 1;
    if (group.lines.length === maxLines && line > (group.lines.at(-1) ?? 0)) return;
    group.lines.push(line);
    group.lines.sort((a, b) => a - b).splice(maxLines);
  }

  /** The group of an outcome and a code or text; beyond `maxGroups`, that of all further ones. */
  #groupOf(outcome: FailureGroup['outcome'], key: string, reason: string): FailureGroup {
    const existing = this.#groups.get(`${outcome} ${key}`);
    if (existing !== undefined) return existing;
    if (this.#groups.size < maxGroups || key === otherKey)
      return this.#addGroup(`${outcome} ${key}`, { outcome, reason, rows: 0, lines: [] });
    return this.#groupOf(outcome, otherKey, 'other reasons');
  }

  #addGroup(name: string, group: FailureGroup): FailureGroup {
    this.#groups.set(name, group);
    return group;
  }

  /** Whether all rows failed for one reason. */
  get areAlike(): boolean {
    const [first] = this.#groups.values();
    return this.#groups.size === 1 && first?.outcome === 'failed';
  }

  /** The group with the most rows first. */
  byRows(): FailureGroup[] {
    return [...this.#groups.values()].sort((a, b) => b.rows - a.rows);
  }
}
