import { RecipeError } from '../recipe-error.js';
import { fields, listOf, nullOr, type Parse, parsePair, parseText, parseTextMap } from '../recipe-json.js';
import type { Param, Sample } from '../request.js';
import { Secret } from '../secret.js';
import { defaultSignParam, takeSignature, toSignable } from './captured-request.js';
import { SampleError } from './sample-error.js';

/** A JSON object as written: JSON.parse reorders names that look like integers, and drops repeated names. */
class JsonMembers {
  readonly entries: readonly (readonly [name: string, value: unknown])[];

  constructor(entries: JsonMembers['entries']) {
    this.entries = entries;
  }

  /** The first repeated name, if any. */
  get doubled(): string | undefined {
    const names = this.entries.map(([name]) => name);
    return names.find((name, index) => names.indexOf(name) < index);
  }
}

const stringOrNumber = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*/g;

/**
 * Parses JSON with its objects as `JsonMembers`, and its numbers as their text.
 *
 * @throws SyntaxError, whose message may quote the text
 */
function parseInOrder(text: string): unknown {
  JSON.parse(text);
  let count = 0;
  // In valid JSON a string before a colon is a name. A number in front of each makes all names distinct.
  const numbered = text.replace(stringOrNumber, (whole, string?: string, colon?: string) => {
    if (string === undefined) return `"${whole}"`;
    return colon === undefined ? whole : `"${count++}:${string.slice(1)}${colon}`;
  });
  return JSON.parse(numbered, (_name, value) =>
    isObject(value) ? new JsonMembers(membersOf(value)) : value,
  );
}

function membersOf(numbered: object): [string, unknown][] {
  return Object.entries(numbered).map(([name, value]) => [name.slice(name.indexOf(':') + 1), value]);
}

function isObject(value: unknown): value is object {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonMembers)
  );
}

/** A sample file as written. */
interface SampleJson {
  readonly method: string | null;
  readonly url: string;
  /** Null where they are in the query of `url` and in `body`. */
  readonly params: readonly Param[] | null;
  readonly body: string | null;
  readonly extra: Readonly<Record<string, string>>;
  readonly signParam: string;
  readonly signature: string | null;
  readonly secret: string | null;
}

const parseParams: Parse<readonly Param[]> = (value, field) => {
  if (value instanceof JsonMembers) {
    return value.entries.map(([name, text]) => [name, parseText(text, `${field}.${name}`)]);
  }
  return listOf(parsePair)(value, field);
};

const parseExtra: Parse<Readonly<Record<string, string>>> = (value, field) =>
  parseTextMap(toObject(value, field), field);

const parseFields = fields<SampleJson>(
  {
    method: nullOr(parseText),
    url: parseText,
    params: nullOr(parseParams),
    body: nullOr(parseText),
    extra: parseExtra,
    signParam: parseText,
    signature: nullOr(parseText),
    secret: nullOr(parseText),
  },
  { method: null, url: '', params: null, body: null, extra: {}, signature: null, secret: null },
);

/**
 * Reads a sample file; `signParam` overrides the file's own.
 *
 * @throws SampleError that names the wrong field
 */
export function readSampleFile(text: string, signParam: string | undefined): Sample {
  try {
    const given = toObject(parse(text), 'sample');
    return toSample(
      parseFields({ signParam: defaultSignParam, ...given, ...(signParam && { signParam }) }, 'sample'),
    );
  } catch (error) {
    if (!(error instanceof RecipeError)) throw error;
    throw new SampleError(error.message, error.hint);
  }
}

function parse(text: string): unknown {
  try {
    return parseInOrder(text);
  } catch {
    throw new SampleError('the sample is not JSON');
  }
}

function toObject(value: unknown, field: string): object {
  if (!(value instanceof JsonMembers)) throw new RecipeError(field, 'must be an object');
  if (value.doubled !== undefined) throw new RecipeError(`${field}.${value.doubled}`, 'stands there twice');
  return Object.fromEntries(value.entries);
}

function toSample({ params, extra, signParam, secret, ...json }: SampleJson): Sample {
  const { url, body, method } = json;
  if (params !== null && url.includes('?')) {
    throw new SampleError(
      'sample.url: has a query, and there are params',
      'Leave the query out, or the params: then they are taken from the query and the body.',
    );
  }
  const captured = toSignable({
    method: method ?? (body === null ? 'GET' : 'POST'),
    url,
    body,
    contentType: null,
  });
  const taken = takeSignature({ ...captured, params: params ?? captured.params, extra }, signParam);
  if (json.signature !== null && taken.signature !== null && json.signature !== taken.signature) {
    throw new SampleError(`sample.signature: is not what the parameter ${JSON.stringify(signParam)} says`);
  }
  return {
    ...taken,
    signature: json.signature ?? taken.signature,
    secret: secret === null ? null : new Secret(secret),
  };
}
