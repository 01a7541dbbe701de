import type { Answer } from '../../client/answer.js';
import { UserInfoError } from '../../protocol/errors.js';
import { type Io, write, writeStyled } from '../io.js';
import { isRecord, parseLoosely } from './parsed-json.js';
import { maskPersonalData, printData } from './print.js';
import { isPlainTable, type OutputStyle, warn } from './style.js';

/**
 * Prints an answer. JSON without a query is the received bytes and a newline; `csv` is `data` alone, other formats
 * are the whole envelope; a query applies to the whole envelope. If the format cannot show the answer, it is
 * printed as JSON before the error is thrown, since its code is used up.
 */
export async function printAnswer(answer: Answer<unknown>, io: Io, style: OutputStyle): Promise<void> {
  const { format, select, mask } = style;
  const received = new TextDecoder().decode(answer.body);
  const body = mask ? maskPersonalData(received) : received;
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

/** A carriage return between tokens is white space in JSON, but on a terminal it would hide the text before it. */
async function printJson(text: string, bytes: Uint8Array, { stdout }: Io): Promise<void> {
  const json = stdout.isTTY ? Buffer.from(text.replace(/\r\n?/g, '\n')) : bytes;
  await write(stdout, Buffer.concat([json, Buffer.from('\n')]));
}

async function printBody(body: string, io: Io, style: OutputStyle): Promise<void> {
  if (isPlainTable(style)) {
    const { formatEnvelopeTable } = await import('./data-table.late.js');
    return writeStyled(io.stdout, formatEnvelopeTable(body, style));
  }
  const envelope = parseLoosely(body) as { readonly data?: unknown };
  if (style.format !== 'csv' || style.select !== undefined) return printData(envelope, io, style);
  // A refusal may have no data, or data that is not an object.
  return printData(isRecord(envelope.data) ? envelope.data : {}, io, style);
}
