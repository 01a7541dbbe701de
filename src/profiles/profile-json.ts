import { isAbsolute } from 'node:path';
import { parseBaseUrl } from '../protocol/base-url.js';
import { InvalidInputError } from '../protocol/errors.js';
import { quoteName } from '../protocol/text.js';
import { RecipeError } from '../signing/recipe.js';
import { Secret } from '../signing/secret.js';
import { checkProfileName, environments, type Profile, parseIdentifier } from './profile.js';
import type { SecretSource } from './secret.js';
import { formatSigningSource, parseSigningSource } from './signing-source.js';

export type JsonObject = Readonly<Record<string, unknown>>;

/** The subset of JSON Schema (2020-12) that the profile file needs. */
type Schema = TextSchema | TrueSchema | ObjectSchema | { readonly oneOf: readonly ObjectSchema[] };

interface TextSchema {
  readonly type: 'string';
  readonly nullable?: true;
  readonly minLength?: number;
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly rule?: RuleName;
}
interface TrueSchema {
  readonly type: 'boolean';
  readonly const: true;
}
interface ObjectSchema {
  readonly type: 'object';
  readonly title?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly propertyNames?: { readonly rule: RuleName };
  readonly additionalProperties?: false | ObjectSchema;
  readonly rule?: RuleName;
}

/**
 * Rules that JSON Schema cannot express, by the value of a schema's `rule`. Each throws InvalidInputError; that of
 * the profile name throws ProfileError.
 */
export const rules = {
  'profile-name': (name: string) => checkProfileName(name),
  'base-url': parseBaseUrl,
  identifier: parseIdentifier,
  'absolute-path': matching(isAbsolute, 'is not an absolute path'),
  'variable-name': matching(
    (name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name),
    'is not the name of an environment variable',
    'Letters, digits and "_", such as SHOP_APP_SECRET: the variable\'s name, not the secret itself.',
  ),
  /** Without shell metacharacters: it becomes part of a command that is shown to the user. */
  'keychain-account': matching(
    (name) => /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name),
    'is not the name of an entry: letters, digits, ".", "_", "-"',
  ),
  signing: checkSigning,
} as const;
type RuleName = keyof typeof rules;

const text = (rule?: RuleName): TextSchema => ({ type: 'string', minLength: 1, ...(rule && { rule }) });
const secretOf = (kind: string, properties: Readonly<Record<string, Schema>>): ObjectSchema => ({
  type: 'object',
  properties: { kind: { type: 'string', const: kind }, ...properties },
  required: ['kind', ...Object.keys(properties)],
  additionalProperties: false,
});

/** A profile in the file; its name is the key. */
const profileSchema = {
  type: 'object',
  title: 'profile',
  properties: {
    environment: { type: 'string', enum: environments },
    base_url: text('base-url'),
    tenant_code: text('identifier'),
    channel: text('identifier'),
    app_key: text('identifier'),
    secret: {
      oneOf: [
        secretOf('file', { value: text() }),
        secretOf('environment', { name: text('variable-name') }),
        secretOf('command', { command: text() }),
        secretOf('keychain', { keychain: text(), account: text('keychain-account') }),
      ],
    },
    signing: { type: 'object', rule: 'signing' },
    key_prefix: text('identifier'),
    ca_file: text('absolute-path'),
    allow_http: { type: 'boolean', const: true },
  },
  required: ['environment', 'base_url', 'tenant_code', 'channel', 'app_key', 'secret'],
  additionalProperties: false,
} as const satisfies ObjectSchema;

/** conf stores the format version under `__internal__`. */
export const fileSchema = {
  type: 'object',
  title: 'file',
  properties: {
    active: { type: 'string', nullable: true },
    profiles: {
      type: 'object',
      propertyNames: { rule: 'profile-name' },
      additionalProperties: profileSchema,
    },
    __internal__: { type: 'object' },
  },
  additionalProperties: false,
} as const satisfies ObjectSchema;

/**
 * Validates JSON against a schema as ajv does, but loads faster and uses the messages of this program.
 *
 * @throws InvalidInputError that names the first invalid field, and begins with `label`
 */
export function checkSchema(schema: Schema, json: unknown, label = 'the file'): void {
  if ('oneOf' in schema) checkSchema(chooseByKind(schema.oneOf, json, label), json, label);
  else if (schema.type === 'object') checkObject(schema, json, label);
  else if (schema.type === 'boolean') {
    if (json !== true) throw new InvalidInputError(`${label} is not true`, { hint: 'Omit it for false.' });
  } else checkText(schema, json, label);
}

function chooseByKind(schemas: readonly ObjectSchema[], json: unknown, label: string): ObjectSchema {
  const { kind } = requireObject(json, label);
  const kindOf = ({ properties }: ObjectSchema) => (properties?.kind as TextSchema | undefined)?.const;
  const chosen = schemas.find((schema) => kindOf(schema) === kind);
  if (chosen !== undefined) return chosen;
  throw new InvalidInputError(`${label}.kind is none of ${schemas.map(kindOf).join(', ')}`, { hint: newer });
}

function checkObject(schema: ObjectSchema, json: unknown, label: string): void {
  const object = requireObject(json, label);
  const { properties = {}, required = [], additionalProperties, propertyNames, rule } = schema;
  const others = Object.keys(object).filter((name) => !Object.hasOwn(properties, name));
  const [unknown] = others;
  if (additionalProperties === false && unknown !== undefined) {
    throw new InvalidInputError(`${label} has the unknown field ${quoteName(unknown)}`, { hint: newer });
  }
  for (const [name, property] of Object.entries(properties)) {
    const field = label.startsWith('the ') ? name : `${label}.${name}`;
    if (Object.hasOwn(object, name)) checkSchema(property, object[name], field);
    else if (required.includes(name)) throw new InvalidInputError(`${field} is missing`);
  }
  for (const name of additionalProperties ? others : []) {
    if (propertyNames) rules[propertyNames.rule](name as never, name);
    if (additionalProperties) checkNamed(additionalProperties, name, object[name]);
  }
  if (rule) rules[rule](object as never, label);
}

function checkNamed(schema: ObjectSchema, name: string, json: unknown): void {
  try {
    checkSchema(schema, json, `the ${schema.title}`);
  } catch (cause) {
    if (!(cause instanceof InvalidInputError)) throw cause;
    const { message, hint } = cause;
    throw new InvalidInputError(`${schema.title} ${quoteName(name)}: ${message}`, {
      ...(hint && { hint }),
      cause,
    });
  }
}

function checkText(schema: TextSchema, json: unknown, label: string): void {
  if (json === null && schema.nullable) return;
  if (typeof json !== 'string') throw new InvalidInputError(`${label} is not text`);
  if (json.length < (schema.minLength ?? 0)) throw new InvalidInputError(`${label} is empty`);
  if (schema.enum && !schema.enum.includes(json)) {
    throw new InvalidInputError(`${label} is none of ${schema.enum.join(', ')}`);
  }
  if (schema.rule) rules[schema.rule](json as never, label);
}

const newer = 'A newer userinfo may have written it: upgrade, or correct it by hand.';

function requireObject(json: unknown, label: string): JsonObject {
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as JsonObject;
  throw new InvalidInputError(`${label} is not an object`);
}

function matching(isRight: (value: string) => boolean, problem: string, hint?: string) {
  return (value: string, label: string) => {
    if (!isRight(value))
      throw new InvalidInputError(`${label} ${problem}`, hint === undefined ? {} : { hint });
  };
}

function checkSigning(json: unknown, label: string): void {
  try {
    parseSigningSource(json);
  } catch (cause) {
    if (!(cause instanceof RecipeError)) throw cause;
    const { message, hint } = cause;
    throw new InvalidInputError(`${label}: ${message}`, { ...(hint && { hint }), cause });
  }
}

/** A profile in the file, as `profileSchema` allows it. */
interface ProfileJson extends Omit<Profile, 'name' | 'secret' | 'signing'> {
  readonly secret:
    | Exclude<SecretSource, { readonly kind: 'file' }>
    | { readonly kind: 'file'; readonly value: string };
  readonly signing?: JsonObject;
}

/** Parses a profile that matches `profileSchema`. */
export function parseProfile(name: string, json: unknown): Profile {
  const { secret, signing, ...fields } = json as ProfileJson;
  return {
    name,
    ...fields,
    base_url: parseBaseUrl(fields.base_url),
    secret: secret.kind === 'file' ? { kind: 'file', value: new Secret(secret.value) } : secret,
    ...(signing !== undefined && { signing: parseSigningSource(signing) }),
  };
}

/** The profile as the file stores it; a secret that is kept there is in plain text. */
export function formatProfile(profile: Profile): JsonObject {
  const { secret } = profile;
  return {
    ...formatPublicFields(profile),
    secret: secret.kind === 'file' ? { kind: secret.kind, value: secret.value.reveal() } : { ...secret },
  };
}

/**
 * The profile for another user: with its name, without its secret. An environment variable or a command is named;
 * a keychain entry is not, it exists only here.
 */
export function exportProfile(profile: Profile): JsonObject {
  const { name, secret } = profile;
  return {
    name,
    ...formatPublicFields(profile),
    secret: secret.kind === 'file' || secret.kind === 'keychain' ? { kind: secret.kind } : { ...secret },
  };
}

/** All fields but the name and the secret. */
function formatPublicFields({ name: _, secret: __, signing, ...fields }: Profile): JsonObject {
  if (signing === undefined) return fields;
  return { ...fields, signing: formatSigningSource(signing) };
}

/**
 * Validates a profile, and returns it as it will be read back.
 *
 * @throws InvalidInputError for an invalid field
 */
export function checkProfile(profile: Profile): Profile {
  const json = formatProfile(profile);
  checkSchema(profileSchema, json, 'the profile');
  return parseProfile(profile.name, json);
}
