import { constants, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { InvalidInputError, quoteName } from '../../../../core/contract/errors.js';
import { describeSystemError } from '../../../../core/support/errors.js';
import { openInput } from '../../../../core/support/input-file.js';

/**
 * Returns the first bytes of a stream, at least `size` of them if there are so many, and the rest.
 */
export async function peek(
  bytes: AsyncIterable<Buffer>,
  size: number,
): Promise<{ head: Buffer; rest: AsyncIterable<Buffer> }> {
  const iterator = bytes[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < size) {
    const next = await iterator.next();
    if (next.done) break;
    head = head.length === 0 ? next.value : Buffer.concat([head, next.value]);
  }
  return { head, rest: { [Symbol.asyncIterator]: () => iterator } };
}

/** The opposite of `peek`. */
export async function* join(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  yield* rest;
}

const gzipMagic = Buffer.from([0x1f, 0x8b]);
/** The first bytes of files that look like tables to a user. */
const notText: readonly (readonly [magic: Buffer, kind: string])[] = [
  [Buffer.from('PK\u0003\u0004'), 'an Excel workbook or another zip file'],
  [Buffer.from([0xd0, 0xcf, 0x11, 0xe0]), 'an Excel workbook'],
  [Buffer.from('%PDF-'), 'a PDF'],
];

/**
 * Unpacks the bytes of a gzip file, whatever its name; returns all others unchanged.
 *
 * @throws InvalidInputError, also for a spreadsheet
 */
export async function* decompress(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const { head, rest } = await peek(bytes, 4);
  const startsWith = (magic: Buffer) => head.subarray(0, magic.length).equals(magic);
  const [, kind] = notText.find(([magic]) => startsWith(magic)) ?? [];
  if (kind !== undefined) {
    throw new InvalidInputError(`the input is ${kind}, not text`, {
      hint: 'Save the sheet as "CSV UTF-8 (comma delimited)", and give that file.',
    });
  }
  const whole = join(head, rest);
  yield* startsWith(gzipMagic) ? gunzip(whole) : whole;
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
    const fault = code === 'Z_BUF_ERROR' ? 'ends in the middle' : 'is damaged';
    throw new InvalidInputError(`the gzip file ${fault}`, {
      hint: 'Copy or pack it again.',
      cause: error,
    });
  }
}

/** The bytes that contain rows. */
export interface Input {
  /** Its name in messages. */
  readonly name: string;
  /**
   * The size when it was opened, in bytes; `null` for a stream, which can be read once and has no
   * known end.
   */
  readonly size: number | null;
  /** In bytes; `null` for a stream. */
  sizeNow(): Promise<number | null>;
  /**
   * Reads from the start: a file each time it is called, in chunks of one size but for the last.
   *
   * @throws InvalidInputError if it cannot be read
   */
  read(): AsyncIterable<Buffer>;
  /** The share of it that the latest `read` has read, 0 to 1; `null` for a stream. */
  share(): number | null;
  /** Also ends a read that has begun. */
  close(): Promise<void>;
}

/**
 * Size of a chunk. While rows are checked so fast, larger ones outlive the young generation, and
 * accumulate.
 */
export const inputChunkBytes = 16 * 1024;

/**
 * A file, up to its present length: what others append while it is read is ignored. A pipe is a
 * stream.
 *
 * @throws InvalidInputError, also for a device, and a named pipe that no process writes to
 */
export async function openFile(path: string): Promise<Input> {
  let handle: FileHandle;
  try {
    // A writer that waits for its reader would be cut off if the pipe were opened twice.
    if (statSync(path).isFIFO()) return openStream(await openInput(path), path);
    handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    throw unreadable(path, error);
  }
  const stat = await handle.stat();
  if (!stat.isFile()) {
    await handle.close();
    throw new InvalidInputError(
      `${quoteName(path)} is a ${stat.isDirectory() ? 'folder' : 'device'}, not a file`,
    );
  }
  const { size } = stat;
  let position = 0;
  return {
    name: path,
    size,
    sizeNow: async () => (await handle.stat()).size,
    async *read() {
      position = 0;
      while (position < size) {
        const chunk = await readChunk(
          handle,
          position,
          Math.min(inputChunkBytes, size - position),
          path,
        );
        if (chunk.length === 0) return;
        position += chunk.length;
        yield chunk;
      }
    },
    share: () => position / Math.max(1, size),
    close: () => handle.close(),
  };
}

/** A stream such as standard input. */
export function openStream(stream: Readable, name: string): Input {
  return {
    name,
    size: null,
    sizeNow: async () => null,
    async *read() {
      try {
        for await (const chunk of stream) yield chunk as Buffer;
      } catch (error) {
        throw unreadable(name, error);
      }
    },
    share: () => null,
    async close() {
      stream.destroy();
    },
  };
}

/** Reads that many bytes, or the rest of the file. */
async function readChunk(
  handle: FileHandle,
  start: number,
  size: number,
  path: string,
): Promise<Buffer> {
  const chunk = Buffer.allocUnsafeSlow(size);
  let filled = 0;
  try {
    while (filled < size) {
      const { bytesRead } = await handle.read(chunk, filled, size - filled, start + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
  } catch (error) {
    throw unreadable(path, error);
  }
  return chunk.subarray(0, filled);
}

/** A file cannot be read. */
export function unreadable(path: string, error: unknown): InvalidInputError {
  return new InvalidInputError(`${quoteName(path)} cannot be read: ${describeSystemError(error)}`, {
    cause: error,
  });
}
