import { RecipeError } from '../recipe.js';
import {
  fields,
  listOf,
  nullOr,
  type Parse,
  parseObject,
  parsePair,
  parseText,
  parseTextMap,
} from '../recipe-json.js';
import type { Param, Sample } from '../request.js';
import { Secret } from '../secret.js';
import { defaultSignParam, onlySignature, SampleError, toSample } from './captured-request.js';
import { asObject } from './json-value.js';
import type { SampleFormat } from './sample-format.js';

const fieldNames = ['method', 'url', 'params', 'body', 'extra', 'signParam', 'signature', 'secret'];
/** Fields that no log record and no list of parameters has. */
const ownFields = ['params', 'extra', 'signParam', 'secret'];

/** The format of this program: a request with everything that is signed. */
export const sampleFile: SampleFormat = {
  name: 'a sample file',
  from: '{"method": "GET", "url": "…", "params": {…}, "signature": "…"}',
  find({ text, json, signParam, isNamed }) {
    const object = asObject(json);
    if (object === null || Object.hasOwn(object, signParam)) return [];
    const names = Object.keys(object);
    const isSample =
      names.every((name) => fieldNames.includes(name)) || names.some((name) => ownFields.includes(name));
    if (!isSample) return [];
    return [{ place: null, read: () => readSampleFile(text, isNamed ? signParam : undefined) }];
  },
};

/** The error of a JSON object as a sample file; null if it is one. */
export function sampleFileFault(text: string): SampleError | null {
  try {
    readSampleFile(text, undefined);
    return null;
  } catch (error) {
    if (error instanceof SampleError) return error;
    throw error;
  }
}

const stringOrNumber = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*/g;

/**
 * Parses valid JSON with a number before each name, as JSON.parse reorders names that look like integers and drops
 * repeated names; numbers become their text.
 */
function parseNumbered(json: string): unknown {
  let count = 0;
  // In valid JSON a string before a colon is a name.
  const numbered = json.replace(stringOrNumber, (whole, string?: string, colon?: string) => {
    if (string === undefined) return `"${whole}"`;
    return colon === undefined ? whole : `"${count++}:${string.slice(1)}${colon}`;
  });
  return JSON.parse(numbered);
}

/** The members of an object of `parseNumbered`, as written. */
function membersOf(value: unknown, field: string): [name: string, value: unknown][] {
  const numbered = Object.entries(parseObject(value, field));
  return numbered.map(([name, inner]) => [name.slice(name.indexOf(':') + 1), inner]);
}

function toObject(value: unknown, field: string): object {
  const members = membersOf(value, field);
  const names = members.map(([name]) => name);
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) throw new RecipeError(`${field}.${repeated}`, 'stands there twice');
  return Object.fromEntries(members);
}

const parseParams: Parse<readonly Param[]> = (value, field) =>
  Array.isArray(value)
    ? listOf(parsePair)(value, field)
    : membersOf(value, field).map(([name, text]) => [name, parseText(text, `${field}.${name}`)]);

/** `params` is null where they are in the query of `url` and in `body`. */
const parseFields = fields(
  {
    method: nullOr(parseText),
    url: parseText,
    params: nullOr(parseParams),
    body: nullOr(parseText),
    extra: (value: unknown, field: string) => parseTextMap(toObject(value, field), field),
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
function readSampleFile(text: string, signParam: string | undefined): Sample {
  try {
    const given = toObject(parseNumbered(text), 'sample');
    return sampleOf(
      parseFields({ signParam: defaultSignParam, ...given, ...(signParam && { signParam }) }, 'sample'),
    );
  } catch (error) {
    if (!(error instanceof RecipeError)) throw error;
    throw new SampleError(error.message, error.hint);
  }
}

function sampleOf({ params, extra, signParam, secret, ...json }: ReturnType<typeof parseFields>): Sample {
  const { url, body, method } = json;
  const captured = toSample(
    { method: method ?? (body === null ? 'GET' : 'POST'), url, headers: [], body },
    signParam,
  );
  const signed = params?.filter(([name]) => name === signParam);
  const carried = signed === undefined ? captured.signature : onlySignature(signed, signParam);
  if (json.signature !== null && carried !== null && json.signature !== carried) {
    throw new SampleError(`sample.signature: is not what the parameter ${JSON.stringify(signParam)} says`);
  }
  return {
    ...captured,
    params: params?.filter(([name]) => name !== signParam) ?? captured.params,
    extra,
    signature: json.signature ?? carried,
    secret: secret === null ? null : new Secret(secret),
  };
}
