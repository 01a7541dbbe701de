const hidden = '<secret>';

/**
 * The app secret of §5.2, in the only type that may hold it: every print, log, inspection or serialization shows
 * `<secret>`. Only code that computes a digest or writes the profile file calls `reveal`.
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
