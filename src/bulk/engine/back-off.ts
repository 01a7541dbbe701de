const firstMs = 100;
const longestMs = 5_000;

/** How long to hold everything back: longer with each time in a row, with jitter; milliseconds. */
export class BackOff {
  readonly #random: () => number;
  readonly #longestMs: number;
  #times = 0;

  constructor(random: () => number, longest = longestMs) {
    this.#random = random;
    this.#longestMs = longest;
  }

  next(): number {
    const limit = Math.min(this.#longestMs, firstMs * 2 ** this.#times);
    this.#times += 1;
    return limit * (0.5 + this.#random() / 2);
  }

  /** All is well again. */
  reset(): void {
    this.#times = 0;
  }
}
