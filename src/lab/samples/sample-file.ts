import { RecipeError } from '../../core/signing/recipe.js';
import {
  fields,
  listOf,
  nullOr,
  parsePair,
  parseText,
  parseTextMap,
} from '../../core/signing/recipe-json.js';
import type { Sample } from '../../core/signing/request.js';
import { Secret } from '../../core/signing/secret.js';
import { defaultSignParam, onlySignature, toSample } from './captured-request.js';
import { asObject } from './json-requests.js';
import { constantOf, type Literal, pairsOf, plainValue } from './literal.js';
import { SampleError } from './sample-error.js';
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
    if (object === null) return [];
    const names = Object.keys(object);
    const isOwn =
      names.every((name) => fieldNames.includes(name)) && asObject(object.body) === null;
    // The signature's parameter may be called `signature`, or `secret`: then the other fields tell.
    const isSample = Object.hasOwn(object, signParam)
      ? isOwn && names.some((name) => name === 'params' || name === 'url')
      : isOwn || names.some((name) => ownFields.includes(name));
    return isSample
      ? [{ place: null, read: () => readSampleFile(text, isNamed ? signParam : undefined) }]
      : [];
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

/**
 * The members of a sample file, each name once: `params` as pairs in their order, numbers as they
 * are written.
 */
function membersOf(literal: Literal | undefined): Record<string, unknown> {
  if (literal?.kind !== 'object') throw new SampleError('the sample has too many levels');
  const members = new Map<string, unknown>();
  for (const [name, value] of literal.members) {
    if (members.has(name)) throw new SampleError(`sample.${name}: stands there twice`);
    members.set(
      name,
      name === 'params' && value.kind === 'object' ? pairsOf(value) : plainValue(value),
    );
  }
  return Object.fromEntries(members);
}

/** `params` is null where they are in the query of `url` and in `body`. */
const parseFields = fields(
  {
    method: nullOr(parseText),
    url: parseText,
    params: nullOr(listOf(parsePair)),
    body: nullOr(parseText),
    extra: parseTextMap,
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
    const given = membersOf(constantOf(text));
    return sampleOf(
      parseFields(
        { signParam: defaultSignParam, ...given, ...(signParam && { signParam }) },
        'sample',
      ),
    );
  } catch (error) {
    if (!(error instanceof RecipeError)) throw error;
    throw new SampleError(error.message, error.hint);
  }
}

function sampleOf({
  params,
  extra,
  signParam,
  secret,
  ...json
}: ReturnType<typeof parseFields>): Sample {
  const { url, body, method } = json;
  const captured = toSample(
    { method: method ?? (body === null ? 'GET' : 'POST'), url, headers: [], body },
    signParam,
  );
  const signed = params?.filter(([name]) => name === signParam);
  const carried = signed === undefined ? captured.signature : onlySignature(signed, signParam);
  const given =
    json.signature === null ? carried : onlySignature([[signParam, json.signature]], signParam);
  if (json.signature !== null && carried !== null && json.signature !== carried) {
    throw new SampleError(
      `sample.signature: is not what the parameter ${JSON.stringify(signParam)} says`,
    );
  }
  return {
    ...captured,
    params: params?.filter(([name]) => name !== signParam) ?? captured.params,
    extra,
    signature: given,
    secret: secret === null ? null : new Secret(secret),
  };
}
