import { type FileHandle, open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';

/** Bytes that rows are read from. */
export interface Input {
  /** What messages call it. */
  readonly name: string;
  /** When it was opened, in bytes; `null` for a stream, which can be read once and has no end that is known. */
  readonly size: number | null;
  /** In bytes; `null` for a stream. */
  sizeNow(): Promise<number | null>;
  /**
   * From the start: of a file, each time it is called, and so many bytes at a time. Throws an InvalidInputError where
   * it cannot be read.
   */
  read(partBytes?: number): AsyncIterable<Buffer>;
  /** Ends a read that has begun, too. */
  close(): Promise<void>;
}

/** As Node has it: smaller parts slow a run down. */
const usualPartBytes = 64 * 1024;

/**
 * A file, as long as it is now: what others append while it is read is left out. A named pipe or a device is taken
 * for a stream. Throws an InvalidInputError.
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
