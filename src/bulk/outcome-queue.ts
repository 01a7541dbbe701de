import type { EngineListener } from './engine/engine-options.js';
import type { RowOutcome } from './outcome.js';

/** How many outcomes may wait for whoever takes them, before no more rows are sent. */
const maxWaiting = 1024;

/** Hands the outcomes of an engine out, in the order in which they came. */
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

  /** All that is there, as soon as there is something; `null` where no more will come. */
  async takeAll(): Promise<readonly RowOutcome<Row>[] | null> {
    while (this.#outcomes.length === 0) {
      if (this.#isOver) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const outcomes = this.#outcomes;
    this.#outcomes = [];
    return outcomes;
  }
}
