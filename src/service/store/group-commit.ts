import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { StoreUnavailableError } from '../../database/errors.js';
import { sharedTransactions } from '../../database/sql-driver.js';
import { pauses } from '../../support/fair-queue.js';

/** Maximum number of requests in a group. */
const maxGroup = 64;

/** Maximum number of groups of one app and operation under way: while they run, the next one fills. */
const maxUnderWay = 2;

/** The same if the next one is full. */
const maxUnderWayIfFull = 4;

/** Maximum number of waiting requests of one app and operation: further ones are refused. */
const maxWaiting = 16 * maxGroup;

/** Maximum wait for a group or for a locked row, in milliseconds. */
const maxWaitMs = 5000;

/** Maximum number of requests of one app and operation that wait for the same row while another transaction has it. */
const maxLockedOut = maxGroup;

/** Pause before rows that were locked are tried again, in milliseconds: twice as long each time, up to the longest. */
const firstPauseMs = 2;
const longestPauseMs = 64;

/** The outcome of a request whose row another transaction has locked: nothing of it was stored. */
export const rowLocked: unique symbol = Symbol('row locked');

/** A row stayed locked by another transaction, such as one of an SQL program. The database itself is well. */
export class RowLockedError extends StoreUnavailableError {
  constructor() {
    super('the record of the user, or the code, stays locked by another transaction', {
      hint: 'End that transaction: pg_blocking_pids and pg_stat_activity show who has it.',
    });
  }
}

/** A request that waits for its outcome. */
interface Waiting<Request, Outcome> {
  readonly request: Request;
  readonly claims: Claims;
  /** By the monotonic clock. */
  readonly since: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/** The resources that a request needs for itself. */
interface Claims {
  /** No other request of its group, or of a group under way, has one of them. */
  readonly alone: readonly string[];
  /** The row that it locks: requests for one row share a group, and no other group under way has it. */
  readonly row: string;
}

/**
 * Forms groups of the requests that arrive in one turn of the event loop, or while other groups are under way. A
 * request whose row another transaction has locked leaves its group, and is tried again beside the groups: nobody else
 * waits.
 */
export class Groups<Request, Outcome> {
  #waiting: Waiting<Request, Outcome>[] = [];
  #underWay = 0;
  /** The claims of the groups under way. */
  readonly #claimed = new Set<string>();
  /** Requests whose rows were locked, and for each row their number, those that are tried again included. */
  #lockedOut: Waiting<Request, Outcome>[] = [];
  readonly #lockedRows = new Map<string, number>();
  #isTrying = false;
  readonly #claimsOf: (request: Request) => Claims;
  readonly #run: (requests: readonly Request[]) => Promise<readonly (Outcome | typeof rowLocked)[]>;

  constructor(
    claimsOf: (request: Request) => Claims,
    run: (requests: readonly Request[]) => Promise<readonly (Outcome | typeof rowLocked)[]>,
  ) {
    this.#claimsOf = claimsOf;
    this.#run = run;
  }

  add(request: Request): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const claims = this.#claimsOf(request);
      const waiting = { request, claims, since: performance.now(), resolve, reject };
      if (this.#lockedRows.has(claims.row)) {
        this.#lockOut(waiting);
        return;
      }
      if (this.#waiting.length >= maxWaiting) {
        reject(new StoreUnavailableError('the database is too slow for the load'));
        return;
      }
      this.#waiting.push(waiting);
      if (this.#waiting.length === 1) void nextTurn().then(() => this.#start());
    });
  }

  #start(): void {
    while (this.#underWay < (this.#waiting.length < maxGroup ? maxUnderWay : maxUnderWayIfFull)) {
      const tooLate = () => new StoreUnavailableError('the database did not answer in time');
      const { group, left } = this.#take(this.#waiting, tooLate);
      this.#waiting = left;
      if (group.length === 0) return;
      this.#underWay += 1;
      void this.#carryOut(group).then((locked) => {
        this.#underWay -= 1;
        for (const waiting of locked) this.#lockOut(waiting);
        this.#start();
      });
    }
  }

  /** The first requests that may be under way now, and the others; those that waited too long are refused. */
  #take(from: readonly Waiting<Request, Outcome>[], tooLate: () => StoreUnavailableError) {
    const taken = new Set<string>();
    const group: Waiting<Request, Outcome>[] = [];
    const left: Waiting<Request, Outcome>[] = [];
    const oldest = performance.now() - maxWaitMs;
    for (const waiting of from) {
      if (waiting.since < oldest) {
        waiting.reject(tooLate());
        continue;
      }
      const { alone, row } = waiting.claims;
      const isClaimed = [...alone, row].some((key) => this.#claimed.has(key));
      if (group.length >= maxGroup || isClaimed || alone.some((key) => taken.has(key))) {
        left.push(waiting);
        continue;
      }
      for (const key of alone) taken.add(key);
      group.push(waiting);
    }
    return { group, left };
  }

  /** Keeps a request until its row is free. */
  #lockOut(waiting: Waiting<Request, Outcome>): void {
    const { row } = waiting.claims;
    const count = this.#lockedRows.get(row) ?? 0;
    if (count >= maxLockedOut || this.#lockedOut.length >= maxWaiting) {
      waiting.reject(new RowLockedError());
      return;
    }
    this.#lockedRows.set(row, count + 1);
    this.#lockedOut.push(waiting);
    if (!this.#isTrying) void this.#tryLocked();
  }

  /** Tries the requests of locked rows again, beside the groups, until there are none. */
  async #tryLocked(): Promise<void> {
    this.#isTrying = true;
    for (let pauseMs = firstPauseMs; this.#lockedOut.length > 0; ) {
      await wait(pauseMs);
      const { group, left } = this.#take(this.#lockedOut, () => new RowLockedError());
      this.#lockedOut = left;
      const locked = group.length === 0 ? [] : await this.#carryOut(group);
      // Behind the others: a long list is tried in turn.
      this.#lockedOut.push(...locked);
      this.#lockedRows.clear();
      for (const { claims } of this.#lockedOut) {
        this.#lockedRows.set(claims.row, (this.#lockedRows.get(claims.row) ?? 0) + 1);
      }
      pauseMs = locked.length < group.length ? firstPauseMs : Math.min(2 * pauseMs, longestPauseMs);
      this.#start();
    }
    this.#isTrying = false;
  }

  /**
   * Returns the requests whose rows were locked. Never rejects. If a group fails because of one of its requests, each
   * is carried out by itself.
   */
  async #carryOut(group: readonly Waiting<Request, Outcome>[]): Promise<Waiting<Request, Outcome>[]> {
    const claimed = group.flatMap(({ claims }) => [...claims.alone, claims.row]);
    for (const key of claimed) this.#claimed.add(key);
    const locked: Waiting<Request, Outcome>[] = [];
    try {
      const outcomes = await this.#run(group.map(({ request }) => request));
      sharedTransactions.publish(group.length);
      const pause = pauses();
      for (const [index, waiting] of group.entries()) {
        const outcome = outcomes[index] as Outcome | typeof rowLocked;
        if (outcome === rowLocked) locked.push(waiting);
        else waiting.resolve(outcome);
        await pause();
      }
    } catch (error) {
      if (group.length > 1 && !(error instanceof StoreUnavailableError)) {
        for (const waiting of group) locked.push(...(await this.#carryOut([waiting])));
      } else {
        for (const { reject } of group) reject(error);
      }
    } finally {
      for (const key of claimed) this.#claimed.delete(key);
    }
    return locked;
  }
}
