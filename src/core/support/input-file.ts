import {
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  openSync,
  readlinkSync,
  readSync,
} from 'node:fs';
import type { Readable } from 'node:stream';
import { isSystemError, UnsuitableFileError } from './errors.js';
import { withoutUndefined } from './without-undefined.js';

/** Maximum size of a file that is read as a whole, in bytes. */
const maxBytes = 16 * 1024 * 1024;
/** Maximum time until a process opens a named pipe to write to it, in milliseconds. */
const writerMs = 10_000;

/**
 * Reads a regular file of 16 MiB at most.
 *
 * @throws UnsuitableFileError for a device, a pipe, a folder or a larger file; system errors
 */
export function readInputFile(path: string): Buffer {
  const { fd, isPipe } = openWithoutWait(path);
  if (!isPipe) return readAll(fd);
  closeSync(fd);
  throw new UnsuitableFileError('it is a pipe, not a file');
}

/**
 * Reads a stream, a regular file, or a pipe to its end, as of `<(command)`; 16 MiB at most.
 *
 * @throws as `readInputFile` and `openInput`
 */
export async function readInput(source: string | Readable, signal?: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const stream = typeof source === 'string' ? await openInput(source, signal) : source;
  for await (const chunk of stream) {
    size += chunk.length;
    requireSize(size);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Opens a regular file or a pipe of any size. A named pipe is waited for until a process writes to
 * it, for `waitMs` milliseconds at most.
 *
 * @throws UnsuitableFileError for a device or a folder, or if no process writes to the pipe; system
 * errors; AbortError
 */
export async function openInput(
  path: string,
  signal?: AbortSignal,
  waitMs = writerMs,
): Promise<Readable> {
  const { fd, isPipe } = openWithoutWait(path);
  if (isPipe) return openPipe(fd, signal, waitMs);
  return createReadStream('', withoutUndefined({ fd, signal }));
}

/** Opening never waits, as it otherwise would for a pipe without a writer, or for some devices. */
function openWithoutWait(path: string): { readonly fd: number; readonly isPipe: boolean } {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  const stat = fstatSync(fd);
  if (stat.isFile() || stat.isFIFO()) return { fd, isPipe: stat.isFIFO() };
  closeSync(fd);
  throw new UnsuitableFileError(`it is a ${stat.isDirectory() ? 'folder' : 'device'}`);
}

/**
 * Reads to the end, not only what the system says is the size: of a file in /proc, that is 0.
 * Closes the file.
 */
function readAll(fd: number): Buffer {
  try {
    requireSize(fstatSync(fd).size);
    const chunks: Buffer[] = [];
    for (let size = 0; ; ) {
      const chunk = Buffer.allocUnsafe(65_536);
      const read = readSync(fd, chunk);
      if (read === 0) return Buffer.concat(chunks);
      size += read;
      requireSize(size);
      chunks.push(chunk.subarray(0, read));
    }
  } finally {
    closeSync(fd);
  }
}

function requireSize(bytes: number): void {
  if (bytes > maxBytes) throw new UnsuitableFileError('it is larger than 16 MiB');
}

async function openPipe(
  fd: number,
  signal: AbortSignal | undefined,
  waitMs: number,
): Promise<Readable> {
  try {
    const head = await untilWritten(fd, signal, waitMs);
    const { Socket } = process.getBuiltinModule('node:net');
    const options = withoutUndefined({ fd, readable: true, writable: false, signal });
    const socket = new Socket(options);
    if (head.length > 0) socket.unshift(head);
    return socket;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/**
 * Waits until a process has the pipe open to write to it; returns what was read of it meanwhile.
 */
async function untilWritten(
  fd: number,
  signal: AbortSignal | undefined,
  waitMs: number,
): Promise<Buffer> {
  const { setTimeout: sleep } = process.getBuiltinModule('node:timers/promises');
  const head = Buffer.alloc(1);
  for (const began = performance.now(); ; ) {
    try {
      const read = readSync(fd, head);
      if (read > 0 || isUnnamed(fd)) return head.subarray(0, read);
    } catch (error) {
      if (isSystemError(error, 'EAGAIN')) return head.subarray(0, 0);
      throw error;
    }
    if (performance.now() - began > waitMs)
      throw new UnsuitableFileError('no process writes to the pipe');
    await sleep(20, undefined, withoutUndefined({ signal }));
  }
}

/**
 * Whether nobody can open a pipe any more to write to it: it is that of `<(command)`, not one of
 * `mkfifo`.
 */
function isUnnamed(fd: number): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`).startsWith('pipe:');
  } catch {
    return false;
  }
}
