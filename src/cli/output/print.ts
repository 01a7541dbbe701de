import { stringify } from 'lossless-json';
import { UserInfoError } from '../../core/contract/errors.js';
import { parseExact } from '../../core/contract/exact-json.js';
import { isPersonalName, maskJson } from '../../core/contract/masking.js';
import type { OutputFormat } from '../command-line/options.js';
import { type Io, printMessage, write, writeStyled } from '../io.js';
import { isPlainTable, type OutputStyle } from './style.js';

/** A query found no value, or `null`, in the data that it was for. */
class NothingSelectedError extends UserInfoError {
  readonly code = 'NOTHING_SELECTED';
}

/**
 * Prints data in the format of `style`: what `--query` selects, or all data. `all` is parsed by
 * lossless-json or made by a command.
 *
 * @throws InvalidInputError if the query does not suit the data, after all data is printed;
 * NothingSelectedError
 */
export async function printData(all: unknown, io: Io, style: OutputStyle): Promise<void> {
  const { select, mask, ...plain } = style;
  const data = mask ? parseExact(maskPersonalData(stringify(all) ?? 'null')) : all;
  if (select === undefined) return writeWhole(data, io, plain);
  let selected: unknown;
  try {
    selected = select(data);
  } catch (error) {
    await printData(data, io, plain);
    throw error;
  }
  await writeData(selected, io, plain);
  if (selected !== null && selected !== undefined) return;
  throw new NothingSelectedError('--query selects nothing', {
    hint: 'Without it, all is printed.',
  });
}

/**
 * Prints items: as NDJSON while they arrive, in another format, or with a query, as one list at the
 * end, in a table as `forPeople` words them.
 */
export async function printList(
  list: Iterable<object> | AsyncIterable<object>,
  io: Io,
  style: OutputStyle,
  forPeople: (item: object) => object = (item) => item,
): Promise<void> {
  const { format, select, mask } = style;
  if (format === 'ndjson' && select === undefined) {
    for await (const item of list) {
      const json = JSON.stringify(item);
      await write(io.stdout, `${mask ? maskPersonalData(json) : json}\n`);
    }
    return;
  }
  const items: object[] = [];
  for await (const item of list) items.push(item);
  if (!isPlainTable(style)) return printData(items, io, style);
  if (items.length === 0) return printMessage(io, 'there are none');
  await printData(items.map(forPeople), io, style);
}

/** The formats without colours: data as complete lines. Each loads its library here. */
const plainFormats: Readonly<
  Record<Exclude<OutputFormat, 'table'>, (data: unknown) => Promise<string>>
> = {
  json: async (data) => `${stringify(data)}\n`,
  ndjson: async (data) =>
    [data]
      .flat()
      .map((record) => `${stringify(record)}\n`)
      .join(''),
  yaml: async (data) => (await import('./yaml.late.js')).formatYaml(data),
  csv: async (data) => (await import('./csv.late.js')).formatCsv(data),
};

/** Writes what a query selects. */
async function writeData(data: unknown, io: Io, style: OutputStyle): Promise<void> {
  if (style.format !== 'table') return write(io.stdout, await plainFormats[style.format](data));
  const { formatDataTable } = await import('./data-table.late.js');
  return writeStyled(io.stdout, formatDataTable(data, style));
}

/** Writes all data; a table has words for times and truth values. */
async function writeWhole(data: unknown, io: Io, style: OutputStyle): Promise<void> {
  if (style.format !== 'table') return writeData(data, io, style);
  const { inWords } = await import('./data-table.late.js');
  return writeData(inWords(data), io, style);
}

/** Masks personal data in JSON; all other bytes stay the same. */
export function maskPersonalData(json: string): string {
  return maskJson(json, isPersonalName);
}
