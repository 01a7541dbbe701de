import type { Writable } from 'node:stream';

/** Where results lines go. */
export interface ResultsSink {
  /** In bytes. */
  readonly size: number;
  /** Whether what was written can be read again when a run is gone on with. */
  readonly canBeRead: boolean;
  append(text: string): void;
  /** Whether it has too much to take already; `onRoom` is called when it has not any more. */
  isFull(onRoom: () => void): boolean;
  /** Returns when all is where it belongs, whatever happens to the machine. */
  sync(): void;
  close(): void;
}

/** Results for a stream, such as standard output, which is left open; `show` is what it gets of each text. */
export function streamSink(stream: Writable, show = (text: string) => text): ResultsSink {
  let size = 0;
  let isAwaited = false;
  return {
    get size() {
      return size;
    },
    canBeRead: false,
    append(text) {
      size += Buffer.byteLength(text);
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
    sync() {},
    close() {},
  };
}
