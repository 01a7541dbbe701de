import { InvalidInputError } from '../contract/errors.js';
import { maxSeconds } from '../contract/limits.js';
import { checkFields } from '../contract/members.js';
import { checkHeaderNames, checkHeaderValue } from '../platform/headers.js';
import type { Secret } from '../signing/secret.js';
import type { EnvironmentVariables } from '../support/shell.js';
import { readSecret } from './secret-source.js';

/**
 * The value of a header, or where it is: in an environment variable, or in the output of a command.
 * `expires` is how long that output is good for, in seconds; after it the command is run again. The
 * command is also run again after the service has refused the caller.
 */
export type HeaderSource = string | { readonly env: string } | CommandSource;

interface CommandSource {
  readonly command: string;
  /** In seconds. */
  readonly expires?: number;
}

/** Headers of every request of a profile, by name. */
export type HeaderSources = Readonly<Record<string, HeaderSource>>;

/** @throws InvalidInputError that begins with `label` and names the header */
export function parseHeaderSources(json: unknown, label: string): HeaderSources {
  const sources = checkFields(json, label);
  checkHeaderNames(Object.keys(sources), label);
  const entries = Object.entries(sources).map(
    ([name, source]) => [name, parseHeaderSource(source, `${label}.${name}`)] as const,
  );
  return Object.fromEntries(entries);
}

function parseHeaderSource(json: unknown, label: string): HeaderSource {
  if (typeof json === 'string') return checkHeaderValue(json, label);
  const { env, command, expires } = checkFields(json, label, ['env', 'command', 'expires']);
  const isSeconds =
    Number.isSafeInteger(expires) && Number(expires) >= 1 && Number(expires) <= maxSeconds;
  if (expires !== undefined && !(isSeconds && command !== undefined))
    throw new InvalidInputError(
      `${label}: expires must be a number of seconds from 1 to ${maxSeconds}, and only a command has it`,
    );
  if (typeof env === 'string' && command === undefined && /^[A-Za-z_][A-Za-z0-9_]*$/.test(env))
    return { env };
  if (typeof command === 'string' && env === undefined && command !== '') {
    if (expires === undefined) return { command };
    return { command, expires: Number(expires) };
  }
  throw new InvalidInputError(
    `${label} is neither a value nor the name of a variable or a command`,
  );
}

const optionPattern = /^([^=]*)=(?:(env|command(?:,expires=(\d{1,10}))?):)?(.*)$/s;

/**
 * Headers as options give them: `X-Key=env:KEY`, `X-Key=command:pass gateway`,
 * `X-Key=command,expires=3600:token` or `X-Region=cn-east`; `X-Key=` takes one away from `current`.
 *
 * @throws InvalidInputError
 */
export function editHeaders(current: HeaderSources, options: readonly string[]): HeaderSources {
  const sources = new Map(Object.entries(current));
  for (const option of options) {
    const [, name, kind, expires, value = ''] = optionPattern.exec(option) ?? [];
    if (name === undefined) {
      throw new InvalidInputError('--header is not NAME=SOURCE', {
        hint: 'Such as X-Key=env:GATEWAY_KEY, X-Key="command:pass gateway" or X-Region=cn-east.',
      });
    }
    removeIgnoringCase(sources, name);
    const source = sourceOf(kind, expires, value);
    if (source !== null) sources.set(name, source);
  }
  return parseHeaderSources(Object.fromEntries(sources), '--header');
}

function removeIgnoringCase(sources: Map<string, HeaderSource>, name: string): void {
  for (const key of sources.keys()) {
    if (key.toLowerCase() === name.toLowerCase()) sources.delete(key);
  }
}

/** The source that an option names; `null` for `X-Key=`, which names none. */
function sourceOf(
  kind: string | undefined,
  expires: string | undefined,
  value: string,
): HeaderSource | null {
  if (kind === undefined) return value === '' ? null : value;
  if (kind === 'env') return { env: value };
  if (expires === undefined) return { command: value };
  return { command: value, expires: Number(expires) };
}

const secretName = /auth|token|key|secret|cookie|session|sign|credential|passw|\bpin\b|otp/i;
/** The scheme of an authorization, or a text as programs make them. */
const secretValue = /^(?:bearer|basic|digest|token) |^(?=.*\d)(?=.*[A-Za-z])[\w+/=.-]{20,}$/i;
const personalName = /user|account|customer|member|login|mail|phone|mobile|person|name/i;
const personalValue = /@|\d{7}/;

/**
 * Whether a header seems to hold a secret or personal data, which a profile file does not keep in
 * plain text.
 */
export function seemsPrivate(name: string, value: string): 'secret' | 'personal' | null {
  if (secretName.test(name) || secretValue.test(value)) return 'secret';
  if (personalName.test(name) || personalValue.test(value)) return 'personal';
  return null;
}

/** Where the value of a header comes from, for messages; never the value. */
export function describeHeaderSource(source: HeaderSource): string {
  if (typeof source === 'string') return 'set';
  if ('env' in source) return `from the variable ${source.env}`;
  return 'from the output of a command';
}

/**
 * Reads the values of headers. That of a command is a function, which runs it again when its output
 * has expired or the service refused it.
 *
 * @throws CredentialError for one that has none
 */
export async function readHeaders(
  sources: HeaderSources,
  env: EnvironmentVariables,
): Promise<Readonly<Record<string, string | Secret | HeaderFunction>>> {
  const values: Record<string, string | Secret | HeaderFunction> = {};
  for (const [name, source] of Object.entries(sources)) {
    const what = `the header ${name}`;
    if (typeof source === 'string') values[name] = source;
    else if ('env' in source)
      values[name] = await readSecret({ kind: 'environment', name: source.env }, env, { what });
    else values[name] = await headerOfCommand(source, env, what);
  }
  return values;
}

/**
 * Runs the command of a header.
 *
 * @returns the function that returns its output, and runs it again when that is outdated
 * @throws CredentialError
 */
async function headerOfCommand(
  { command, expires = Number.POSITIVE_INFINITY }: CommandSource,
  env: EnvironmentVariables,
  what: string,
): Promise<HeaderFunction> {
  const run = () => readSecret({ kind: 'command', command }, env, { what });
  let value = await run();
  let readAt = performance.now();
  return (isRefused) => {
    const isGood = performance.now() - readAt < expires * 1000;
    if (isGood && !isRefused) return value;
    return run().then((output) => {
      readAt = performance.now();
      value = output;
      return value;
    });
  };
}

/** Returns the current value of a header; `isRefused`: the service refused the last one. */
export type HeaderFunction = (isRefused: boolean) => Secret | Promise<Secret>;
