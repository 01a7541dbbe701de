import { stringify } from 'lossless-json';
import type { Answer } from '../../client/answer.js';
import type { Envelope } from '../../protocol/envelope.js';
import { UserInfoError } from '../../protocol/errors.js';
import { isPersonalName, maskJson } from '../../protocol/masking.js';
import { type Io, say, write, writeStyled } from '../io.js';
import { isObject, parseLoosely } from './parsed-json.js';
import { isPlainTable, type OutputStyle, tableStyle, warn } from './style.js';

/**
 * Prints an answer. JSON without a query is the received bytes and a newline; `csv` is `data` alone, other formats
 * are the whole envelope; a query applies to the whole envelope. If the format cannot show the answer, it is
 * printed as JSON before the error is thrown, since its code is used up.
 */
export async function printAnswer(
  answer: Answer<Envelope<unknown>>,
  io: Io,
  style: OutputStyle,
): Promise<void> {
  const { format, select, mask } = style;
  const received = new TextDecoder().decode(answer.body);
  const body = mask ? maskText(received) : received;
  if (format === 'json' && select === undefined) {
    await printJson(body, mask ? Buffer.from(body) : answer.body, io);
    return;
  }
  try {
    await printBody(body, io, style);
  } catch (error) {
    if (!(error instanceof UserInfoError)) {
      await warn(io, `the answer cannot be shown as ${format}; the whole answer follows as JSON`);
      await printJson(body, Buffer.from(body), io);
    }
    throw error;
  }
}

/** Masks personal data in JSON; all other bytes stay the same. */
function maskText(json: string): string {
  return maskJson(json, isPersonalName);
}

/** A carriage return between tokens is white space in JSON, but on a terminal it would hide the text before it. */
async function printJson(text: string, bytes: Uint8Array, { stdout }: Io): Promise<void> {
  const json = stdout.isTTY ? Buffer.from(text.replace(/\r\n?/g, '\n')) : bytes;
  await write(stdout, Buffer.concat([json, Buffer.from('\n')]));
}

async function printBody(body: string, io: Io, style: OutputStyle): Promise<void> {
  const { format, select } = style;
  if (isPlainTable(style)) {
    const { formatEnvelopeTable } = await import('./data-table.js');
    await writeStyled(io.stdout, formatEnvelopeTable(body, tableStyle(io, style)));
    return;
  }
  const envelope = parseLoosely(body);
  if (format === 'csv' && select === undefined) {
    // A refusal may have no data, or data that is no object.
    const { data } = envelope as { data?: unknown };
    await printData(isObject(data) ? data : {}, io, style);
  } else {
    await printData(envelope, io, style);
  }
}

/**
 * Prints data in the given format: what `--query` selects, or all data. `given` is parsed by lossless-json or made
 * by a command.
 *
 * @throws InvalidInputError if the query does not suit the data, after all data is printed
 */
export async function printData(given: unknown, io: Io, style: OutputStyle): Promise<void> {
  const { select, mask, ...plain } = style;
  const data = mask ? parseLoosely(maskText(stringify(given) ?? 'null')) : given;
  if (select === undefined) return writeData(data, io, plain);
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
 * Prints items as they arrive, one JSON object per line. In another format, or with a query, they are printed as
 * one list at the end, in a table as `forPeople` words them.
 */
export async function printList(
  list: Iterable<object> | AsyncIterable<object>,
  io: Io,
  style: OutputStyle,
  forPeople: (item: object) => object = (item) => item,
): Promise<void> {
  if (style.format === 'json' && style.select === undefined) {
    const show = style.mask ? maskText : (json: string) => json;
    for await (const item of list) await write(io.stdout, `${show(JSON.stringify(item))}\n`);
    return;
  }
  const items: object[] = [];
  for await (const item of list) items.push(isPlainTable(style) ? forPeople(item) : item);
  if (items.length > 0 || !isPlainTable(style)) await printData(items, io, style);
  else await say(io, 'there are none');
}

/** Writes data as complete lines. Each format loads its library here. */
async function writeData(data: unknown, io: Io, style: OutputStyle): Promise<void> {
  switch (style.format) {
    case 'json':
      return write(io.stdout, `${stringify(data)}\n`);
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
