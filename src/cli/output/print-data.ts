import { type Io, write, writeStyled } from '../io.js';
import { isPlainTable, type OutputStyle, tableStyle } from './style.js';

/**
 * Prints data, as lossless-json parses it or made by a command, in the format in force: what `--query` selects of it,
 * or all where there is none. A query that does not suit the data throws once all of it is printed.
 */
export async function printData(given: unknown, io: Io, style: OutputStyle): Promise<void> {
  const { select, mask, ...plain } = style;
  const data = mask ? await (await import('./mask.js')).maskData(given) : given;
  if (select === undefined) {
    await writeData(data, io, plain);
    return;
  }
  let selected: unknown;
  try {
    selected = select(data);
  } catch (error) {
    await printData(data, io, plain);
    throw error;
  }
  await writeData(selected, io, plain);
}

/**
 * Prints things as they come, one JSON object a line. In another format, or where a query is for all of them, they
 * are one list.
 */
export async function printList(
  list: Iterable<object> | AsyncIterable<object>,
  io: Io,
  style: OutputStyle,
): Promise<void> {
  if (style.format === 'json' && style.select === undefined) {
    const show = style.mask ? (await import('./mask.js')).maskText : (json: string) => json;
    for await (const item of list) await write(io.stdout, `${show(JSON.stringify(item))}\n`);
    return;
  }
  const items: object[] = [];
  for await (const item of list) items.push(item);
  if (items.length > 0 || !isPlainTable(style)) await printData(items, io, style);
}

/** Writes data as text of whole lines. What needs a library loads it here. */
async function writeData(data: unknown, io: Io, style: OutputStyle): Promise<void> {
  switch (style.format) {
    case 'json':
      return write(io.stdout, `${(await import('lossless-json')).stringify(data)}\n`);
    case 'yaml':
      return write(io.stdout, (await import('./yaml.js')).formatYaml(data));
    case 'csv':
      return write(io.stdout, (await import('./csv.js')).formatCsv(data));
    case 'table': {
      const { formatDataTable } = await import('./data-table.js');
      return writeStyled(io.stdout, formatDataTable(data, tableStyle(io, style)));
    }
  }
}
