import { isAscii, isUtf8 } from 'node:buffer';
import { InvalidInputError, quoteName } from '../../../../core/contract/errors.js';
import { byteOrderMark, isUtf16, longestMark } from '../../../../core/support/byte-order-mark.js';
import { RunInputError } from '../errors.js';
import { join, peek } from './input.js';
import { cutLines, type LineBlock, splitLines } from './lines.js';

export const defaultEncoding = 'utf-8';

/**
 * The name of an encoding in TextDecoder.
 *
 * @throws InvalidInputError for an unknown encoding
 */
export function findEncoding(label: string): string {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    throw new InvalidInputError(`${quoteName(label)} is not an encoding that is known`, {
      hint: 'Known are utf-8, gb18030, gbk, big5, shift_jis, euc-kr, windows-1252, utf-16le and others of the web (https://encoding.spec.whatwg.org).',
    });
  }
}

export interface TextOptions {
  /** A name that `findEncoding` returned; a byte-order mark overrides it. */
  readonly encoding: string;
  /** Called if the text begins with a byte-order mark. */
  readonly onMark?: () => void;
}

/**
 * Converts text in any encoding to UTF-8, in whole lines, without its byte-order mark.
 *
 * @throws InvalidInputError that names the line whose bytes are not text in that encoding: wrongly
 * decoded text would be stored for good
 */
export async function* toUtf8(
  bytes: AsyncIterable<Buffer>,
  options: TextOptions,
): AsyncGenerator<LineBlock> {
  const { markedEncoding, text } = await withoutMark(bytes);
  if (markedEncoding !== null) options.onMark?.();
  const encoding = markedEncoding ?? options.encoding;
  if (isUtf16(encoding)) yield* cutLines(transcode(text, encoding));
  else if (encoding === 'utf-8') yield* checkedUtf8(cutLines(text));
  else yield* decoded(cutLines(text), options);
}

/**
 * The lines of text in UTF-8, or in UTF-16 with its byte-order mark, as UTF-8. Those of UTF-8 are
 * not checked.
 *
 * @throws InvalidInputError for UTF-16 that is damaged, or for a line that is too long
 */
export async function* unicodeLines(bytes: AsyncIterable<Buffer>): AsyncGenerator<LineBlock> {
  const { markedEncoding, text } = await withoutMark(bytes);
  const encoding = markedEncoding ?? 'utf-8';
  yield* cutLines(isUtf16(encoding) ? transcode(text, encoding) : text);
}

/**
 * Text without its byte-order mark, and the encoding that the mark names; `null` if there is none.
 */
async function withoutMark(bytes: AsyncIterable<Buffer>) {
  const { head, rest } = await peek(bytes, longestMark);
  const mark = byteOrderMark(head);
  return {
    markedEncoding: mark?.encoding ?? null,
    text: join(head.subarray(mark?.length ?? 0), rest),
  };
}

async function* checkedUtf8(blocks: AsyncIterable<LineBlock>): AsyncGenerator<LineBlock> {
  for await (const block of blocks) {
    refuseBinary(block);
    if (!isUtf8(block.bytes)) throw notText(block, 'utf-8', ({ bytes }) => isUtf8(bytes));
    yield block;
  }
}

/**
 * 0x80 to 0x9f in windows-1252. Node.js from 20.18.3, 22.13 and 24.0 decodes them as ISO 8859-1, in
 * which they are control characters, until fixed in later versions of 22 and 24:
 * https://github.com/nodejs/node/issues/60888.
 */
const windows1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/**
 * Private-use characters mean nothing outside of the program that wrote them. ICU's tables have
 * them for gaps.
 */
const privateUse = /[\ue000-\uf8ff]/;

/** `null` for bytes that are not text in the encoding. */
function decodeWith(decoder: InstanceType<typeof TextDecoder>, bytes: Buffer): string | null {
  try {
    const text = decoder.decode(bytes);
    if (privateUse.test(text)) return null;
    if (decoder.encoding !== 'windows-1252') return text;
    return text.replace(
      /[\u0080-\u009f]/g,
      (control) => windows1252[control.charCodeAt(0) - 0x80] ?? control,
    );
  } catch {
    return null;
  }
}

async function* decoded(
  blocks: AsyncIterable<LineBlock>,
  { encoding }: TextOptions,
): AsyncGenerator<LineBlock> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const decode = ({ bytes }: LineBlock) => decodeWith(decoder, bytes);
  for await (const block of blocks) {
    refuseBinary(block);
    // GB18030, for one, would decode it wrongly and without an error.
    if (isUtf8(block.bytes) && !isAscii(block.bytes)) throw looksLikeUtf8(encoding);
    const text = decode(block);
    if (text === null) throw notText(block, encoding, (line) => decode(line) !== null);
    yield { bytes: Buffer.from(text), firstLine: block.firstLine };
  }
}

/** A line feed is two bytes there, so lines are split after decoding. */
async function* transcode(bytes: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  try {
    for await (const chunk of bytes) yield Buffer.from(decoder.decode(chunk, { stream: true }));
    yield Buffer.from(decoder.decode());
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new InvalidInputError(`the input is not text in ${encoding}`, {
      hint: 'Save it again, as UTF-8.',
      cause: error,
    });
  }
}

const encodingHint =
  'Name the encoding that it was saved in: --encoding gb18030 for most exports of a Chinese Windows, ' +
  'windows-1252 for those of a Western European one. Or convert the file to UTF-8.';

const otherEncodingHint =
  'It was saved in another encoding: name that with --encoding, or convert the file to UTF-8.';

function notText(block: LineBlock, encoding: string, isText: (line: LineBlock) => boolean) {
  const line = lineWhere(block, (text) => !isText(text));
  return new InvalidInputError(`line ${line} is not text in ${encoding}`, {
    hint: encoding === 'utf-8' ? encodingHint : otherEncodingHint,
  });
}

/**
 * The number of the first line for which `isFound` is true, else of the first line of the block.
 */
function lineWhere(block: LineBlock, isFound: (line: LineBlock) => boolean): number {
  return ([...splitLines(block)].find(isFound) ?? block).firstLine;
}

function looksLikeUtf8(encoding: string): InvalidInputError {
  return new InvalidInputError(
    `the input is UTF-8: as ${encoding} its text would be stored garbled`,
    {
      hint: `Leave --encoding out. If it is ${encoding} after all, convert it first: iconv -f ${encoding} -t utf-8`,
    },
  );
}

function refuseBinary(block: LineBlock): void {
  if (!block.bytes.includes(0)) return;
  const wide = block.firstLine === 1 ? wideEncoding(block.bytes) : null;
  if (wide !== null) {
    const message = `the input holds U+0000: it looks like ${wide} without a byte-order mark`;
    throw new RunInputError(message, 'Name its encoding:', '--encoding', wide);
  }
  const line = lineWhere(block, ({ bytes }) => bytes.includes(0));
  throw new InvalidInputError(`line ${line} holds U+0000: this is not a text file`, {
    hint: 'Give CSV or NDJSON, as text.',
  });
}

/**
 * The encoding of a header of ASCII characters, every other byte of which is zero; `null` if it is
 * another.
 */
function wideEncoding(bytes: Buffer): 'utf-16le' | 'utf-16be' | null {
  const head = bytes.subarray(0, Math.min(bytes.length, 64) & ~1);
  const zeros = [0, 1].map(
    (parity) => head.filter((byte, at) => at % 2 === parity && byte === 0).length,
  );
  const [even = 0, odd = 0] = zeros;
  if (even === 0 && odd >= head.length / 4) return 'utf-16le';
  return odd === 0 && even >= head.length / 4 ? 'utf-16be' : null;
}
