import { pathOf } from '../../core/signing/request.js';
import { jsonValueOf } from '../../core/support/json.js';
import {
  dataSignature,
  isDigestText,
  missingForm,
  type Sample,
  SampleError,
  toSample,
} from './captured-request.js';
import { sampleFormats } from './formats.js';
import { asObject } from './json-members.js';
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
  const request = unfence(text.trimStart());
  if (request === '') throw new SampleError('the request is empty', formatsHint);
  const json = startsJson(request) ? jsonValueOf(request) : undefined;
  const { format, requests } = requestsIn({ text: request, json }, pick);
  return { ...choose(format, requests, pick), refused: refusedBy(requests) };
}

function startsJson(text: string): boolean {
  return /^[{[]/.test(text);
}

/** The samples whose answer has the status 401 or 403. */
function refusedBy(requests: readonly ReadRequest[]): ReadonlySet<Sample> {
  const refused = requests.filter(({ status }) => status === 401 || status === 403);
  return new Set(samplesOf(refused));
}

/** The samples of the requests that could be read. */
function samplesOf(requests: readonly ReadRequest[]): Sample[] {
  return requests.map(({ sample }) => sample).filter((sample) => sample !== null);
}

/** Without the marks around code in Markdown, as chat programs have it. */
function unfence(text: string): string {
  if (!text.startsWith('```')) return text;
  const start = text.indexOf('\n');
  const end = text.trimEnd().lastIndexOf('\n```');
  if (start < 0 || end <= start) return text;
  return text.slice(start + 1, end).trim() || text;
}

interface ReadRequest {
  /** Where the text has the request, such as `entry 3`; null if it is all of the text. */
  readonly location: string | null;
  /** Null where the request could not be read. */
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
    const requests = format.find(captured).slice(0, maxRead).map(readRequest);
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
  const problem = 'this does not look like a request';
  if (json === undefined && startsJson(text)) {
    return new SampleError('the text is not valid JSON');
  }
  if (/^\{\s*"code"\s*:\s*"?\d/.test(text)) {
    const advice = 'It is an answer: take the request before it.';
    return new SampleError(problem, `${advice} ${formatsHint}`);
  }
  const fault = asObject(json) && sampleFileFault(text);
  return fault ?? new SampleError(problem, formatsHint);
}

const formatsHint =
  `It can be ${sampleFormats.map(({ name }) => name).join(', ')}. ` +
  `In a log, "${dataSignature}=" is looked for. Most other tools copy a request as cURL.`;

/** Reads a request of a text; what is wrong with it is kept beside it. */
function readRequest({ location, status, read }: FoundRequest): ReadRequest {
  try {
    const request = read();
    if ('signature' in request) {
      return { location, sample: request, error: null, isGuessed: false };
    }
    const sample = { ...toSample(request), secret: null };
    return { location, sample, error: null, isGuessed: request.isSchemeGuessed ?? false, status };
  } catch (error) {
    if (!(error instanceof SampleError)) throw error;
    return { location, sample: null, error, isGuessed: false };
  }
}

/**
 * Each request once, though it may be logged twice, as an address and as a path: of those with the
 * same digest as their signature the one that has most is kept. Where some signatures are digests,
 * the others are none.
 */
function distinct(requests: readonly ReadRequest[]): ReadRequest[] {
  const signedByDigest = requests.filter(isSignedByDigest);
  const candidates = signedByDigest.length > 0 ? signedByDigest : requests;
  const kept = new Map<string, ReadRequest>();
  for (const request of candidates) {
    const key = identityOf(request) ?? `${kept.size}`;
    const before = kept.get(key);
    if (before === undefined || knowledge(request) > knowledge(before)) kept.set(key, request);
  }
  return [...kept.values()];
}

function isSignedByDigest({ sample }: ReadRequest): boolean {
  return isDigestText(sample?.signature ?? '');
}

/** What two records of the same request have in common; null for one that cannot be read. */
function identityOf(request: ReadRequest): string | null {
  if (request.sample === null) return null;
  const { method, url, params, body, signature } = request.sample;
  if (isSignedByDigest(request)) return signature;
  return JSON.stringify([method, pathOf(url), params, body, signature]);
}

/**
 * How much of a request is known that a rule may sign: most of all its parameters, then scheme and
 * host, then the path.
 */
function knowledge({ sample, isGuessed }: ReadRequest): number {
  if (sample === null) return 0;
  let facts = sample.params.length * 10;
  if (/^\w+:\/\//.test(sample.url) && !isGuessed) facts += 2;
  if (sample.url !== '') facts += 1;
  return facts;
}

/** @throws SampleError where it is not clear which request is meant, or that one cannot be read */
function choose(
  format: SampleFormat,
  requests: readonly ReadRequest[],
  pick: TakeOptions['pick'],
): Omit<TakenSamples, 'refused'> {
  if (pick === 'all') return { samples: samplesOf(requests), taken: [] };
  const [request] = requests;
  if (requests.length === 1 && request !== undefined) {
    const sample = sampleOf(request);
    if (request.location === null) return { samples: [sample], taken: [] };
    return { samples: [sample], taken: [describe(format, request, sample)] };
  }
  if (pick === undefined) throw severalRequests(requests);
  const samples: Sample[] = [];
  const taken: string[] = [];
  for (const number of pick) {
    const picked = requestNumbered(requests, number);
    const sample = sampleOf(picked);
    samples.push(sample);
    taken.push(describe(format, picked, sample));
  }
  return { samples, taken };
}

/** @throws SampleError for a number, from 1, that is higher than the number of requests */
function requestNumbered(requests: readonly ReadRequest[], number: number): ReadRequest {
  const request = requests[number - 1];
  if (request !== undefined) return request;
  throw new SampleError(`there is no request ${number}: the text has ${requests.length}`);
}

/** @throws SampleError where the request cannot be read */
function sampleOf({ sample, error }: ReadRequest): Sample {
  if (sample === null) throw error;
  return sample;
}

/** `GET https://api.example.com/x (a line of a log, line 3)`. */
function describe(
  { name }: SampleFormat,
  { location, isGuessed }: ReadRequest,
  sample: Sample,
): string {
  const details = [name];
  if (location) details.push(location);
  if (isGuessed) details.push('which does not say http or https');
  if (missingForm(sample) !== null) details.push('without its form');
  return `${label(sample)} (${details.join(', ')})`;
}

const maxListed = 20;
const maxShown = 80;

function label({ method, url }: Sample): string {
  const address = url.replace(/^(\w+:\/\/)[^/]*@/, '$1') || 'of an unknown address';
  const shown = address.length > maxShown ? `${address.slice(0, maxShown)}…` : address;
  return `${method.slice(0, 10)} ${shown}`;
}

function severalRequests(requests: readonly ReadRequest[]): SampleError {
  let problem = `the text has ${requests.length} requests`;
  const isSigned = requests.some(({ sample }) => sample?.signature);
  if (!isSigned) problem += `, none of them with "${dataSignature}"`;
  const choices = requests.slice(0, maxListed).map(listedChoice);
  const lines = ['Choose one with --pick N:', ...choices];
  const more = requests.length - choices.length;
  if (more > 0) lines.push(`and ${more} more`);
  return new SampleError(problem, lines.join('\n'));
}

/** `1  GET https://api.example.com/x (line 3)`. */
function listedChoice({ location, sample }: ReadRequest, index: number): string {
  const choice = `${index + 1}  ${sample && label(sample)}`;
  if (location === null) return choice;
  return `${choice} (${location})`;
}
