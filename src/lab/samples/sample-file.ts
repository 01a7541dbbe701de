import { formNames } from '../../core/contract/endpoints.js';
import { type JsonMember, membersIn } from '../../core/contract/json-tokens.js';
import { RecipeError } from '../../core/signing/recipe.js';
import { fields, listOf, nullOr, parsePair, parseText } from '../../core/signing/recipe-json.js';
import type { Param } from '../../core/signing/request.js';
import { Secret } from '../../core/signing/secret.js';
import { jsonValueOf } from '../../core/support/json.js';
import {
  dataSignature,
  methodOf,
  onlySignature,
  type Sample,
  SampleError,
  toSample,
} from './captured-request.js';
import { asObject } from './json-members.js';
import type { SampleFormat } from './sample-format.js';

const fieldParsers = {
  method: nullOr(parseText),
  url: parseText,
  params: nullOr(listOf(parsePair)),
  body: nullOr(parseText),
  signature: nullOr(parseText),
  secret: nullOr(parseText),
};

/**
 * The format of this program: a request with everything that is signed. A record of a log has other
 * members, too.
 */
export const sampleFile: SampleFormat = {
  name: 'a sample file',
  from: '{"method": "GET", "url": "…", "params": {…}, "signature": "…"}',
  find({ text, json }) {
    const names = Object.keys(asObject(json) ?? {});
    const isSampleFile =
      names.length > 0 && names.every((name) => Object.hasOwn(fieldParsers, name));
    if (!isSampleFile) return [];
    return [{ location: null, read: () => readSampleFile(text) }];
  },
};

/** The error of a JSON object as a sample file; null if it is one. */
export function sampleFileFault(text: string): SampleError | null {
  try {
    readSampleFile(text);
    return null;
  } catch (error) {
    if (error instanceof SampleError) return error;
    throw error;
  }
}

/** `params` is null where they are in the query of `url` and in `body`. */
const parseFields = fields(fieldParsers, {
  method: null,
  url: '',
  params: null,
  body: null,
  signature: null,
  secret: null,
});

/**
 * Reads a sample file.
 *
 * @throws SampleError that names the wrong field
 */
function readSampleFile(text: string): Sample {
  try {
    return sampleOf(parseFields(membersOf(text), 'sample'));
  } catch (error) {
    if (!(error instanceof RecipeError)) throw error;
    throw new SampleError(error.message, error.hint);
  }
}

/**
 * The members of a sample file, each name once: `params` as pairs in their order, numbers as they
 * are written.
 */
function membersOf(text: string): Record<string, unknown> {
  const members = new Map<string, unknown>();
  for (const { key: name, value } of membersIn(text)) {
    if (members.has(name)) throw new SampleError(`sample.${name}: appears twice`);
    members.set(name, memberValue(name, value));
  }
  return Object.fromEntries(members);
}

function memberValue(name: string, value: string): unknown {
  const isParamsObject = name === 'params' && value.startsWith('{');
  if (isParamsObject) return [...membersIn(value)].map(pairOf);
  return jsonValueOf(value);
}

/**
 * A parameter, with the text that is signed: a string itself, nothing for null, all else as
 * written.
 */
function pairOf({ key: name, value }: JsonMember): readonly [name: string, text: string] {
  if (value === 'null') return [name, ''];
  if (value.startsWith('"')) return [name, JSON.parse(value)];
  return [name, value];
}

type SampleFields = ReturnType<typeof parseFields>;

/** @throws SampleError for two signatures, and as `toSample` */
function sampleOf(file: SampleFields): Sample {
  const { url, body, params } = file;
  const captured = toSample({ method: methodFor(file), url, headers: [], body });
  const carried = carriedSignature(params, captured.signature);
  const written = file.signature && onlySignature([file.signature]);
  if (written !== null && carried !== null && written !== carried) {
    throw new SampleError(`sample.signature: is not what the parameter "${dataSignature}" says`);
  }
  return {
    ...captured,
    params: params?.filter(([name]) => name !== dataSignature).map(placed) ?? captured.params,
    signature: written ?? carried,
    secret: file.secret === null ? null : new Secret(file.secret),
  };
}

/** The method that a file names; without one, the method that its body or its URL says. */
function methodFor({ method, url, body }: SampleFields): string {
  if (method !== null) return method;
  if (body !== null) return 'PUT';
  return methodOf(url);
}

/**
 * The signature among the parameters of a file; that of its URL and body where it lists none.
 *
 * @throws SampleError for two signatures among the parameters
 */
function carriedSignature(params: SampleFields['params'], inRequest: string | null): string | null {
  if (params === null) return inRequest;
  return onlySignature(params.filter(([name]) => name === dataSignature).map(([, value]) => value));
}

/** A parameter with the place that the contract gives its name (§4). */
function placed([name, value]: readonly [name: string, value: string]): Param {
  if (formNames.has(name)) return [name, value, 'form'];
  return [name, value];
}
