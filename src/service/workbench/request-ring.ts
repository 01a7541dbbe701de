import type { Parameters } from '../../core/contract/parameters.js';
import type { AnsweredEvent, SignatureRejectedEvent } from '../log.js';
import type { RejectedSignature } from '../rejection.js';
import type { App } from '../store/apps.js';

/**
 * How many requests are kept, and how many refused ones besides: a load of good ones does not push
 * them out.
 */
export const keptRequests = 200;

/** Maximum length of kept parameters and of a kept rejected request, in characters. */
const maxKeptLength = 4000;

export interface Rejection {
  readonly explained: SignatureRejectedEvent;
  /** The rejected request as sent: never to be shown. `null` if it is too long. */
  readonly rejected: RejectedSignature | null;
}

/** The parameters as sent: to be shown only masked. */
export interface SentParameters {
  readonly parameters: Parameters;
  /** The app that the request names; `null` if it is unknown. */
  readonly app: App | null;
}

/** An answered request, as in the log. */
export interface RecentRequest {
  /** Counts the requests from 1. */
  readonly serial: number;
  /** When it was answered, in milliseconds since 1970. */
  readonly time: number;
  readonly event: AnsweredEvent;
  readonly rejection: Rejection | null;
  /** `null` if the request was not parsed, or is too long. */
  readonly sent: SentParameters | null;
}

/** The last answered requests. Adding one is cheap: it is analyzed when somebody looks at it. */
export class RequestRing {
  /** Identifies this run of the service. */
  readonly run: string;
  readonly #now: () => number;
  readonly #kept: RecentRequest[] = [];
  readonly #refused: RecentRequest[] = [];
  /** The serial of the last request; 0 before the first one. */
  #last = 0;
  #refusedCount = 0;

  /** `now` returns milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now;
    this.run = now().toString(36);
  }

  add(event: AnsweredEvent, rejection: Rejection | null, sent: SentParameters | null): void {
    this.#last += 1;
    const request: RecentRequest = {
      serial: this.#last,
      time: this.#now(),
      event,
      rejection: rejection && shorten(rejection),
      sent: sent !== null && lengthOf(sent.parameters) <= maxKeptLength ? sent : null,
    };
    this.#kept[this.#last % keptRequests] = request;
    if (event.means === 'ok') return;
    this.#refusedCount += 1;
    this.#refused[this.#refusedCount % keptRequests] = request;
  }

  /** The kept requests after the one with that serial, the last one first. */
  after(serial: number): RecentRequest[] {
    // `flat` leaves out the places that are not filled yet.
    const kept = [...new Set([this.#kept, this.#refused].flat())];
    return kept.filter((request) => request.serial > serial).sort((a, b) => b.serial - a.serial);
  }
}

function shorten({ explained, rejected }: Rejection): Rejection {
  return {
    // A copy: a substring can keep the whole text in memory.
    explained: structuredClone(explained),
    rejected:
      rejected !== null && lengthOf(rejected.request.parameters) <= maxKeptLength ? rejected : null,
  };
}

function lengthOf(parameters: Parameters): number {
  let sum = 0;
  for (const [name, value] of parameters) sum += name.length + value.length;
  return sum;
}
