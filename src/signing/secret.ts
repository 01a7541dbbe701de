const hidden = '<secret>';

/**
 * The app secret of §5.2, in the one type that may hold it: whatever prints, logs, inspects or serializes
 * it shows `<secret>`. Only the code that computes a digest, or writes the profile file, calls `reveal`.
 */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The secret itself. Every call is a place to audit. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return hidden;
  }

  toJSON(): string {
    return hidden;
  }

  [Symbol.toPrimitive](): string {
    return hidden;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return hidden;
  }
}
