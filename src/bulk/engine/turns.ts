/** Node.js takes a longer timer for one of 1 ms. */
const longestTimerMs = 2 ** 31 - 1;

/** Calls a function at the end of a turn of the event loop, once however often it is asked for. */
export class Turns {
  readonly #onTurn: () => void;
  #isDue = false;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(onTurn: () => void) {
    this.#onTurn = onTurn;
  }

  /** Whether a call is due at the end of this turn. */
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

  /** After `ms` milliseconds; replaces the time that was asked for before. */
  later(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.soon(), Math.min(longestTimerMs, Math.max(1, ms)));
  }

  /** No more calls. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }
}
