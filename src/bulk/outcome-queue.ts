import type { EngineListener } from './engine/row-engine.js';
import type { RowOutcome } from './outcome.js';

/** How many outcomes may wait for whoever takes them, before no more rows are sent. */
const maxWaiting = 1024;

/** Hands the outcomes of an engine out one by one, in the order in which they came. */
export class OutcomeQueue<Row> implements EngineListener<Row> {
  #outcomes: RowOutcome<Row>[] = [];
  #wake: () => void = () => {};
  #isOver = false;

  onOutcome(outcome: RowOutcome<Row>): void {
    this.#outcomes.push(outcome);
    this.#wake();
  }

  isFull(): boolean {
    return this.#outcomes.length >= maxWaiting;
  }

  /** No more will come. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** All that is there, and what comes; `onTaken` is called after each time that some were taken. */
  async *take(onTaken: () => void): AsyncGenerator<RowOutcome<Row>> {
    for (;;) {
      const outcomes = this.#outcomes;
      this.#outcomes = [];
      if (outcomes.length > 0) {
        yield* outcomes;
        onTaken();
      } else if (this.#isOver) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
