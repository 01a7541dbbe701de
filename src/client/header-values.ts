import { checkHeaderName, checkHeaderValue } from '../platform/headers.js';
import { InvalidInputError } from '../protocol/errors.js';
import { quoteName } from '../protocol/unsafe-text.js';
import { Secret } from '../signing/secret.js';
import { isPromise } from '../signing/signer.js';
import type { HeaderProvider, UserInfoClientOptions } from './options.js';
import { callProvider, notProvided } from './renewed-value.js';
import { RequestHeaders } from './wire-request.js';

type GivenHeaders = NonNullable<UserInfoClientOptions['headers']>;

/**
 * The headers of every request; `needed` are the names of those that the platform needs.
 *
 * @returns the headers, or a function that returns them with the values of functions
 * @throws InvalidInputError for a header that is needed and is not given
 */
export function headerSource(
  needed: readonly string[],
  given: GivenHeaders,
): RequestHeaders | ((isRefused: boolean) => RequestHeaders | Promise<RequestHeaders>) {
  const functions = new Map<string, HeaderProvider>();
  const fixed = new Map<string, string>();
  for (const [name, value] of Object.entries(given)) {
    const key = newName(name, (key) => fixed.has(key) || functions.has(key));
    if (typeof value === 'function') functions.set(key, value);
    else fixed.set(key, textOf(name, value));
  }
  const missing = needed.find((name) => !fixed.has(name.toLowerCase()) && !functions.has(name.toLowerCase()));
  if (missing !== undefined) {
    throw new InvalidInputError(`the platform needs the header ${missing}`, {
      hint: `Give its value in the option headers: {${JSON.stringify(missing)}: value}.`,
    });
  }
  if (functions.size === 0) return new RequestHeaders(fixed);
  const names = [...functions.keys()];
  const withValues = (values: readonly string[]) =>
    new RequestHeaders(
      new Map([...fixed, ...names.map((name, index) => [name, values[index] ?? ''] as const)]),
    );
  return (isRefused) => {
    const values = [...functions].map(([name, provide]) => {
      const what = `the function of the header ${name}`;
      const parse = (value: unknown) => {
        try {
          return textOf(name, value);
        } catch (cause) {
          const hint = 'Its error is the cause; try again when it returns the value.';
          throw notProvided(what, 'returned no value of a header', hint, cause);
        }
      };
      return callProvider(what, () => provide(isRefused), parse);
    });
    return values.some(isPromise) ? Promise.all(values).then(withValues) : withValues(values as string[]);
  };
}

/**
 * The headers of one call or run, by their names in lower case.
 *
 * @throws InvalidInputError
 */
export function callHeaders(
  given: Readonly<Record<string, string | Secret>> = {},
): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(given))
    headers.set(
      newName(name, (key) => headers.has(key)),
      textOf(name, value),
    );
  return headers;
}

/** The name of a header in lower case; `isThere` says whether it was given before. */
function newName(name: string, isThere: (key: string) => boolean): string {
  checkHeaderName(name, 'the option headers');
  const key = name.toLowerCase();
  if (isThere(key)) throw new InvalidInputError(`the option headers: ${quoteName(name)} is given twice`);
  return key;
}

function textOf(name: string, value: unknown): string {
  const label = `the option headers: ${quoteName(name)}`;
  const text = value instanceof Secret ? value.reveal() : value;
  if (typeof text !== 'string') throw new InvalidInputError(`${label} is neither text nor a function`);
  return checkHeaderValue(text, label);
}
