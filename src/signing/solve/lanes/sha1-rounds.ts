import type { Rounds } from './compression.js';
import { turned } from './turned.js';
import {
  add,
  and,
  type Code,
  choose,
  constant,
  get,
  type Local,
  or,
  rotateLeft,
  set,
  xor,
} from './vector-code.js';

/** One of the four rounds: what mixes the words of the state, and what is added. */
interface Round {
  readonly mix: (b: Code, c: Code, d: Code) => Code;
  readonly added: number;
}

const rounds: readonly Round[] = [
  { mix: (b, c, d) => choose(b, c, d), added: 0x5a827999 },
  { mix: (b, c, d) => xor(b, c, d), added: 0x6ed9eba1 },
  { mix: (b, c, d) => or(and(b, c), and(or(b, c), d)), added: 0x8f1bbcdc },
  { mix: (b, c, d) => xor(b, c, d), added: 0xca62c1d6 },
];

/** SHA-1 (FIPS 180-4, 6.1.3: the words of the schedule take each other's place). */
export const sha1Rounds: Rounds = {
  initial: [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0],
  bigEndian: true,
  code: (state, words, scratch) =>
    rounds.flatMap((round, index) =>
      Array.from({ length: 20 }, (_, step) => stepOf(round, index * 20 + step, state, words, scratch)),
    ),
};

function stepOf(
  { mix, added }: Round,
  step: number,
  state: readonly Local[],
  words: readonly Local[],
  scratch: Local,
): Code {
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = turned(state, step);
  const word = (at: number) => words[at % 16] ?? 0;
  const [now, ...before] = [step, step + 13, step + 8, step + 2].map((at) => get(word(at))) as [
    Code,
    ...Code[],
  ];
  const schedule = step < 16 ? [] : set(word(step), rotateLeft(xor(now, ...before), 1, scratch));
  const mixed = mix(get(b), get(c), get(d));
  const sum = add(get(e), now, constant(added), mixed, rotateLeft(get(a), 5, scratch));
  return [...schedule, ...set(e, sum), ...set(b, rotateLeft(get(b), 30, scratch))];
}
