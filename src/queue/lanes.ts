import { crc32 } from 'node:zlib';
import { type FlatValue, formatFlatJson } from '../protocol/user-info.js';

/**
 * The place of a chunk: all rows of one user are in one lane, and the chunks of a lane are done one after the
 * other, so that the last row of a user wins.
 */
export interface ChunkPlace {
  readonly lane: number;
  /** In its lane, counted from 0. */
  readonly chunk: number;
}

/** A chunk to be added to a run. */
export interface FilledChunk extends ChunkPlace {
  /** Its rows, as `formatQueuedRow` writes them. */
  readonly body: string;
}

/** A row in the queue: its line in the input, and its values as flat JSON. */
export interface QueuedRow {
  readonly line: number;
  readonly json: string;
}

/** Formats a row of a chunk's body. */
export function formatQueuedRow(line: number, fields: ReadonlyMap<string, FlatValue>): string {
  return `${line} ${formatFlatJson(fields)}\n`;
}

/** Parses the rows of a chunk's body. */
export function parseChunk(body: string): QueuedRow[] {
  const rows = body.split('\n').slice(0, -1);
  return rows.map((row) => {
    const end = row.indexOf(' ');
    return { line: Number(row.slice(0, end)), json: row.slice(end + 1) };
  });
}

const firstSize = 16 * 1024;

/** Text that grows row by row. Tens of thousands of rows wait here: as bytes they cost no garbage collection. */
class RowBuffer {
  #bytes = Buffer.alloc(firstSize);
  #length = 0;

  /** In bytes. */
  get length(): number {
    return this.#length;
  }

  add(row: string): void {
    const needed = this.#length + Buffer.byteLength(row);
    if (needed > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(needed, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    this.#length += this.#bytes.write(row, this.#length);
  }

  /** Returns all of it, and empties the buffer. */
  take(): string {
    const text = this.#bytes.toString('utf8', 0, this.#length);
    this.#length = 0;
    return text;
  }
}

/** Maximum number of chunks of a run that can be done at once, */
const maxLanes = 64;
/** if each lane has at least this many rows. */
const leastLaneRows = 100;
/** A chunk is full with this many rows, */
const chunkRows = 1000;
/** or this many bytes. */
const chunkLength = 256 * 1024;

interface Lane {
  chunk: number;
  rows: number;
  readonly body: RowBuffer;
}

/** Divides the rows of a run into chunks, and keeps the order of the rows of each user. */
export class Lanes {
  readonly #lanes: Lane[];

  /** `rows` is how many rows there will be. */
  constructor(rows: number) {
    const count = Math.min(maxLanes, Math.max(1, Math.ceil(rows / leastLaneRows)));
    this.#lanes = Array.from({ length: count }, () => ({ chunk: 0, rows: 0, body: new RowBuffer() }));
  }

  /** Adds a row of `user`, as `formatQueuedRow` writes it; returns its chunk if that is full. */
  add(user: string, row: string): FilledChunk | null {
    const index = crc32(user) % this.#lanes.length;
    const lane = this.#lanes[index];
    if (lane === undefined) throw new RangeError(`there is no lane ${index}`);
    lane.body.add(row);
    lane.rows += 1;
    const isFull = lane.rows >= chunkRows || lane.body.length >= chunkLength;
    return isFull ? takeChunk(index, lane) : null;
  }

  /** The chunks that are not full, after the last row. */
  *rest(): Generator<FilledChunk> {
    for (const [index, lane] of this.#lanes.entries()) if (lane.rows > 0) yield takeChunk(index, lane);
  }

  /** The lanes that have chunks. */
  get used(): number[] {
    return [...this.#lanes.keys()].filter((index) => (this.#lanes[index]?.chunk ?? 0) > 0);
  }
}

function takeChunk(index: number, lane: Lane): FilledChunk {
  const { chunk } = lane;
  lane.chunk += 1;
  lane.rows = 0;
  return { lane: index, chunk, body: lane.body.take() };
}
