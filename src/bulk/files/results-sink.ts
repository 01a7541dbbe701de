import type { Writable } from 'node:stream';

/** Where results lines go. */
export interface ResultsSink {
  append(text: string): void;
  /** Whether it has too much to take already; `onRoom` is called when it has not any more. */
  isFull(onRoom: () => void): boolean;
  /** Returns when all is on the disk, and is found there under its name. */
  syncWithName(): void;
  /** Throws a RunFileError where another program touched what was written. */
  requireUntouched(): void;
  close(): void;
}

/** Results for a stream, such as standard output, which is left open; `show` is what it gets of each text. */
export function streamSink(stream: Writable, show = (text: string) => text): ResultsSink {
  let isAwaited = false;
  return {
    append(text) {
      stream.write(show(text));
    },
    isFull(onRoom) {
      if (!stream.writableNeedDrain) return false;
      if (!isAwaited) {
        isAwaited = true;
        stream.once('drain', () => {
          isAwaited = false;
          onRoom();
        });
      }
      return true;
    },
    syncWithName() {},
    requireUntouched() {},
    close() {},
  };
}
