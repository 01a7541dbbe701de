import { isAbsolute } from 'node:path';
import { parseBaseUrl } from '../protocol/base-url.js';
import { InvalidInputError } from '../protocol/errors.js';
import { RecipeError } from '../signing/recipe-error.js';
import { type JsonObject, readObject, readText } from './json-fields.js';
import { type Profile, parseEnvironment, parseIdentifier } from './profile.js';
import { formatSecretSource, parseSecretSource } from './secret-source.js';
import { formatSigningSource, parseSigningSource, type SigningSource } from './signing-source.js';

const fieldNames = [
  'environment',
  'base_url',
  'tenant_code',
  'channel',
  'app_key',
  'secret',
  'signing',
  'key_prefix',
  'ca_file',
  'allow_http',
];

/**
 * Reads a profile as `formatProfile` writes it; its name is kept beside it. Throws an InvalidInputError that names
 * the field.
 */
export function parseProfile(name: string, json: unknown): Profile {
  const fields = readObject(json, 'the profile', fieldNames);
  const identifier = (field: string) => parseIdentifier(readText(fields, field), field);
  return {
    name,
    environment: parseEnvironment(readText(fields, 'environment'), 'environment'),
    base_url: parseBaseUrl(readText(fields, 'base_url'), 'base_url'),
    tenant_code: identifier('tenant_code'),
    channel: identifier('channel'),
    app_key: identifier('app_key'),
    secret: parseSecretSource(fields.secret),
    ...(fields.signing !== undefined && { signing: parseSigning(fields.signing) }),
    ...(fields.key_prefix !== undefined && { key_prefix: identifier('key_prefix') }),
    ...(fields.ca_file !== undefined && { ca_file: parseCaFile(readText(fields, 'ca_file')) }),
    ...(fields.allow_http !== undefined && { allow_http: parseTrue(fields.allow_http, 'allow_http') }),
  };
}

/** Absolute, because a command is run from many folders. */
function parseCaFile(path: string): string {
  if (isAbsolute(path)) return path;
  throw new InvalidInputError('ca_file is not an absolute path');
}

function parseTrue(json: unknown, label: string): true {
  if (json === true) return json;
  throw new InvalidInputError(`${label} is not true`, { hint: 'Leave it out where it is not to hold.' });
}

function parseSigning(json: unknown): SigningSource {
  try {
    return parseSigningSource(json);
  } catch (cause) {
    if (!(cause instanceof RecipeError)) throw cause;
    const { message, hint } = cause;
    throw new InvalidInputError(`signing: ${message}`, hint === undefined ? { cause } : { hint, cause });
  }
}

/** The profile as the profile file holds it, the secret in clear where it is kept there. */
export function formatProfile(profile: Profile): JsonObject {
  return { ...formatOpenFields(profile), secret: formatSecretSource(profile.secret) };
}

/** All but the name and the secret. */
export function formatOpenFields({ name: _, secret: __, signing, ...fields }: Profile): JsonObject {
  if (signing === undefined) return fields;
  return { ...fields, signing: formatSigningSource(signing) };
}

/** The profile as reading it back will give it. Throws an InvalidInputError for a field that breaks its rule. */
export function checkProfile(profile: Profile): Profile {
  return parseProfile(profile.name, formatProfile(profile));
}
