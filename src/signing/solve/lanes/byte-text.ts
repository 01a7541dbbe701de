/** Whoever copies a text word by word reads so many bytes behind it. */
const slack = 3;

/** A text as bytes, in UTF-8, among others. It is no part of a character. */
export class ByteText {
  view: DataView;
  from: number;
  to: number;

  /** Of a buffer with room for a word behind the text. */
  constructor(view: DataView, from: number, to: number) {
    this.view = view;
    this.from = from;
    this.to = to;
  }

  get length(): number {
    return this.to - this.from;
  }

  get text(): string {
    const { buffer, byteOffset } = this.view;
    return Buffer.from(buffer, byteOffset + this.from, this.length).toString();
  }
}

export const noText = byteText('');

export function byteText(text: string): ByteText {
  return bytesAsText(Buffer.from(text));
}

export function bytesAsText(bytes: Uint8Array): ByteText {
  const roomy = new Uint8Array(bytes.length + slack);
  roomy.set(bytes);
  return new ByteText(new DataView(roomy.buffer), 0, bytes.length);
}
