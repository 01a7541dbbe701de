import { type FlatValue, formatFlatJson } from '../protocol/user-info.js';

/**
 * Where a chunk stands: the rows of one user are all in one lane, and the chunks of a lane are done one after the
 * other, so that the last of them wins.
 */
export interface ChunkPlace {
  readonly lane: number;
  /** In its lane, counted from 0. */
  readonly chunk: number;
}

/** A chunk that is to be added to a run. */
export interface FilledChunk extends ChunkPlace {
  /** Its rows, as `formatQueuedRow` writes them. */
  readonly body: string;
}

/** A row as the queue holds it: where it stood in the input, and its values as flat JSON. */
export interface QueuedRow {
  readonly line: number;
  readonly json: string;
}

/** A row of a chunk's body. */
export function formatQueuedRow(line: number, fields: ReadonlyMap<string, FlatValue>): string {
  return `${line} ${formatFlatJson(fields)}\n`;
}

/** The rows of a chunk's body. */
export function parseChunk(body: string): QueuedRow[] {
  const rows = body.split('\n').slice(0, -1);
  return rows.map((row) => {
    const end = row.indexOf(' ');
    return { line: Number(row.slice(0, end)), json: row.slice(end + 1) };
  });
}
