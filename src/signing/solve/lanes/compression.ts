import {
  add,
  type Code,
  gather,
  get,
  type Local,
  load,
  set,
  store,
  swapBytes,
  unsigned,
} from './vector-code.js';

/** How many messages are digested side by side. */
export const laneCount = 4;

/** How many bytes of a message are taken in at once. */
export const blockBytes = 64;

/** What digests of blocks of 64 bytes and words of 32 bits differ in. */
export interface Rounds {
  /** The state before the first block. */
  readonly initial: readonly number[];
  /** Whether the highest byte of a word comes first. */
  readonly bigEndian: boolean;
  /** What is done to the state by the words of a block. `scratch` is for who needs it. */
  readonly code: (state: readonly Local[], words: readonly Local[], scratch: Local) => readonly Code[];
}

const wordCount = blockBytes / 4;

/** What the function takes: where the states stand, and where the blocks do. */
const statePointer: Local = 0;
const pointers: readonly Local[] = Array.from({ length: laneCount }, (_, lane) => lane + 1);
const parameters = [statePointer, ...pointers];

/**
 * A WebAssembly module with one function, `compress`: takes the blocks at four addresses, one of each message, into the
 * states at another, where the first words of all four stand together, then the second ones.
 */
export function compressionModule({ initial, bigEndian, code }: Rounds): Uint8Array<ArrayBuffer> {
  const words = Array.from({ length: wordCount }, (_, index) => parameters.length + index);
  const state = initial.map((_, index) => parameters.length + wordCount + index);
  const scratch = parameters.length + wordCount + state.length;
  const statements = [
    ...words.map((word, index) => set(word, gather(pointers, index * 4))),
    ...(bigEndian ? words.map((word) => set(word, swapBytes(word))) : []),
    ...state.map((local, index) => set(local, load(statePointer, index * 16))),
    ...code(state, words, scratch),
    ...state.map((local, index) =>
      store(statePointer, index * 16, add(get(local), load(statePointer, index * 16))),
    ),
  ];
  return moduleOf(statements.flat(), wordCount + state.length + 1);
}

/** The module around the code of its function: what it has, in the order of the standard's binary format. */
function moduleOf(code: Code, vectors: number): Uint8Array<ArrayBuffer> {
  const body = [1, ...unsigned(vectors), 0x7b, ...code, 0x0b];
  return Uint8Array.from([
    ...[0, ...Buffer.from('asm'), 1, 0, 0, 0],
    ...section(1, [1, 0x60, parameters.length, ...parameters.map(() => 0x7f), 0]),
    ...section(2, [1, ...text('lanes'), ...text('memory'), 2, 0, 1]),
    ...section(3, [1, 0]),
    ...section(7, [1, ...text('compress'), 0, 0]),
    ...section(10, [1, ...unsigned(body.length), ...body]),
  ]);
}

function section(id: number, content: Code): Code {
  return [id, ...unsigned(content.length), ...content];
}

function text(name: string): Code {
  return [name.length, ...Buffer.from(name)];
}
