import { InvalidInputError, quoteName } from '../../core/contract/errors.js';
import { checkHeaderNames, checkHeaderValue } from '../../core/platform/headers.js';
import { Secret } from '../../core/signing/secret.js';
import { isPromise } from '../../core/signing/signer.js';
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
  const headers = distinct(given);
  const names = headers.map(([name]) => name.toLowerCase());
  const missing = needed.find((name) => !names.includes(name.toLowerCase()));
  if (missing !== undefined) {
    throw new InvalidInputError(`the platform needs the header ${missing}`, {
      hint: `Give its value in the option headers: {${JSON.stringify(missing)}: value}.`,
    });
  }
  const isFunction = (header: readonly [string, unknown]): header is [string, HeaderProvider] =>
    typeof header[1] === 'function';
  const functions = headers.filter(isFunction);
  const fixed = texts(headers.filter((header) => !isFunction(header)));
  if (functions.length === 0) return new RequestHeaders(fixed);
  const withValues = (values: readonly string[]) =>
    new RequestHeaders(
      new Map([
        ...fixed,
        ...functions.map(([name], index) => [name.toLowerCase(), values[index] ?? ''] as const),
      ]),
    );
  return (isRefused) => {
    const values = functions.map(([name, provide]) => {
      const what = `the function of the header ${name.toLowerCase()}`;
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
    return values.some(isPromise)
      ? Promise.all(values).then(withValues)
      : withValues(values as string[]);
  };
}

/**
 * The headers of one call or run, by their names in lower case.
 *
 * @throws InvalidInputError
 */
export function callHeaders(given: GivenHeaders = {}): ReadonlyMap<string, string> {
  return texts(distinct(given));
}

/** @throws InvalidInputError for the name of no header, or one that is given twice */
function distinct(given: GivenHeaders): (readonly [name: string, value: GivenHeaders[string]])[] {
  checkHeaderNames(Object.keys(given), 'the option headers');
  return Object.entries(given);
}

function texts(headers: readonly (readonly [name: string, value: unknown])[]): Map<string, string> {
  return new Map(headers.map(([name, value]) => [name.toLowerCase(), textOf(name, value)]));
}

function textOf(name: string, value: unknown): string {
  const label = `the option headers: ${quoteName(name)}`;
  const text = value instanceof Secret ? value.reveal() : value;
  if (typeof text !== 'string')
    throw new InvalidInputError(`${label} is neither text nor a function`);
  return checkHeaderValue(text, label);
}
