import { memoize } from '../../core/support/memoize.js';
import { decodePercent } from '../../core/support/percent-encoding.js';

/** A charset that a signer may make bytes in, where others take UTF-8. */
interface Charset {
  readonly name: string;
  /** The bytes of a text; `?` for a character that the charset does not have. */
  encode(text: string): Buffer;
}

/** By how often signers use them unasked. */
export const charsets: readonly Charset[] = [
  { name: 'GBK', encode: (text) => encodeBy(twoByteTable('gbk'), text) },
  { name: 'GB18030', encode: encodeGb18030 },
  { name: 'Big5', encode: (text) => encodeBy(twoByteTable('big5'), text) },
  { name: 'Latin-1', encode: (text) => Buffer.from(text.replace(/[^\0-\xff]/gu, '?'), 'latin1') },
  { name: 'Latin-1, each character cut to a byte', encode: (text) => Buffer.from(text, 'latin1') },
  { name: 'UTF-16', encode: (text) => Buffer.from(text, 'utf16le') },
];

/**
 * The bytes of a message in a charset. A message that was percent-encoded is ASCII: there the
 * escapes are those of the charset.
 */
export function bytesIn(charset: Charset, message: string): Buffer {
  if (/[^\0-\x7f]/.test(message)) return charset.encode(message);
  const written = message.replace(/(?:%[89a-f][\da-f])+/gi, (escapes) => {
    const text = decodePercent(escapes);
    if (text === escapes) return escapes;
    const lower = charset.encode(text).toString('hex').replace(/../g, '%$&');
    return /[a-f]/.test(escapes) ? lower : lower.toUpperCase();
  });
  if (written === message) return charset.encode(message);
  return Buffer.from(written);
}

/** What stands for a character that a charset does not have. */
const questionMark = [0x3f];

function encodeBy(table: ReadonlyMap<string, readonly number[]>, text: string): Buffer {
  const bytesOf = (character: string) => {
    if (character <= '\x7f') return [character.charCodeAt(0)];
    return table.get(character) ?? questionMark;
  };
  return Buffer.from([...text].flatMap(bytesOf));
}

/** The characters of two bytes, by TextDecoder: Node has no encoder of these charsets. */
const twoByteTable = memoize((name: 'gbk' | 'big5'): ReadonlyMap<string, readonly number[]> => {
  const decoder = new TextDecoder(name, { fatal: true });
  const table = new Map<string, readonly number[]>();
  for (let first = 0x81; first <= 0xfe; first += 1) {
    for (let second = 0x40; second <= 0xfe; second += 1) {
      const character = decoded(decoder, [first, second]);
      if (character !== null && !table.has(character)) table.set(character, [first, second]);
    }
  }
  return table;
});

function decoded(
  decoder: InstanceType<typeof TextDecoder>,
  bytes: readonly number[],
): string | null {
  try {
    const [character = '', ...others] = decoder.decode(Uint8Array.from(bytes));
    if (others.length > 0) return null;
    return character;
  } catch {
    return null;
  }
}

/** The pointers of four bytes that stand for characters below U+10000, and the first above. */
const fourByteCharacters = 39_420;
const firstAstral = 189_000;

function encodeGb18030(text: string): Buffer {
  const twoBytes = twoByteTable('gbk');
  const bytesOf = (character: string) => {
    if (character <= '\x7f') return [character.charCodeAt(0)];
    const point = character.codePointAt(0) ?? 0;
    if (point >= 0x10000) return fourBytes(firstAstral + point - 0x10000);
    return twoBytes.get(character) ?? fourByteTable(undefined).get(character) ?? questionMark;
  };
  return Buffer.from([...text].flatMap(bytesOf));
}

function fourBytes(pointer: number): number[] {
  const rest = Math.floor(pointer / 10);
  const second = Math.floor(rest / 126);
  return [
    0x81 + Math.floor(second / 10),
    0x30 + (second % 10),
    0x81 + (rest % 126),
    0x30 + (pointer % 10),
  ];
}

const fourByteTable = memoize((_: undefined): ReadonlyMap<string, readonly number[]> => {
  const pointers = Array.from({ length: fourByteCharacters }, (_, pointer) => fourBytes(pointer));
  const characters = [...new TextDecoder('gb18030').decode(Uint8Array.from(pointers.flat()))];
  return new Map(characters.map((character, index) => [character, pointers[index] ?? []]));
});
