import type { PlainRequest } from '../../client/request.js';
import type { Attempt } from '../../client/sender.js';
import type { SignedRequest } from '../../client/transport.js';
import type { SignedRow } from './prepared-row.js';

/** A request that was signed ahead is good for so long, in milliseconds: as its `timestamp` is in seconds (§5.4). */
const signedForMs = 1_000;

/** A row that has no outcome yet. Times are in milliseconds. */
export class Flight<Row> {
  readonly row: Row;
  readonly size: number;
  /** Unsigned; `null` where it was not needed yet. */
  request: PlainRequest | null = null;
  /** What names the row's user, once that is known; rows of one user are sent in their order. */
  user: string | null = null;
  /** How often it was sent. */
  sent = 0;
  /** Of those, how many count towards the attempts that are allowed. */
  attempts = 0;
  startedAt = 0;
  /** Where it stands among those in flight. */
  place = 0;
  /** When it may be sent again. */
  dueAt = 0;
  /** How many answers the run had when the row was throttled, or met nobody, last. */
  waitsSince = -1;
  pending: Attempt | null = null;
  #signed: SignedRow | null = null;
  /** Since 1970. */
  #signedAt = 0;

  constructor(row: Row, size: number) {
    this.row = row;
    this.size = size;
  }

  /** What was signed ahead, and not sent yet. */
  get signed(): SignedRow | null {
    return this.#signed;
  }

  /** Keeps what was signed ahead of the first attempt, unless that was made already. `signedAt` is the earliest it can be. */
  keepSigned(signed: SignedRow, signedAt: number): void {
    if (this.sent > 0) return;
    this.#signed = signed;
    this.#signedAt = signedAt;
  }

  /** What was signed ahead, once, and where that is as good as signed now. */
  takeSigned(now: number): SignedRequest | null {
    const signed = this.#signed;
    this.#signed = null;
    return signed !== null && Math.abs(now - this.#signedAt) < signedForMs ? signed.request : null;
  }
}
