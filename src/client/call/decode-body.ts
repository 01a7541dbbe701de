import { isAscii } from 'node:buffer';
import type { ZlibOptions } from 'node:zlib';
import { quoteName } from '../../core/contract/errors.js';
import { type AnswerHeaders, headerOf, type WireAnswer } from './answer.js';

/** Maximum size of an answer's body, in bytes, also decompressed. A larger one is no envelope. */
export const maxAnswerBytes = 2 * 1024 * 1024;

/** A body in UTF-8, and as text, or why it has none. */
export type DecodedBody = { readonly body: Buffer } & (
  | {
      readonly text: string;
      /** The bytes are of another charset: what is not ASCII is U+FFFD in the text. */
      readonly damage?: string;
    }
  | { readonly fault: string }
);

/** Undoes what headers say of a body: first the content codings, then the charset. */
export function decodeBody({ headers, body }: WireAnswer): DecodedBody {
  const decompressed = decompress(body, headers);
  if (typeof decompressed === 'string') return { body, fault: decompressed };
  return decodeCharset(decompressed, headers);
}

type Decompress = (bytes: Buffer, options: ZlibOptions) => Buffer;

// Loaded when it is needed: it takes 2 ms, and no compressed answer is requested.
const zlib = () => process.getBuiltinModule('node:zlib');
const gunzip: Decompress = (bytes, options) => zlib().gunzipSync(bytes, options);

/** The content codings of RFC 9110, 8.4.1 and RFC 7932. */
const codings: ReadonlyMap<string, Decompress> = new Map([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', inflate],
  ['br', (bytes, options) => zlib().brotliDecompressSync(bytes, options)],
]);

/** Maximum number of codings of one body, as of curl: each takes the time of a maximum answer. */
const maxCodings = 5;

/** RFC 9110, 8.4.1.2: the zlib format; some servers send its content without a header. */
function inflate(bytes: Buffer, options: ZlibOptions): Buffer {
  const [method = 0, flags = 0] = bytes;
  const hasHeader = (method & 0x0f) === 8 && (method * 256 + flags) % 31 === 0;
  if (hasHeader) return zlib().inflateSync(bytes, options);
  return zlib().inflateRawSync(bytes, options);
}

/** Undoes the content codings, the last one first (RFC 9110, 8.4), or returns why it cannot. */
function decompress(body: Buffer, headers: AnswerHeaders): Buffer | string {
  const listed = [headers['content-encoding'] ?? []].flat().join(',').toLowerCase();
  const applied = listed.split(',').map((name) => name.trim());
  const names = applied.filter((name) => name !== '' && name !== 'identity');
  if (names.length === 0 || body.length === 0) return body;
  const unknown = names.find((name) => !codings.has(name));
  if (unknown !== undefined)
    return `a body encoded as ${quoteName(unknown)}, which is not gzip, deflate or br`;
  if (names.length > maxCodings) return `a body that is encoded ${names.length} times`;
  let decoded = body;
  for (const name of names.toReversed()) {
    try {
      decoded = codings.get(name)?.(decoded, { maxOutputLength: maxAnswerBytes }) ?? decoded;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
        return `a body of more than ${maxAnswerBytes} bytes once it is decompressed`;
      return `a body that is not ${quoteName(name)}, as it says`;
    }
  }
  return decoded;
}

type Decoder = InstanceType<typeof TextDecoder>;

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeCharset(body: Buffer, headers: AnswerHeaders): DecodedBody {
  if (isAscii(body) && !body.includes(0)) return { body, text: body.toString('latin1') };
  const named = charsetOf(headers);
  for (const decoder of decodersFor(named)) {
    const text = decode(decoder, body);
    if (text !== null) return { text, body: decoder === utf8 ? body : Buffer.from(text) };
  }
  const damage = `a body that is not ${named?.encoding ?? 'UTF-8'}`;
  return { body, text: new TextDecoder().decode(body), damage };
}

/** The decoders that are tried, the likeliest first; `named` is that of the charset of the answer. */
function decodersFor(named: Decoder | null): readonly Decoder[] {
  if (named === null) return [utf8];
  // "iso-8859-1" may be a default of the server, which says nothing; other charsets are meant.
  if (named.encoding === 'windows-1252') return [utf8, named];
  return [named, utf8];
}

/** The decoder of the charset of `Content-Type`; `null` for UTF-8, and for an unknown one. */
function charsetOf(headers: AnswerHeaders): Decoder | null {
  const [, label] =
    /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headerOf(headers, 'content-type') ?? '') ?? [];
  if (label === undefined) return null;
  try {
    const decoder = new TextDecoder(label, { fatal: true });
    // Its superset: Node's decoder of GBK takes bytes that are not text.
    if (decoder.encoding === 'gbk') return new TextDecoder('gb18030', { fatal: true });
    if (decoder.encoding === utf8.encoding) return null;
    return decoder;
  } catch {
    return null;
  }
}

function decode(decoder: Decoder, body: Buffer): string | null {
  try {
    return decoder.decode(body);
  } catch {
    return null;
  }
}
