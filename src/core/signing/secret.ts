import { UserInfoError } from '../support/errors.js';

/** The text shown in place of a secret. */
export const secretLabel = '<secret>';

/**
 * Symbol that every copy of this package shares, so that each recognizes the secrets of the others.
 */
const brand: unique symbol = Symbol.for('userinfo-exchange.Secret');

/** A text that cannot be a secret. */
class SecretError extends UserInfoError {
  /** @internal */
  static override readonly name: string = 'SecretError';
  readonly code = 'CREDENTIALS';
}

/**
 * The app secret of §5.2, in the only type that may hold it: every print, log, inspection or
 * serialization shows `<secret>`. Only code that computes a digest or writes the profile file calls
 * `reveal`.
 *
 * `instanceof` also recognizes a Secret of another copy of this package, such as a bundled one.
 *
 * @example
 * const secret = new Secret('s3cret');
 * String(secret); // '<secret>'
 * secret.reveal(); // 's3cret'
 */
export class Secret {
  readonly #text: string;

  /** @throws SecretError for `<secret>`, the text that a Secret shows in place of itself */
  constructor(text: string) {
    if (text === secretLabel) {
      throw new SecretError(
        `${secretLabel} is what a secret shows in place of itself, not a secret`,
        {
          hint: 'Give the secret itself; of a Secret, reveal() returns it.',
        },
      );
    }
    this.#text = text;
  }

  static [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && brand in value;
  }

  /** @hidden */
  get [brand](): true {
    return true;
  }

  /** The secret itself. Every call is a place to audit. */
  reveal(): string {
    return this.#text;
  }

  /** `<secret>`, not the secret. */
  toString(): string {
    return secretLabel;
  }

  /** `<secret>`, not the secret. */
  toJSON(): string {
    return secretLabel;
  }

  [Symbol.toPrimitive](): string {
    return secretLabel;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return secretLabel;
  }
}
