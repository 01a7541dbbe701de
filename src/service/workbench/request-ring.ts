import type { RequestEvent, SignatureRejectedEvent } from '../log.js';
import type { RejectedSignature } from '../rejection.js';

/** So many requests are kept, the last ones. */
export const keptRequests = 200;

/** A rejected request that is longer than this, in characters, is not kept: its explanation is. */
const maxKeptLength = 4000;

/** Why a signature was found wrong. */
export interface Rejection {
  readonly explained: SignatureRejectedEvent;
  /** What was judged, as it was sent: never to be shown. `null` where it is too long to be kept. */
  readonly rejected: RejectedSignature | null;
}

/** A request that was answered, as the log tells it. */
export interface RecentRequest {
  /** Counts the requests from 1. */
  readonly serial: number;
  /** When it was answered, in milliseconds since 1970. */
  readonly time: number;
  readonly event: RequestEvent;
  readonly rejection: Rejection | null;
}

/** The last requests that a service answered. To add one costs next to nothing: it is worked up when it is looked at. */
export class RequestRing {
  /** Tells this run of the service from another one. */
  readonly run: string;
  readonly #now: () => number;
  readonly #kept: RecentRequest[] = [];
  #last = 0;

  /** `now` gives milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now;
    this.run = now().toString(36);
  }

  /** The serial of the last request; 0 before the first one. */
  get last(): number {
    return this.#last;
  }

  add(event: RequestEvent, rejection: Rejection | null): void {
    this.#last += 1;
    this.#kept[this.#last % keptRequests] = {
      serial: this.#last,
      time: this.#now(),
      event,
      rejection: rejection && shorten(rejection),
    };
  }

  /** Those that came after the one with that serial and are still kept, the last one first. */
  after(serial: number): RecentRequest[] {
    return this.#kept.filter((kept) => kept.serial > serial).sort((a, b) => b.serial - a.serial);
  }
}

function shorten({ explained, rejected }: Rejection): Rejection {
  return {
    // A copy: a piece of a text can keep all of it in memory.
    explained: structuredClone(explained),
    rejected: rejected !== null && lengthOf(rejected) <= maxKeptLength ? rejected : null,
  };
}

function lengthOf({ request: { signable } }: RejectedSignature): number {
  const { url, params, body } = signable;
  return params.reduce(
    (sum, [name, value]) => sum + name.length + value.length,
    url.length + (body?.length ?? 0),
  );
}
