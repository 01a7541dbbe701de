import { type FlatValue, parseFlatJson } from '../../../../core/contract/user-info.js';
import { type LineBlock, splitLines } from './lines.js';
import type { FileRow } from './rows.js';

/** A flat JSON object. */
export class NdjsonRow implements FileRow {
  readonly line: number;
  readonly json: string;

  constructor(line: number, json: string) {
    this.line = line;
    this.json = json;
  }

  get size(): number {
    return this.json.length;
  }

  /** Numbers stay as they were written. */
  fields(): Map<string, FlatValue> {
    return parseFlatJson(this.json, 'the row');
  }

  formatHeader(): string {
    return '';
  }

  format(): string {
    return `${this.json}\n`;
  }
}

/** Reads one flat JSON object a line; blank lines are skipped. */
export async function* parseNdjson(
  blocks: AsyncIterable<LineBlock>,
): AsyncGenerator<readonly NdjsonRow[]> {
  for await (const block of blocks) {
    const rows: NdjsonRow[] = [];
    for (const { bytes, firstLine } of splitLines(block)) {
      const json = bytes.toString().trimEnd();
      if (json !== '') rows.push(new NdjsonRow(firstLine, json));
    }
    if (rows.length > 0) yield rows;
  }
}
