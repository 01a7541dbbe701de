import { ByteText } from './byte-text.js';

const firstBytes = 1024;
const slack = 4;

/** Texts as bytes, made as they are asked for, one behind the other. */
export class PackedTexts {
  readonly #textAt: (index: number) => string;
  readonly #one: ByteText;
  readonly #ends: number[] = [0];
  #bytes = Buffer.alloc(firstBytes);

  constructor(textAt: (index: number) => string) {
    this.#textAt = textAt;
    this.#one = new ByteText(viewOf(this.#bytes), 0, 0);
  }

  /** One of the texts; the next call makes another one of it. */
  at(index: number): ByteText {
    const ends = this.#ends;
    while (ends.length < index + 2) this.#pack();
    const one = this.#one;
    one.from = ends[index] as number;
    one.to = ends[index + 1] as number;
    return one;
  }

  #pack(): void {
    const text = this.#textAt(this.#ends.length - 1);
    const from = this.#ends.at(-1) ?? 0;
    const most = from + text.length * 3 + slack;
    if (most > this.#bytes.length) {
      const bytes = Buffer.alloc(most * 2);
      bytes.set(this.#bytes.subarray(0, from));
      this.#bytes = bytes;
      this.#one.view = viewOf(bytes);
    }
    this.#ends.push(from + this.#bytes.write(text, from));
  }
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
