import manifest from '../../../package.json' with { type: 'json' };
import { formContentType } from '../../core/contract/endpoints.js';
import { InvalidInputError, quoteName } from '../../core/contract/errors.js';
import { checkHeaderNames, checkHeaderValue } from '../../core/platform/headers.js';
import { Secret } from '../../core/signing/secret.js';
import { isPromise } from '../../core/signing/signer.js';
import type { HeaderProvider, UserInfoClientOptions } from './options.js';
import { fetchFrom, notProvided } from './renewed-value.js';

/** The option `headers`: a value, or a function that returns it, by the name of the header. */
type HeaderOptions = NonNullable<UserInfoClientOptions['headers']>;

/** Returns the headers of every request; a promise if a function of the caller returns one. */
type HeaderFetch = (isRefused: boolean) => RequestHeaders | Promise<RequestHeaders>;

/**
 * The headers of every request; `needed` are the names of those that the platform needs.
 *
 * @returns the headers, or a function that returns them with the values of functions
 * @throws InvalidInputError for a header that is needed and has no value
 */
export function headerSource(
  needed: readonly string[],
  options: HeaderOptions,
): RequestHeaders | HeaderFetch {
  checkHeaderNames(Object.keys(options), 'the option headers');
  refuseMissing(needed, Object.keys(options));
  const fixed = new Map<string, string>();
  const providers = new Map<string, HeaderProvider>();
  for (const [name, value] of Object.entries(options)) {
    if (typeof value === 'function') providers.set(name, value);
    else fixed.set(name.toLowerCase(), headerText(name, value));
  }
  if (providers.size === 0) return new RequestHeaders(fixed);
  const names = [...providers.keys()].map((name) => name.toLowerCase());
  const withValues = (values: readonly string[]) => {
    const provided = names.map((name, index) => [name, values[index] ?? ''] as const);
    return new RequestHeaders(new Map([...fixed, ...provided]));
  };
  return (isRefused) => {
    const values = [...providers].map(([name, provide]) => fetchHeader(name, provide, isRefused));
    if (values.some(isPromise)) return Promise.all(values).then(withValues);
    return withValues(values as string[]);
  };
}

/** @throws InvalidInputError for a header that the platform needs and that is not set */
function refuseMissing(needed: readonly string[], names: readonly string[]): void {
  const lowerCase = names.map((name) => name.toLowerCase());
  const missing = needed.find((name) => !lowerCase.includes(name.toLowerCase()));
  if (missing === undefined) return;
  throw new InvalidInputError(`the platform needs the header ${missing}`, {
    hint: `Give its value in the option headers: {${JSON.stringify(missing)}: value}.`,
  });
}

/**
 * Fetches the value of a header from its function.
 *
 * @throws NoAnswerError with the reason `secret`, as its promise does
 */
function fetchHeader(
  name: string,
  provide: HeaderProvider,
  isRefused: boolean,
): string | Promise<string> {
  const functionName = `the function of the header ${name.toLowerCase()}`;
  const parse = (value: unknown) => {
    try {
      return headerText(name, value);
    } catch (cause) {
      const hint = 'Its error is the cause; try again when it returns the value.';
      throw notProvided(functionName, 'returned no value of a header', hint, cause);
    }
  };
  return fetchFrom(functionName, () => provide(isRefused), parse);
}

/**
 * The headers of one call or run, by their names in lower case.
 *
 * @throws InvalidInputError for an invalid name or value, or a name that is there twice
 */
export function callHeaders(
  options: Readonly<Record<string, string | Secret>> = {},
): ReadonlyMap<string, string> {
  checkHeaderNames(Object.keys(options), 'the option headers');
  const entries = Object.entries(options);
  return new Map(entries.map(([name, value]) => [name.toLowerCase(), headerText(name, value)]));
}

/** @throws InvalidInputError for a value that is neither text nor a Secret, or is not valid */
function headerText(name: string, value: unknown): string {
  const label = `the option headers: ${quoteName(name)}`;
  const text = value instanceof Secret ? value.reveal() : value;
  if (typeof text !== 'string')
    throw new InvalidInputError(`${label} is neither text nor a function`);
  return checkHeaderValue(text, label);
}

/**
 * Answers are read as they are: without a content encoding. Protection services may refuse requests
 * without a `User-Agent`.
 */
const usualHeaders = {
  accept: 'application/json',
  'accept-encoding': 'identity',
  'user-agent': `userinfo/${manifest.version}`,
};

/** Minimum length of a value that is hidden, in characters: shorter ones are words. */
const shortestHidden = 8;

/**
 * The headers of requests: names and values alternating, which undici processes faster than an
 * object.
 */
export class RequestHeaders {
  /** The headers besides those of every client, by their names in lower case. */
  readonly additional: ReadonlyMap<string, string>;
  /** All headers of a request without a form, names and values alternating. */
  readonly withoutForm: string[];
  /** All headers of a request with a form, names and values alternating. */
  readonly withForm: string[];

  constructor(additional: ReadonlyMap<string, string>) {
    this.additional = additional;
    this.withoutForm = [...new Map([...Object.entries(usualHeaders), ...additional])].flat();
    this.withForm = [...this.withoutForm, 'content-type', formContentType];
  }

  /** These headers with those of a call or run, which take precedence. */
  with(headersOfCall: ReadonlyMap<string, string> | undefined): RequestHeaders {
    if (headersOfCall === undefined || headersOfCall.size === 0) return this;
    return new RequestHeaders(new Map([...this.additional, ...headersOfCall]));
  }

  /** Hides their values in a text of an answer: gateways repeat the key that they refuse. */
  readonly hide = (text: string): string =>
    [...this.additional.values()]
      .flatMap((value) => value.split(' '))
      .filter((value) => value.length >= shortestHidden)
      .reduce((shown, value) => shown.replaceAll(value, '…'), text);
}
