/** A text that is not a request, or has a part that cannot be read. The message contains no value from the text. */
export class SampleError extends Error {
  readonly code = 'INVALID_SAMPLE';
  /** The next action, in one sentence. */
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.name = new.target.name;
    this.hint = hint;
  }
}
