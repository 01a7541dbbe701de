import { InvalidInputError } from '../protocol/errors.js';
import { checkFields } from '../protocol/fields.js';
import { maxSeconds } from '../protocol/limits.js';
import { quoteName } from '../protocol/unsafe-text.js';

/**
 * The value of a header, or where it is: in an environment variable, or in the output of a command, which a profile
 * alone may name. `expires` is how long that output is good for, in seconds: then the command is run again. It is
 * anyway after the service has refused the caller.
 *
 * @example
 * const key: HeaderSource = { env: 'GATEWAY_KEY' };
 */
export type HeaderSource =
  | string
  | { readonly env: string }
  | { readonly command: string; readonly expires?: number };

/**
 * Headers by name.
 *
 * @example
 * const headers: HeaderSources = { Authorization: { env: 'TEST_GATEWAY_BASIC' }, 'X-Region': 'cn-east' };
 */
export type HeaderSources = Readonly<Record<string, HeaderSource>>;

/** RFC 9110 §5.6.2. */
const token = /^[\w!#$%&'*+.^`|~-]{1,100}$/;

/** RFC 9110 §5.5, without what is older than it: text beyond ASCII has no one meaning in a header. */
const valueForm = /^[!-~](?:[ \t!-~]*[!-~])?$/;

/** Headers that HTTP, the connection or the reading of an answer needs. */
const reserved = [
  'host',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'te',
  'trailer',
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'upgrade',
  'expect',
  'accept',
  'accept-encoding',
  'range',
];

/** @throws InvalidInputError for a name that is none, or that HTTP needs; it begins with `label` */
export function checkHeaderName(name: string, label: string): void {
  if (!token.test(name))
    throw new InvalidInputError(`${label}: ${quoteName(name)} is not the name of a header`);
  if (!reserved.includes(name.toLowerCase())) return;
  throw new InvalidInputError(`${label}: ${name} cannot be set: HTTP or the answer needs it as it is`);
}

/** @throws InvalidInputError for a value that HTTP cannot carry, without the value; it begins with `label` */
export function checkHeaderValue(value: string, label: string): string {
  if (valueForm.test(value) && value.length <= 8192) return value;
  throw new InvalidInputError(`${label} is not the value of a header: printable ASCII, no line break`, {
    hint: 'Basic authentication is "Basic " and the base64 of user:password.',
  });
}

/** @throws InvalidInputError that begins with `label` and names the header */
export function parseHeaderSources(json: unknown, label: string): HeaderSources {
  const seen = new Set<string>();
  const entries = Object.entries(checkFields(json, label)).map(([name, source]) => {
    checkHeaderName(name, label);
    if (seen.has(name.toLowerCase())) throw new InvalidInputError(`${label}: ${name} is given twice`);
    seen.add(name.toLowerCase());
    return [name, parseHeaderSource(source, `${label}: ${name}`)] as const;
  });
  return Object.fromEntries(entries);
}

function parseHeaderSource(json: unknown, label: string): HeaderSource {
  if (typeof json === 'string') return checkHeaderValue(json, label);
  const hint =
    'Write the value as text, or where it is: {"env": "NAME"} or {"command": "…", "expires": 3600}.';
  const { env, command, expires } = checkFields(json, label, ['env', 'command', 'expires'], hint);
  const isSeconds = Number.isSafeInteger(expires) && Number(expires) >= 1 && Number(expires) <= maxSeconds;
  if (expires !== undefined && !(isSeconds && command !== undefined))
    throw new InvalidInputError(`${label}: expires is not the seconds from 1 to ${maxSeconds} of a command`);
  if (typeof env === 'string' && command === undefined && /^[A-Za-z_][A-Za-z0-9_]*$/.test(env))
    return { env };
  if (typeof command === 'string' && env === undefined && command !== '')
    return isSeconds ? { command, expires: Number(expires) } : { command };
  throw new InvalidInputError(`${label} is neither a value nor the name of a variable or a command`, {
    hint,
  });
}

/** The place of the value of a header, for messages; never the value. */
export function describeHeaderSource(source: HeaderSource): string {
  if (typeof source === 'string') return 'set';
  return 'env' in source ? `from the variable ${source.env}` : 'from the output of a command';
}
