import { type JsonMember, membersIn } from '../../core/contract/json-tokens.js';
import { RecipeError } from '../../core/signing/recipe.js';
import { fields, listOf, nullOr, parsePair, parseText } from '../../core/signing/recipe-json.js';
import type { Param, Sample } from '../../core/signing/request.js';
import { Secret } from '../../core/signing/secret.js';
import { jsonValueOf } from '../../core/support/json-value.js';
import {
  formFields,
  methodOf,
  onlySignature,
  signatureName,
  toSample,
} from './captured-request.js';
import { asObject } from './json-members.js';
import { SampleError } from './sample-error.js';
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
    const isOwn = names.length > 0 && names.every((name) => Object.hasOwn(fieldParsers, name));
    return isOwn ? [{ place: null, read: () => readSampleFile(text) }] : [];
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
    if (members.has(name)) throw new SampleError(`sample.${name}: stands there twice`);
    const isObject = name === 'params' && value.startsWith('{');
    members.set(name, isObject ? [...membersIn(value)].map(pairOf) : jsonValueOf(value));
  }
  return Object.fromEntries(members);
}

/**
 * A parameter, with the text that is signed: a string itself, nothing for null, all else as
 * written.
 */
function pairOf({ key: name, value }: JsonMember): readonly [name: string, text: string] {
  if (value === 'null') return [name, ''];
  return [name, value.startsWith('"') ? JSON.parse(value) : value];
}

function sampleOf({ params, secret, ...json }: ReturnType<typeof parseFields>): Sample {
  const { url, body } = json;
  const method = json.method ?? (body === null ? methodOf(url) : 'PUT');
  const captured = toSample({ method, url, headers: [], body });
  const listed = params?.filter(([name]) => name === signatureName).map(([, value]) => value);
  const carried = listed === undefined ? captured.signature : onlySignature(listed);
  const own = json.signature === null ? null : onlySignature([json.signature]);
  if (own !== null && carried !== null && own !== carried) {
    throw new SampleError(`sample.signature: is not what the parameter "${signatureName}" says`);
  }
  return {
    ...captured,
    params: params?.filter(([name]) => name !== signatureName).map(placed) ?? captured.params,
    signature: own ?? carried,
    secret: secret === null ? null : new Secret(secret),
  };
}

/** A parameter with the place that the contract gives its name (§4). */
function placed([name, value]: readonly [name: string, value: string]): Param {
  return formFields.has(name) ? [name, value, 'form'] : [name, value];
}
