import { crc32 } from 'node:zlib';
import type { FilledChunk } from './chunk.js';
import { RowBuffer } from './row-buffer.js';

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
