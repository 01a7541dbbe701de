import { pathOf, type Sample } from '../../core/signing/request.js';
import { jsonValueOf } from '../../core/support/json-value.js';
import { isDigestText, missingForm, signatureName, toSample } from './captured-request.js';
import { sampleFormats } from './formats.js';
import { asObject } from './json-members.js';
import { SampleError } from './sample-error.js';
import { sampleFileFault } from './sample-file.js';
import type { CapturedText, FoundRequest, SampleFormat } from './sample-format.js';

interface TakeOptions {
  /** The requests to take where a text has several, from 1, or all that can be read. */
  readonly pick?: readonly number[] | 'all' | undefined;
}

/** Maximum number of requests of a text that are read, and of its characters. */
const maxRead = 5000;
const maxCharacters = 16 * 1024 * 1024;

export interface TakenSamples {
  readonly samples: readonly Sample[];
  /** The part that was taken, if not all of the text. */
  readonly taken: readonly string[];
  /** Those whose answer, which is in the text, refuses the caller: status 401 or 403. */
  readonly refused: ReadonlySet<Sample>;
}

/**
 * Reads the request of a text in any of the formats; where it has several, those of `pick`.
 *
 * @throws SampleError for any other text, for several requests, or for one that cannot be read
 */
export function readSamples(text: string, { pick }: TakeOptions = {}): TakenSamples {
  if (text.length > maxCharacters) {
    throw new SampleError(
      'the text is larger than 16 million characters',
      'Give the part with the request.',
    );
  }
  const given = unfence(text.trimStart());
  if (given === '') throw new SampleError('the request is empty', formatsHint);
  const json = /^[{[]/.test(given) ? jsonValueOf(given) : undefined;
  const { format, requests } = requestsIn({ text: given, json }, pick);
  return choose(format, requests, pick);
}

/** Without the marks around code in Markdown, as chat programs have it. */
function unfence(text: string): string {
  if (!text.startsWith('```')) return text;
  const start = text.indexOf('\n');
  const end = text.trimEnd().lastIndexOf('\n```');
  const inner = text.slice(start + 1, end).trim();
  return start < 0 || end <= start || inner === '' ? text : inner;
}

interface ReadRequest {
  readonly place: string | null;
  readonly sample: Sample | null;
  readonly error: SampleError | null;
  /** Whether the scheme of the URL is a guess. */
  readonly isGuessed: boolean;
  readonly status?: number | undefined;
}

interface FoundIn {
  readonly format: SampleFormat;
  readonly requests: readonly ReadRequest[];
}

/**
 * The requests in the first format that has signed ones; without any, in the first that has one at
 * all.
 *
 * @throws SampleError for a text that has none, and for a request that cannot be read
 */
function requestsIn(captured: CapturedText, pick: TakeOptions['pick']): FoundIn {
  let unsigned: FoundIn | null = null;
  for (const format of sampleFormats) {
    const requests = format.find(captured).slice(0, maxRead).map(readFound);
    if (requests.length === 0) continue;
    const signed = distinct(
      requests.filter(({ sample }) => sample !== null && sample.signature !== null),
    );
    if (signed.length > 0) return { format, requests: signed };
    const fault = requests.find(({ error }) => error !== null)?.error;
    if (fault != null && pick === undefined) throw fault;
    unsigned ??= { format, requests: distinct(requests) };
  }
  if (unsigned === null) throw noRequestIn(captured);
  return unsigned;
}

function noRequestIn({ text, json }: CapturedText): SampleError {
  if (json === undefined && /^[{[]/.test(text))
    return new SampleError('the text is not valid JSON');
  const isAnswer = /^\{\s*"code"\s*:\s*"?\d/.test(text);
  const fault = asObject(json) === null || isAnswer ? null : sampleFileFault(text);
  if (fault !== null) return fault;
  const advice = isAnswer ? 'It is an answer: take the request before it. ' : '';
  return new SampleError('this does not look like a request', `${advice}${formatsHint}`);
}

const formatsHint =
  `It can be ${sampleFormats.map(({ name }) => name).join(', ')}. ` +
  `In a log, "${signatureName}=" is looked for. Most other tools copy a request as cURL.`;

function readFound({ place, status, read }: FoundRequest): ReadRequest {
  try {
    const request = read();
    if ('signature' in request) return { place, sample: request, error: null, isGuessed: false };
    const sample = { ...toSample(request), secret: null };
    return { place, sample, error: null, isGuessed: request.isSchemeGuessed ?? false, status };
  } catch (error) {
    if (error instanceof SampleError) return { place, sample: null, error, isGuessed: false };
    throw error;
  }
}

/**
 * Each request once, though it may be logged twice, as an address and as a path: of those with the
 * same digest as their signature the one that has most is kept. Where some signatures are digests,
 * the others are none.
 */
function distinct(requests: readonly ReadRequest[]): ReadRequest[] {
  const isDigest = ({ sample }: ReadRequest) => isDigestText(sample?.signature ?? '');
  const candidates = requests.some(isDigest) ? requests.filter(isDigest) : requests;
  const kept = new Map<string, ReadRequest>();
  for (const request of candidates) {
    const key = isDigest(request)
      ? (request.sample?.signature ?? '')
      : unsignedKey(request, kept.size);
    const known = kept.get(key);
    if (known === undefined || knowledge(request) > knowledge(known)) kept.set(key, request);
  }
  return [...kept.values()];
}

/** What a request without a digest is known by; one that cannot be read is known by its number. */
function unsignedKey({ sample }: ReadRequest, number: number): string {
  if (sample === null) return `${number}`;
  const { method, url, params, body, signature } = sample;
  return JSON.stringify([method, pathOf(url), params, body, signature]);
}

/** How much of a request is known that a rule may sign. */
function knowledge({ sample, isGuessed }: ReadRequest): number {
  if (sample === null) return 0;
  const isWhole = /^\w+:\/\//.test(sample.url) && !isGuessed;
  return sample.params.length * 10 + (isWhole ? 2 : 0) + (sample.url === '' ? 0 : 1);
}

function choose(
  format: SampleFormat,
  requests: readonly ReadRequest[],
  pick: TakeOptions['pick'],
): TakenSamples {
  const isRefused = ({ status }: ReadRequest) => status === 401 || status === 403;
  const refused = new Set(requests.filter(isRefused).flatMap(({ sample }) => sample ?? []));
  if (pick === 'all')
    return { samples: requests.flatMap(({ sample }) => sample ?? []), taken: [], refused };
  const isOne = requests.length === 1;
  const picked = isOne ? [1] : pick;
  if (picked === undefined) throw severalRequests(requests);
  const taken = picked.map((number) => {
    const request = requests[number - 1];
    if (request === undefined)
      throw new SampleError(`there is no request ${number}: the text has ${requests.length}`);
    if (request.sample === null) throw request.error;
    return { ...request, sample: request.sample };
  });
  return {
    samples: taken.map(({ sample }) => sample),
    taken: taken.flatMap((request) =>
      request.place === null && isOne ? [] : [describe(format, request)],
    ),
    refused,
  };
}

/** `GET https://api.example.com/x (a line of a log, line 3)`. */
function describe(
  { name }: SampleFormat,
  { place, sample, isGuessed }: ReadRequest & { readonly sample: Sample },
): string {
  const scheme = isGuessed && 'which does not say http or https';
  const where = [name, place, scheme, missingForm(sample) !== null && 'without its form'];
  return `${label(sample)} (${where.filter(Boolean).join(', ')})`;
}

const maxListed = 20;
const maxShown = 80;

function label({ method, url }: Sample): string {
  const address = url.replace(/^(\w+:\/\/)[^/]*@/, '$1');
  const text = address.length > maxShown ? `${address.slice(0, maxShown)}…` : address;
  return `${method.slice(0, 10)} ${text === '' ? 'of an unknown address' : text}`;
}

function severalRequests(requests: readonly ReadRequest[]): SampleError {
  const isSigned = requests.some(({ sample }) => sample?.signature);
  const lines = requests.slice(0, maxListed).map(({ place, sample }, index) => {
    return `${index + 1}  ${sample && label(sample)}${place === null ? '' : ` (${place})`}`;
  });
  const more = requests.length - lines.length;
  return new SampleError(
    `the text has ${requests.length} requests${isSigned ? '' : `, none of them with "${signatureName}"`}`,
    ['Choose one with --pick N:', ...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n'),
  );
}
