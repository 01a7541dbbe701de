import { SeededRandom } from './seeded-random.js';

/** What goes wrong on purpose, so that a client can be tested. Shares are of all requests, 0 to 1. */
export interface FaultSettings {
  /** How long a request waits before anything is done with it, in milliseconds. */
  readonly latencyMs?: { readonly min: number; readonly max: number };
  /** The share that is answered with 50001, and not carried out. */
  readonly error?: number;
  /** The share whose connection is closed before anything is done. */
  readonly reset?: number;
  /** The share that is carried out, and whose connection is closed in place of an answer. */
  readonly dropAfterCommit?: number;
  /** How far the service's clock is ahead, in seconds; behind where it is negative. */
  readonly skewSeconds?: number;
  /** The same faults in the same order for the same seed, a whole number. */
  readonly seed: number;
}

/** What happens to one request. */
export interface Fault {
  readonly delayMs: number;
  readonly kind: 'none' | 'error' | 'reset' | 'drop after commit';
}

/** Draws what happens to each request, as it comes. */
export class Faults {
  readonly #settings: FaultSettings;
  readonly #random: SeededRandom;

  constructor(settings: FaultSettings) {
    this.#settings = settings;
    this.#random = new SeededRandom(settings.seed);
  }

  draw(): Fault {
    const { latencyMs = { min: 0, max: 0 }, error = 0, reset = 0, dropAfterCommit = 0 } = this.#settings;
    // Both are drawn for every request, so that one fault does not move the others.
    const delayMs = latencyMs.min + this.#random.next() * (latencyMs.max - latencyMs.min);
    const lot = this.#random.next();
    return { delayMs, kind: kindOf(lot, error, reset, dropAfterCommit) };
  }
}

function kindOf(lot: number, error: number, reset: number, drop: number): Fault['kind'] {
  if (lot < error) return 'error';
  if (lot < error + reset) return 'reset';
  return lot < error + reset + drop ? 'drop after commit' : 'none';
}
