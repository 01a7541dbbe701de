import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { InvalidInputError } from '../../protocol/errors.js';
import { peek } from './peek.js';

const gzipMagic = Buffer.from([0x1f, 0x8b]);

/** The bytes of a gzip file unpacked, whatever its name; all others as they are. Throws an InvalidInputError. */
export async function* decompress(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const { head, whole } = await peek(bytes, gzipMagic.length);
  if (head.subarray(0, gzipMagic.length).equals(gzipMagic)) yield* gunzip(whole);
  else yield* whole;
}

async function* gunzip(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const unpacked = createGunzip();
  // What goes wrong comes out of the last stream.
  pipeline(Readable.from(bytes, { objectMode: false }), unpacked, () => {});
  try {
    for await (const chunk of unpacked) yield chunk as Buffer;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code?.startsWith('Z_') !== true) throw error;
    const fault = code === 'Z_BUF_ERROR' ? 'ends in the middle' : `is damaged (${code})`;
    throw new InvalidInputError(`the gzip file ${fault}`, { hint: 'Copy or pack it again.', cause: error });
  }
}
