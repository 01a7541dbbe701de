import type { Sample } from '../request.js';
import { type CapturedRequest, toSample } from './captured-request.js';

/** A text that may hold requests. */
export interface GivenText {
  readonly text: string;
  /** Its JSON; undefined where it is none. */
  readonly json: unknown;
  /** The name of the signature. */
  readonly signParam: string;
  /** Whether the caller gave that name: it goes before the one in a sample file. */
  readonly isNamed: boolean;
}

/** A request in a text. */
export interface FoundRequest {
  /** Its place, such as `entry 3`; null if it is all of the text. */
  readonly place: string | null;
  /** @throws SampleError where it cannot be read */
  read(): Sample;
}

/** A form in which tools write requests. */
export interface SampleFormat {
  /** A noun for it, with its article. */
  readonly name: string;
  /** The tools that write it, or what it looks like. */
  readonly from: string;
  /** The requests in a text; none where the text has another format. */
  find(given: GivenText): FoundRequest[];
}

/** A request that is read only when it is wanted: the others in the text may be incomplete. */
export function found(place: string | null, signParam: string, read: () => CapturedRequest): FoundRequest {
  return { place, read: () => ({ ...toSample(read(), signParam), secret: null }) };
}

/** The requests of a text, each read by itself; numbered if there are several, such as `command 2`. */
export function foundAll<T>(
  noun: string,
  parts: readonly T[],
  signParam: string,
  read: (part: T) => CapturedRequest,
): FoundRequest[] {
  const placeOf = (index: number) => (parts.length === 1 ? null : `${noun} ${index + 1}`);
  return parts.map((part, index) => found(placeOf(index), signParam, () => read(part)));
}
