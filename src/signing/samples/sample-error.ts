/** A text that is no request, or one with a part that cannot be read. Its message shows no value of the text. */
export class SampleError extends Error {
  readonly code = 'INVALID_SAMPLE';
  /** What to do next: one sentence. */
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.name = new.target.name;
    this.hint = hint;
  }
}
