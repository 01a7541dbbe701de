import type { Rounds } from './compression.js';
import { turned } from './turned.js';
import {
  add,
  type Code,
  choose,
  constant,
  get,
  type Local,
  not,
  or,
  rotateLeft,
  set,
  xor,
} from './vector-code.js';

/** One of the four rounds: what mixes the words of the state, which word of the block comes when, and the shifts. */
interface Round {
  readonly mix: (b: Code, c: Code, d: Code) => Code;
  readonly word: (step: number) => number;
  readonly shifts: readonly number[];
}

const rounds: readonly Round[] = [
  { mix: (b, c, d) => choose(b, c, d), word: (step) => step, shifts: [7, 12, 17, 22] },
  { mix: (b, c, d) => choose(d, b, c), word: (step) => 5 * step + 1, shifts: [5, 9, 14, 20] },
  { mix: (b, c, d) => xor(b, c, d), word: (step) => 3 * step + 5, shifts: [4, 11, 16, 23] },
  { mix: (b, c, d) => xor(or(not(d), b), c), word: (step) => 7 * step, shifts: [6, 10, 15, 21] },
];

/** MD5 (RFC 1321, 3.4). */
export const md5Rounds: Rounds = {
  initial: [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476],
  bigEndian: false,
  code: (state, words, scratch) =>
    rounds.flatMap((round, index) =>
      Array.from({ length: 16 }, (_, step) => stepOf(round, index * 16 + step, state, words, scratch)),
    ),
};

function stepOf(
  { mix, word, shifts }: Round,
  step: number,
  state: readonly Local[],
  words: readonly Local[],
  scratch: Local,
): Code {
  const [a = 0, b = 0, c = 0, d = 0] = turned(state, step);
  const sine = Math.floor(Math.abs(Math.sin(step + 1)) * 2 ** 32);
  const sum = add(get(a), get(words[word(step) % 16] ?? 0), constant(sine), mix(get(b), get(c), get(d)));
  return set(a, add(rotateLeft(sum, shifts[step % 4] ?? 0, scratch), get(b)));
}
