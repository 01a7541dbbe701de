import { readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { unreadable } from '../source/input.js';

/** The contents of a file: how many bytes, and their CRC-32. */
export interface Contents {
  readonly size: number;
  readonly crc: number;
}

export const noContents: Contents = { size: 0, crc: 0 };

export function isSame(a: Contents, b: Contents): boolean {
  return a.size === b.size && a.crc === b.crc;
}

/** Maximum size of one read, in bytes. */
export const chunkBytes = 65_536;

/** The contents of an open file up to `end`; those up to `start` are known. */
export function readContents(
  path: string,
  fd: number,
  start: Contents,
  end = Number.POSITIVE_INFINITY,
): Contents {
  const chunk = Buffer.alloc(chunkBytes);
  let { size, crc } = start;
  try {
    while (size < end) {
      const bytes = readSync(fd, chunk, 0, Math.min(chunk.length, end - size), size);
      if (bytes === 0) break;
      size += bytes;
      crc = crc32(chunk.subarray(0, bytes), crc);
    }
  } catch (error) {
    throw unreadable(path, error);
  }
  return { size, crc };
}
