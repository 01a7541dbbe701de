/** So many attempts in a row that met nobody are no accident. */
const missesToPause = 5;
/** For how long nobody may answer, in milliseconds: where nobody has yet, the address is likely to be wrong. */
const patienceMs = { before: 3_000, after: 30_000 } as const;

/** Whether there is a service at all at the other end. Times are milliseconds. */
export class Reachability {
  #misses = 0;
  #answeredAt: number | null = null;
  readonly #startedAt: number;

  constructor(now: number) {
    this.#startedAt = now;
  }

  onAnswer(now: number): void {
    this.#misses = 0;
    this.#answeredAt = now;
  }

  /** No connection, or something else than the service answered. */
  onMiss(): void {
    this.#misses += 1;
  }

  get isLost(): boolean {
    return this.#misses >= missesToPause;
  }

  /** Whether it has been away for so long that going on makes no sense. */
  isGivenUp(now: number): boolean {
    if (!this.isLost) return false;
    const patience = this.#answeredAt === null ? patienceMs.before : patienceMs.after;
    return now - (this.#answeredAt ?? this.#startedAt) > patience;
  }
}
