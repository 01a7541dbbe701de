import type { Sample } from '../request.js';
import { defaultSignParam, SampleError, toSample } from './captured-request.js';
import { sampleFormats } from './formats.js';
import { jsonValueOf } from './json-members.js';
import { asObject } from './json-value.js';
import { sampleFileFault } from './sample-file.js';
import type { FoundRequest, GivenText, SampleFormat } from './sample-format.js';

interface TakeOptions {
  /** Name of the parameter or header with the signature. Default: that of a sample file, else `sign`. */
  readonly signParam?: string | undefined;
  /** The requests to take where a text has several, from 1. */
  readonly pick?: readonly number[] | undefined;
}

/** Maximum number of requests of a text that are read. */
const mostRead = 5000;

/** The requests of a text. */
export interface TakenSamples {
  readonly samples: readonly Sample[];
  /** The part that was taken, if not all of the text. */
  readonly taken: readonly string[];
}

/**
 * Reads the request of a text in any of the formats; where it has several, those of `pick`.
 *
 * @throws SampleError for any other text, for several requests, or for one that cannot be read
 */
export function readSamples(text: string, { signParam, pick }: TakeOptions = {}): TakenSamples {
  const given = unfence(text.replace(/^[\ufeff\s]+/, ''));
  const name = signParam ?? defaultSignParam;
  if (given === '') throw new SampleError('the request is empty', formatsHint(name));
  const json = /^[{[]/.test(given) ? jsonValueOf(given) : undefined;
  const wholly = { text: given, json, signParam: name, isNamed: signParam !== undefined };
  let unsigned: FoundIn | null = null;
  for (const format of sampleFormats) {
    const requests = format
      .find(wholly)
      .slice(0, mostRead)
      .map((found) => readFound(found, name));
    if (requests.length === 0) continue;
    const signed = distinct(requests.filter(({ sample }) => sample !== null && sample.signature !== null));
    if (signed.length > 0) return choose({ format, requests: signed }, name, pick);
    unsigned ??= { format, requests };
    if (requests.some(({ error }) => error !== null)) break;
  }
  if (unsigned === null) throw unreadable(wholly);
  const [first] = unsigned.requests.flatMap(({ error }) => error ?? []);
  if (first !== undefined && pick === undefined) throw first;
  return choose({ ...unsigned, requests: distinct(unsigned.requests) }, name, pick);
}

/** The error for a text in no format. A JSON object is most likely a sample file with an invalid field. */
function unreadable({ text, json, signParam }: GivenText): SampleError {
  if (json === undefined && /^[{[]/.test(text)) return new SampleError('the sample is not JSON');
  const fault = asObject(json) === null ? null : sampleFileFault(text);
  return fault ?? new SampleError('this does not look like a request', formatsHint(signParam));
}

/** A text in a block of Markdown. */
function unfence(text: string): string {
  const [, inner] = /^`{3,}[^\n`]*\n([\s\S]*?)\n?`{3,}\s*$/.exec(text) ?? [];
  return inner?.trim() ?? text;
}

interface ReadRequest {
  readonly place: string | null;
  readonly sample: Sample | null;
  readonly error: SampleError | null;
}

interface FoundIn {
  readonly format: SampleFormat;
  readonly requests: readonly ReadRequest[];
}

function readFound({ place, read }: FoundRequest, signParam: string): ReadRequest {
  try {
    const request = read();
    const sample = 'signParam' in request ? request : { ...toSample(request, signParam), secret: null };
    return { place, sample, error: null };
  } catch (error) {
    if (error instanceof SampleError) return { place, sample: null, error };
    throw error;
  }
}

/** The same request may be logged twice. */
function distinct(requests: readonly ReadRequest[]): ReadRequest[] {
  const known = new Set<string>();
  return requests.filter(({ sample }) => {
    if (sample === null) return true;
    const { method, url, params, body, signature } = sample;
    const key = JSON.stringify([method, url, params, body, signature]);
    return !known.has(key) && known.add(key);
  });
}

function choose(
  { format, requests }: FoundIn,
  signParam: string,
  pick: readonly number[] | undefined,
): TakenSamples {
  const isOne = requests.length === 1;
  const picked = isOne ? [1] : pick;
  if (picked === undefined) throw severalRequests(requests, signParam);
  const taken = picked.map((number) => {
    const request = requests[number - 1];
    if (request === undefined)
      throw new SampleError(`there is no request ${number}: the text has ${requests.length}`);
    if (request.sample === null) throw request.error;
    return { place: request.place, sample: request.sample };
  });
  return {
    samples: taken.map(({ sample }) => sample),
    taken: taken.flatMap(({ place, sample }) =>
      place === null && isOne ? [] : [describe(format, place, sample)],
    ),
  };
}

/** `GET https://api.example.com/x (a HAR file, entry 3)`. */
function describe({ name }: SampleFormat, place: string | null, sample: Sample): string {
  const isBodyMissing = /^P/.test(sample.method) && sample.body === null;
  const where = [name, place, isBodyMissing && 'without a body'].filter(Boolean).join(', ');
  return `${label(sample)} (${where})`;
}

/** Number of requests that a message lists. */
const mostListed = 20;
const mostCharacters = 80;

/** Method and address, without query and credentials. */
function label({ method, url }: Sample): string {
  const address = url.replace(/^(\w+:\/\/)[^/]*@/, '$1');
  const text = address.length > mostCharacters ? `${address.slice(0, mostCharacters)}…` : address;
  return `${method.slice(0, 10)} ${text === '' ? 'of an unknown address' : text}`;
}

function severalRequests(requests: readonly ReadRequest[], signParam: string): SampleError {
  const isSigned = requests.some(({ sample }) => sample?.signature);
  const lines = requests.slice(0, mostListed).map(({ place, sample, error }, index) => {
    const words = sample === null ? (error?.message ?? '') : label(sample);
    return `${index + 1}  ${words}${place === null ? '' : ` (${place})`}`;
  });
  const more = requests.length - lines.length;
  return new SampleError(
    `the text has ${requests.length} requests${isSigned ? '' : `, none of them with ${JSON.stringify(signParam)}`}`,
    ['Choose one with --pick N:', ...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n'),
  );
}

function formatsHint(signParam: string): string {
  const names = sampleFormats.map(({ name }) => name).join(', ');
  return `It can be ${names}. In a log, ${JSON.stringify(signParam)} is looked for; --sign-param names another one.`;
}
