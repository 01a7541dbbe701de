/** A text no longer than this is written faster character by character. */
const shortText = 64;

/** What is left after a message for the padding of a digest: a whole block, the length, and one byte. */
const paddingRoom = 80;

const lowerDigits = Buffer.from('0123456789abcdef');
const upperDigits = Buffer.from('0123456789ABCDEF');

/** How a digest of sixteen bytes is written. */
export type DigestFormat = 'hex' | 'HEX' | 'raw';

let beginnings = 0;

/**
 * A message as bytes, in UTF-8, at one place for millions of messages: a beginning that many of them share, and an end.
 * Each is written in two texts, so that nobody has to put them together. No text may end within a character.
 */
export class MessageBytes {
  /** The number of this beginning: no other has had it. */
  beginning = 0;
  beginningLength = 0;
  length = 0;
  bytes: Buffer = Buffer.alloc(512);
  view = viewOf(this.bytes);
  #texts = { before: '', block: '', end: '', more: '' };

  /** The message, as text. */
  get text(): string {
    const { before, block, end, more } = this.#texts;
    return before + block + end + more;
  }

  /** Writes the beginning. The message ends with it. */
  begin(before: string, block = ''): void {
    this.#texts.before = before;
    this.#texts.block = block;
    this.#texts.end = '';
    this.#texts.more = '';
    beginnings += 1;
    this.beginning = beginnings;
    this.beginningLength = this.#write(block, this.#write(before, 0));
    this.length = this.beginningLength;
  }

  /** Writes what follows the beginning. */
  end(text: string, more = ''): void {
    this.#texts.end = text;
    this.#texts.more = more;
    this.length = this.#write(more, this.#write(text, this.beginningLength));
  }

  /** Writes a digest of four words, the lowest byte of each first, and a text behind the beginning. */
  endWithDigest(words: Int32Array, format: DigestFormat, text: string): void {
    const { bytes } = this;
    let at = this.beginningLength;
    for (let index = 0; index < 16; index++) {
      const byte = ((words[index >> 2] as number) >>> ((index & 3) * 8)) & 0xff;
      if (format === 'raw') bytes[at++] = byte;
      else {
        const digits = format === 'hex' ? lowerDigits : upperDigits;
        bytes[at++] = digits[byte >> 4] as number;
        bytes[at++] = digits[byte & 15] as number;
      }
    }
    this.length = this.#write(text, at);
  }

  /** Pads the message for MD5, `lead` bytes of it being elsewhere, and tells where the padding ends. */
  pad(lead: number): number {
    const { bytes, view, length } = this;
    const end = (length + 72) & ~63;
    bytes[length] = 0x80;
    let at = length + 1;
    for (; at % 4 !== 0; at++) bytes[at] = 0;
    for (; at < end - 8; at += 4) view.setInt32(at, 0);
    const total = lead + length;
    view.setInt32(end - 8, total << 3, true);
    view.setInt32(end - 4, Math.floor(total / 2 ** 29), true);
    return end;
  }

  /** Writes a text, and tells where it ends. */
  #write(text: string, at: number): number {
    const most = at + text.length * 3 + paddingRoom;
    if (most > this.bytes.length) this.#grow(most);
    const { bytes } = this;
    if (text.length > shortText) return at + bytes.write(text, at);
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (code > 0x7f) return at + bytes.write(text, at);
      bytes[at + index] = code;
    }
    return at + text.length;
  }

  #grow(most: number): void {
    const grown = Buffer.alloc(most * 2);
    this.bytes.copy(grown);
    this.bytes = grown;
    this.view = viewOf(grown);
  }
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
