import { type LineBlock, splitLines } from './lines.js';
import type { FileRow, RowFormat } from './row-format.js';

export interface NdjsonRow extends FileRow {
  readonly json: string;
}

/** One flat JSON object a line; blank lines are passed over. */
export class NdjsonFormat implements RowFormat<NdjsonRow> {
  readonly shape = { format: 'ndjson' } as const;

  async *read(blocks: AsyncIterable<LineBlock>): AsyncGenerator<readonly NdjsonRow[]> {
    for await (const block of blocks) {
      const rows: NdjsonRow[] = [];
      for (const { bytes, firstLine } of splitLines(block)) {
        const json = bytes.toString().trimEnd();
        if (json !== '') rows.push({ line: firstLine, json, size: bytes.length });
      }
      if (rows.length > 0) yield rows;
    }
  }

  texts({ json }: NdjsonRow): readonly string[] {
    return [json];
  }

  formatHeader(): string {
    return '';
  }

  formatRow({ json }: NdjsonRow): string {
    return `${json}\n`;
  }
}
