import { configureGlobal } from 'fast-check';

// One seed for all random values of the tests, so that a run can be repeated. vitest.config.ts draws
// it, unless the environment has one: many runs, not many cases of one, find what is rare.
const seed = Number(process.env.USERINFO_TEST_SEED);
configureGlobal({ seed, numRuns: 50 });

/** Draws numbers from 0 to 1, the same for a name in each run with the same seed. */
export function randomOf(name: string): () => number {
  let state = [...name].reduce(
    (hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 16_777_619),
    seed | 0,
  );
  // mulberry32
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
