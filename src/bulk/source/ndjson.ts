import { InvalidInputError } from '../../protocol/errors.js';
import { FlatJsonError, type FlatValue, parseFlatJson } from '../../protocol/user-info.js';
import { type LineBlock, splitLines } from './lines.js';
import type { FileRow, RowFormat } from './rows.js';

interface NdjsonRow extends FileRow {
  readonly json: string;
}

/** One flat JSON object a line; blank lines are skipped. */
export const ndjsonFormat: RowFormat<NdjsonRow> = {
  async *read(blocks: AsyncIterable<LineBlock>) {
    for await (const block of blocks) {
      const rows: NdjsonRow[] = [];
      for (const { bytes, firstLine } of splitLines(block)) {
        const json = bytes.toString().trimEnd();
        if (json !== '') rows.push({ line: firstLine, json, size: bytes.length });
      }
      if (rows.length > 0) yield rows;
    }
  },

  /** Numbers stay as they were written. */
  fields({ json }): Map<string, FlatValue> {
    try {
      return parseFlatJson(json);
    } catch (error) {
      if (error instanceof FlatJsonError) throw new InvalidInputError(`the row ${error.message}`);
      throw error;
    }
  },

  formatHeader: () => '',

  formatRow: ({ json }) => `${json}\n`,
};
