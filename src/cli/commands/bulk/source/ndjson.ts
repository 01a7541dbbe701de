import { type FlatValue, parseFlatJson } from '../../../../core/contract/user-info.js';
import { type LineBlock, splitLines } from './lines.js';
import { type FileRow, reasonColumn, reasonNote } from './rows.js';

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
    const fields = parseFlatJson(this.json, 'the row');
    fields.delete(reasonColumn);
    return fields;
  }

  formatHeader(): string {
    return '';
  }

  /** A row that is no object stays as it is. */
  format(reason: string): string {
    const members = this.json.replace(reasonMember, '');
    const isEmpty = /^\{\s*\}/.test(members);
    const start = `{"${reasonColumn}":${JSON.stringify(reason)}${isEmpty ? '' : ','}`;
    return `${members.replace(/^\{/, () => start)}\n`;
  }
}

const member = `"${reasonColumn}"\\s*:\\s*"(?:[^"\\\\]|\\\\.)*"`;
/** The reason in a row that is from a file of failed rows, with one comma beside it. */
const reasonMember = new RegExp(`,\\s*${member}|${member}\\s*,?\\s*`);

/** Reads one flat JSON object a line; blank lines are skipped. `note` reports what else is. */
export async function* parseNdjson(
  blocks: AsyncIterable<LineBlock>,
  note: (text: string) => void,
): AsyncGenerator<readonly NdjsonRow[]> {
  for await (const block of blocks) {
    const rows: NdjsonRow[] = [];
    for (const { bytes, firstLine } of splitLines(block)) {
      const json = bytes.toString().trimEnd();
      if (json === '') continue;
      if (json.includes(`"${reasonColumn}"`)) note(reasonNote);
      rows.push(new NdjsonRow(firstLine, json));
    }
    if (rows.length > 0) yield rows;
  }
}
