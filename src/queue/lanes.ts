import { crc32 } from 'node:zlib';
import { type FlatValue, formatFlatJson } from '../protocol/user-info.js';

/**
 * Where a chunk stands: the rows of one user are all in one lane, and the chunks of a lane are done one after the
 * other, so that the last of them wins.
 */
export interface ChunkPlace {
  readonly lane: number;
  /** In its lane, counted from 0. */
  readonly chunk: number;
}

/** A chunk that is to be added to a run. */
export interface FilledChunk extends ChunkPlace {
  /** Its rows, as `formatQueuedRow` writes them. */
  readonly body: string;
}

/** A row as the queue holds it: where it stood in the input, and its values as flat JSON. */
export interface QueuedRow {
  readonly line: number;
  readonly json: string;
}

/** A row of a chunk's body. */
export function formatQueuedRow(line: number, fields: ReadonlyMap<string, FlatValue>): string {
  return `${line} ${formatFlatJson(fields)}\n`;
}

/** The rows of a chunk's body. */
export function parseChunk(body: string): QueuedRow[] {
  const rows = body.split('\n').slice(0, -1);
  return rows.map((row) => {
    const end = row.indexOf(' ');
    return { line: Number(row.slice(0, end)), json: row.slice(end + 1) };
  });
}

const firstSize = 16 * 1024;

/**
 * Text that grows row by row and is taken as a whole. Rows wait here by the ten thousand: as bytes they are no work
 * for the garbage collector.
 */
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

  /** All of it; it is empty then. */
  take(): string {
    const text = this.#bytes.toString('utf8', 0, this.#length);
    this.#length = 0;
    return text;
  }
}

/** As many chunks of a run can be done at once, */
const maxLanes = 64;
/** where it has rows enough: so many for each. */
const leastLaneRows = 100;
/** A chunk is full with so many rows, */
const chunkRows = 1000;
/** or so many bytes. */
const chunkLength = 256 * 1024;

interface Lane {
  chunk: number;
  rows: number;
  readonly body: RowBuffer;
}

/** Cuts the rows of a run into chunks, those of one user in their order. */
export class Lanes {
  readonly #lanes: Lane[];

  /** `rows` is how many there will be. */
  constructor(rows: number) {
    const count = Math.min(maxLanes, Math.max(1, Math.ceil(rows / leastLaneRows)));
    this.#lanes = Array.from({ length: count }, () => ({ chunk: 0, rows: 0, body: new RowBuffer() }));
  }

  /** Adds a row, as `formatQueuedRow` writes it; gives its chunk where that is full. `user` is whose row it is. */
  add(user: string, row: string): FilledChunk | null {
    const index = crc32(user) % this.#lanes.length;
    const lane = this.#lanes[index];
    if (lane === undefined) throw new RangeError(`there is no lane ${index}`);
    lane.body.add(row);
    lane.rows += 1;
    const isFull = lane.rows >= chunkRows || lane.body.length >= chunkLength;
    return isFull ? takeChunk(index, lane) : null;
  }

  /** The chunks that are not full, when all rows are there. */
  *rest(): Generator<FilledChunk> {
    for (const [index, lane] of this.#lanes.entries()) if (lane.rows > 0) yield takeChunk(index, lane);
  }

  /** Those that have chunks. */
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
