import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long work goes on before the event loop runs, in milliseconds; a piece of work that has begun is finished. */
export const turnMs = 10;

/**
 * A queue for each flow, such as the requests of an app, whose turns come one after the other (round robin): before an
 * item there are the items that are earlier in its own flow, and for each of them one of every other flow.
 */
export class RoundRobin<Item> {
  /** None is empty; the first one is next. */
  readonly #queues = new Map<string, Item[]>();

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  add(flow: string, item: Item): void {
    const queue = this.#queues.get(flow);
    if (queue === undefined) this.#queues.set(flow, [item]);
    else queue.push(item);
  }

  take(): Item | undefined {
    for (const [flow, queue] of this.#queues) {
      const item = queue.shift();
      this.#queues.delete(flow);
      if (queue.length > 0) this.#queues.set(flow, queue);
      return item;
    }
    return undefined;
  }
}

/**
 * Returns what work calls between its pieces: first everything that waits for a promise runs, then, once `turnMs` have
 * passed, the event loop.
 */
export function pauses(): () => Promise<void> {
  let end = performance.now() + turnMs;
  return async () => {
    await microtasks();
    if (performance.now() < end) return;
    await nextTurn();
    end = performance.now() + turnMs;
  };
}

/** Resolves after the microtasks that there are, and those that they cause. */
function microtasks(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/** Starts work at once, until `turnMs` of a turn of the event loop are over; what is left begins flow by flow. */
export class Turns {
  readonly #waiting = new RoundRobin<() => void>();
  #isRunning = false;
  /** When the work of this turn of the event loop is over; `null` until some begins. */
  #end: number | null = null;

  /** Starts work in the turn of its flow. What follows its first wait for something outside has no turn. */
  run<T>(flow: string, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve) => {
      this.#waiting.add(flow, () => resolve(work()));
      if (!this.#isRunning) void this.#start();
    });
  }

  async #start(): Promise<void> {
    this.#isRunning = true;
    while (!this.#waiting.isEmpty) {
      if (this.#end === null) {
        this.#end = performance.now() + turnMs;
        setImmediate(() => {
          this.#end = null;
        });
      } else if (performance.now() >= this.#end) {
        await nextTurn();
        continue;
      }
      this.#waiting.take()?.();
      await microtasks();
    }
    this.#isRunning = false;
  }
}
