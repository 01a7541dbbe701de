import type { CapturedRequest, Sample } from './captured-request.js';

export interface CapturedText {
  readonly text: string;
  /** Its JSON; undefined where it is none. */
  readonly json: unknown;
}

export interface FoundRequest {
  /** Where the text has the request, such as `entry 3`; null if it is all of the text. */
  readonly location: string | null;
  /** The status of the answer, where the text has it. */
  readonly status?: number | undefined;
  /**
   * Reads it, only when it is wanted: the others in the text may be incomplete.
   *
   * @returns a sample where the text names the signature and the secret itself
   * @throws SampleError where it cannot be read
   */
  read(): CapturedRequest | Sample;
}

/** A form in which tools write requests. */
export interface SampleFormat {
  /** A noun for it, with its article. */
  readonly name: string;
  /** The tools that write it, or what it looks like. */
  readonly from: string;
  /** The requests in a text; none where the text has another format. */
  find(captured: CapturedText): FoundRequest[];
}
