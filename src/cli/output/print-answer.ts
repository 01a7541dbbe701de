import type { Answer } from '../../client/answer.js';
import type { Envelope } from '../../protocol/envelope.js';
import { type Io, write } from '../io.js';
import { printData } from './print-data.js';
import { isPlainTable, type OutputStyle, tableStyle } from './style.js';

/**
 * Prints what the service said. As JSON, the received bytes as they are, and one newline; `csv` has `data` alone,
 * the others the whole envelope; a query takes from the whole.
 */
export async function printAnswer(
  answer: Answer<Envelope<unknown>>,
  io: Io,
  style: OutputStyle,
): Promise<void> {
  const { format, select } = style;
  const received = new TextDecoder().decode(answer.body);
  const body = style.mask ? (await import('./mask.js')).maskText(received) : received;
  if (format === 'json' && select === undefined) {
    await write(io.stdout, Buffer.concat([style.mask ? Buffer.from(body) : answer.body, Buffer.from('\n')]));
    return;
  }
  if (isPlainTable(style)) {
    const { formatEnvelopeTable } = await import('./envelope-table.js');
    await write(io.stdout, formatEnvelopeTable(body, tableStyle(io, style)));
    return;
  }
  const [{ parseLoosely }, { isObject }] = await Promise.all([
    import('./parse-loosely.js'),
    import('./nested.js'),
  ]);
  const envelope = parseLoosely(body);
  if (format === 'csv' && select === undefined) {
    const { data } = envelope as { data?: unknown }; // a refusal may come without, or with one that is no object
    await printData(isObject(data) ? data : {}, io, style);
  } else {
    await printData(envelope, io, style);
  }
}
