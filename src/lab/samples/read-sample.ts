import { pathOf, type Sample } from '../../core/signing/request.js';
import { jsonValueOf } from '../../core/support/json-value.js';
import { defaultSignParam, isDigestText, toSample } from './captured-request.js';
import { sampleFormats } from './formats.js';
import { asObject } from './json-requests.js';
import { constantOf, plainValue } from './literal.js';
import { SampleError } from './sample-error.js';
import { sampleFileFault } from './sample-file.js';
import type { FoundRequest, GivenText, SampleFormat } from './sample-format.js';

interface TakeOptions {
  /**
   * Name of the parameter or header with the signature. Default: that of a sample file, else
   * `sign`.
   */
  readonly signParam?: string | undefined;
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
export function readSamples(text: string, { signParam, pick }: TakeOptions = {}): TakenSamples {
  if (text.length > maxCharacters) {
    throw new SampleError(
      'the text is larger than 16 million characters',
      'Give the part with the request.',
    );
  }
  const given = unfence(unmarked(text).trimStart());
  const name = signParam ?? defaultSignParam;
  if (given === '') throw new SampleError('the request is empty', formatsHint(name));
  const json = /^(?:[{[]|array ?\()/.test(given) ? objectIn(given) : undefined;
  const wholly = { text: given, json, signParam: name, isNamed: signParam !== undefined };
  let unsigned: FoundIn | null = null;
  for (const format of sampleFormats) {
    const requests = format
      .find(wholly)
      .slice(0, maxRead)
      .map((found) => readFound(found, name));
    if (requests.length === 0) continue;
    const signed = distinct(
      requests.filter(({ sample }) => sample !== null && sample.signature !== null),
    );
    if (signed.length > 0) return choose({ format, requests: signed }, name, pick);
    unsigned ??= { format, requests };
    // What looks like a request amid other lines may be none.
    if (requests.some(({ error, place }) => error !== null && !place?.startsWith('line '))) break;
  }
  if (unsigned === null) throw unreadable(wholly);
  const [first] = unsigned.requests.flatMap(({ error }) => error ?? []);
  if (first !== undefined && pick === undefined) throw first;
  return choose({ ...unsigned, requests: distinct(unsigned.requests) }, name, pick);
}

/**
 * The error for a text in no format. A JSON object is most likely a sample file with an invalid
 * field.
 */
function unreadable({ text, json, signParam }: GivenText): SampleError {
  if (json === undefined && /^[{[]/.test(text)) return new SampleError('the sample is not JSON');
  const fault = asObject(json) === null || answer.test(text) ? null : sampleFileFault(text);
  if (fault !== null) return fault;
  const [, advice] = nearest.find(([pattern]) => pattern.test(text.slice(0, 2000))) ?? [
    undefined,
    missing(text, signParam),
  ];
  return new SampleError('this does not look like a request', `${advice}${formatsHint(signParam)}`);
}

/** The beginning of an answer (§7.1). */
const answer = /^\{\s*"code"\s*:\s*"?\d/;

/** Explains why a text cannot be read, and what to take instead. */
const nearest: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [answer, 'It is an answer: take the request before it. '],
  [/^PK/, 'It is a zip, as Fiddler saves sessions: export them as HAR, or copy the raw request. '],
  [
    /^type: ?collection\.insomnia/m,
    'It is an Insomnia export of version 5: export as HAR, or take "Generate Client Code", cURL. ',
  ],
  [
    /^(?:\$ )?(?:https?|xhs?) (?=[\w:-])/m,
    'It is an HTTPie command: with --offline it prints the request. ',
  ],
  [
    /^Invoke-(?:WebRequest|RestMethod)\b/m,
    'It is a PowerShell command: copy the request as cURL. ',
  ],
  [
    /\{\{[\w.$ -]+\}\}/,
    'It has variables of an editor, without their values: generate its cURL command. ',
  ],
  [/^(?:\$ )?wget /m, 'It is a wget command: with -d it prints the request. '],
  [
    /^\[(?:QueryStringParams|FormParams|Query|Form)\]/m,
    'It is a Hurl file: hurl --very-verbose prints the request. ',
  ],
];

/** Lists which parts of a request are present and which are missing. */
function missing(text: string, signParam: string): string {
  const at = text.indexOf(signParam);
  if (at < 0) return '';
  const line = text.slice(0, at).split('\n').length;
  return `Line ${line} has ${JSON.stringify(signParam)}, but not in a URL, a form, JSON or a header. `;
}

/** Of JSON, or of an object as a program prints it. */
function objectIn(text: string): unknown {
  const json = jsonValueOf(text);
  if (json !== undefined || text.length > 1_000_000) return json;
  const literal = constantOf(text);
  return literal && plainValue(literal);
}

/** Without colours, and what a mail or an editor puts before each line: `> `, or its number. */
function unmarked(text: string): string {
  const plain = text.replace(/^\ufeff/, '').replace(/\x1b\[[\d;]*[mK]/g, '');
  const lines = plain.trimEnd().split('\n');
  const first = Number(/^ *(\d{1,6})\b/.exec(plain)?.[1]);
  const isNumbered =
    lines.length > 1 && lines.every((line, index) => Number.parseInt(line, 10) === first + index);
  const isQuoted = lines.length > 1 && lines.every((line) => line.startsWith('>'));
  if (!isNumbered && !isQuoted) return plain;
  return lines
    .map((line) => line.replace(isQuoted ? /^> ?/ : /^ *\d+(?:[:.|] ?|\t| {1,2}|$)/, ''))
    .join('\n');
}

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

function readFound({ place, status, read }: FoundRequest, signParam: string): ReadRequest {
  try {
    const request = read();
    if ('signParam' in request) return { place, sample: request, error: null, isGuessed: false };
    const sample = { ...toSample(request, signParam), secret: null };
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
    const { method, url, params, body, signature = null } = request.sample ?? {};
    const key =
      request.sample === null
        ? `${kept.size}`
        : isDigest(request)
          ? `${signature}`
          : JSON.stringify([method, pathOf(url ?? '', ''), params, body, signature]);
    const known = kept.get(key);
    if (known === undefined || knowledge(request) > knowledge(known)) kept.set(key, request);
  }
  return [...kept.values()];
}

/** Number of parts of a request that a rule may sign. */
function knowledge({ sample, isGuessed }: ReadRequest): number {
  if (sample === null) return 0;
  const { url, params, body, headers } = sample;
  const isWhole = /^\w+:\/\//.test(url) && !isGuessed;
  return (
    (isWhole ? 4 : url === '' ? 0 : 2) +
    params.length * 10 +
    (body === null ? 0 : 100) +
    Math.min(headers.length, 8)
  );
}

function choose(
  { format, requests }: FoundIn,
  signParam: string,
  pick: TakeOptions['pick'],
): TakenSamples {
  const isRefused = ({ status }: ReadRequest) => status === 401 || status === 403;
  const refused = new Set(requests.filter(isRefused).flatMap(({ sample }) => sample ?? []));
  if (pick === 'all')
    return { samples: requests.flatMap(({ sample }) => sample ?? []), taken: [], refused };
  const isOne = requests.length === 1;
  const picked = isOne ? [1] : pick;
  if (picked === undefined) throw severalRequests(requests, signParam);
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

/** `GET https://api.example.com/x (lines of a log, line 3)`. */
function describe(
  { name }: SampleFormat,
  { place, sample, isGuessed }: ReadRequest & { readonly sample: Sample },
): string {
  const isBodyMissing = /^P/.test(sample.method) && sample.body === null;
  const scheme = isGuessed && 'which does not say http or https';
  const where = [name, place, scheme, isBodyMissing && 'without a body'].filter(Boolean).join(', ');
  return `${label(sample)} (${where})`;
}

const maxListed = 20;
const maxShown = 80;

function label({ method, url }: Sample): string {
  const address = url.replace(/^(\w+:\/\/)[^/]*@/, '$1');
  const text = address.length > maxShown ? `${address.slice(0, maxShown)}…` : address;
  return `${method.slice(0, 10)} ${text === '' ? 'of an unknown address' : text}`;
}

function severalRequests(requests: readonly ReadRequest[], signParam: string): SampleError {
  const isSigned = requests.some(({ sample }) => sample?.signature);
  const lines = requests.slice(0, maxListed).map(({ place, sample }, index) => {
    return `${index + 1}  ${sample && label(sample)}${place === null ? '' : ` (${place})`}`;
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
