import { type FileHandle, open } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';

/** Returns the first bytes of a stream, at least `size` of them if there are so many, and the whole stream. */
export async function peek(
  bytes: AsyncIterable<Buffer>,
  size: number,
): Promise<{ head: Buffer; whole: AsyncGenerator<Buffer> }> {
  const iterator = bytes[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < size) {
    const next = await iterator.next();
    if (next.done) break;
    head = head.length === 0 ? next.value : Buffer.concat([head, next.value]);
  }
  return { head, whole: putBack(head, iterator) };
}

async function* putBack(head: Buffer, iterator: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  yield* { [Symbol.asyncIterator]: () => iterator };
}

/** Calls `onChunk` with each chunk that passes. */
export async function* watchBytes(
  bytes: AsyncIterable<Buffer>,
  onChunk: (chunk: Buffer) => void,
): AsyncGenerator<Buffer> {
  for await (const chunk of bytes) {
    onChunk(chunk);
    yield chunk;
  }
}

const gzipMagic = Buffer.from([0x1f, 0x8b]);

/**
 * Unpacks the bytes of a gzip file, whatever its name; returns all others unchanged.
 *
 * @throws InvalidInputError
 */
export async function* decompress(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const { head, whole } = await peek(bytes, gzipMagic.length);
  if (head.subarray(0, gzipMagic.length).equals(gzipMagic)) yield* gunzip(whole);
  else yield* whole;
}

async function* gunzip(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const unpacked = createGunzip();
  // The last stream throws every error.
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

/** The bytes that contain rows. */
export interface Input {
  /** Its name in messages. */
  readonly name: string;
  /** When it was opened, in bytes; `null` for a stream, which can be read once and has no known end. */
  readonly size: number | null;
  /** In bytes; `null` for a stream. */
  sizeNow(): Promise<number | null>;
  /**
   * Reads from the start: a file each time it is called, in parts of that many bytes.
   *
   * @throws InvalidInputError if it cannot be read
   */
  read(partBytes?: number): AsyncIterable<Buffer>;
  /** Also ends a read that has begun. */
  close(): Promise<void>;
}

/** The default of Node.js: smaller parts slow a run down. */
const usualPartBytes = 64 * 1024;

/**
 * A file, up to its present length: what others append while it is read is ignored. A named pipe or a device is a
 * stream.
 *
 * @throws InvalidInputError
 */
export async function openFile(path: string): Promise<Input> {
  const handle = await open(path, 'r').catch((error) => {
    throw unreadable(path, error);
  });
  const stat = await handle.stat();
  if (stat.isDirectory()) {
    await handle.close();
    throw new InvalidInputError(`${quoteName(path)} is a folder, not a file`);
  }
  if (!stat.isFile()) return openStream(handle.createReadStream(), path);
  return {
    name: path,
    size: stat.size,
    sizeNow: async () => (await handle.stat()).size,
    read: (partBytes) => readFile(handle, stat.size, path, partBytes),
    close: () => handle.close(),
  };
}

/** A stream such as standard input. */
export function openStream(stream: Readable, name: string): Input {
  return {
    name,
    size: null,
    sizeNow: async () => null,
    read: () => readAll(stream, name),
    async close() {
      stream.destroy();
    },
  };
}

async function* readFile(
  handle: FileHandle,
  size: number,
  name: string,
  partBytes = usualPartBytes,
): AsyncGenerator<Buffer> {
  if (size === 0) return;
  const part = { start: 0, end: size - 1, autoClose: false, highWaterMark: partBytes };
  yield* readAll(handle.createReadStream(part), name);
}

async function* readAll(stream: Readable, name: string): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream) yield chunk as Buffer;
  } catch (error) {
    throw unreadable(name, error);
  }
}

function unreadable(name: string, error: unknown): InvalidInputError {
  const { code, message } = error as NodeJS.ErrnoException;
  return new InvalidInputError(`${quoteName(name)} cannot be read (${code ?? message})`, { cause: error });
}
