import { maskWords } from '../../protocol/masking.js';
import { formatCount } from '../../support/count.js';
import { type Io, printMessage, write } from '../io.js';
import { maskPersonalData } from './print.js';
import type { OutputStyle } from './style.js';

/** Maximum number of characters that are printed. */
const maxLength = 8_192;
/** Maximum number of lines that `--verbose` prints. */
const maxLines = 100;

/**
 * Prints the body of an answer that is not an envelope, so that its reason can be read: with `-o json` to stdout, as
 * JSON, other text as a JSON string; with `verbose` to stderr, masked.
 */
export async function printUnknownBody(
  body: Uint8Array,
  io: Io,
  { format, select, mask }: OutputStyle,
  verbose = false,
): Promise<void> {
  const received = new TextDecoder().decode(body).trim();
  if (received === '') return;
  // A longer text is cut before it is parsed: a hostile one may be nested deeply.
  const isShort = received.length <= maxLength;
  const isJson = isShort && isValidJson(received);
  const masked = isJson ? maskPersonalData(received) : maskWords(received.slice(0, maxLength));
  if (format === 'json' && select === undefined) {
    const text = mask ? masked : received.slice(0, maxLength);
    await write(io.stdout, `${isJson ? text : JSON.stringify(isShort ? text : `${text}…`)}\n`);
  }
  if (!verbose) return;
  const lines = masked.split(/\r\n?|\n/);
  for (const line of lines.slice(0, maxLines)) await printMessage(io, `<   ${line}`);
  if (isShort && lines.length <= maxLines) return;
  await printMessage(io, `<   … (the whole answer has ${formatCount(received.length)} characters)`);
}

function isValidJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
