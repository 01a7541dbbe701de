/** Node.js takes a longer timer for one of 1 ms. */
const longestTimerMs = 2 ** 31 - 1;

/** Has something done once what happens in a turn of the event loop is known, however often that is asked for. */
export class Turns {
  readonly #onTurn: () => void;
  #isDue = false;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(onTurn: () => void) {
    this.#onTurn = onTurn;
  }

  /** Whether one is about to come. */
  get isDue(): boolean {
    return this.#isDue;
  }

  /** At the end of this turn. */
  soon(): void {
    if (this.#isDue || this.#isClosed) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      if (!this.#isClosed) this.#onTurn();
    });
  }

  /** After so many milliseconds, and not when it was asked for before. */
  later(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.soon(), Math.min(longestTimerMs, Math.max(1, ms)));
  }

  /** None comes any more. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }
}
