import { setImmediate as nextTurn } from 'node:timers/promises';

/** Time of work before the event loop runs, in milliseconds; a piece of work that has begun is finished. */
export const turnMs = 10;

/** The same after `shortenNext`, in milliseconds. */
const shortTurnMs = 1;

/** The least that an item counts, in milliseconds: no clock may be too coarse for it. */
const leastMs = 0.001;

interface Flow<Item> {
  /** The first `taken` of them are no longer in the queue: `shift` of a long array moves all others. */
  readonly items: Item[];
  taken: number;
  /** The time that its work has taken, in milliseconds, on a clock that all flows share. */
  spent: number;
}

/**
 * A queue for each flow, such as the requests of an app. The next item is of the flow whose items took the least time
 * (start-time fair queueing, Goyal, Vin and Cheng 1996): many or long items delay those of other flows by one item.
 */
export class FairQueue<Item> {
  readonly #flows = new Map<string, Flow<Item>>();
  #length = 0;
  /** `spent` of the flow that was last served, when it was: a flow that comes back begins there. */
  #clock = 0;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(name: string, item: Item): void {
    const flow = this.#flows.get(name) ?? { items: [], taken: 0, spent: this.#clock };
    if (flow.items.length === 0) flow.spent = Math.max(flow.spent, this.#clock);
    flow.items.push(item);
    this.#flows.set(name, flow);
    this.#length += 1;
  }

  /** Takes the next item, if there is one, and counts the time until the work with it ends. */
  async serve(work: (item: Item) => Promise<void>): Promise<void> {
    const flow = this.#next();
    if (flow === undefined) return;
    const item = flow.items[flow.taken] as Item;
    flow.taken += 1;
    if (2 * flow.taken >= flow.items.length) {
      flow.items.splice(0, flow.taken);
      flow.taken = 0;
    }
    this.#length -= 1;
    this.#clock = flow.spent;
    const begun = performance.now();
    await work(item);
    flow.spent += Math.max(leastMs, performance.now() - begun);
  }

  /** Removes all items. */
  drain(): Item[] {
    const items = [...this.#flows.values()].flatMap((flow) => {
      const left = flow.items.splice(0).slice(flow.taken);
      flow.taken = 0;
      return left;
    });
    this.#length = 0;
    return items;
  }

  #next(): Flow<Item> | undefined {
    let next: Flow<Item> | undefined;
    for (const [name, flow] of this.#flows) {
      if (flow.items.length > 0) {
        if (next === undefined || flow.spent < next.spent) next = flow;
      } else if (flow.spent <= this.#clock) this.#flows.delete(name);
    }
    return next;
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

/** Starts work at once, until `turnMs` of a turn of the event loop are over; what is left waits in a fair queue. */
export class Turns {
  readonly #waiting = new FairQueue<() => void>();
  #isRunning = false;
  /** When the work of this turn of the event loop is over; `null` until some begins. */
  #end: number | null = null;
  #nextMs = turnMs;

  /**
   * Makes the next turn a short one. Call it for each new connection, since Node accepts one in a turn of the event loop and
   * others may wait; and for work that must not delay the answers of a database, which are received between two turns.
   */
  shortenNext(): void {
    this.#nextMs = shortTurnMs;
  }

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
        this.#end = performance.now() + this.#nextMs;
        this.#nextMs = turnMs;
        setImmediate(() => {
          this.#end = null;
        });
      } else if (performance.now() >= this.#end) {
        await nextTurn();
        continue;
      }
      await this.#waiting.serve(async (begin) => {
        begin();
        await microtasks();
      });
    }
    this.#isRunning = false;
  }
}
