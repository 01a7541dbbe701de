import { isAbsolute } from 'node:path';
import { parseBaseUrl } from '../protocol/base-url.js';
import { InvalidInputError } from '../protocol/errors.js';
import { quoteName } from '../protocol/text.js';
import { RecipeError } from '../signing/recipe-error.js';
import { Secret } from '../signing/secret.js';
import { checkProfileName, environments, type Profile, parseIdentifier } from './profile.js';
import type { SecretSource } from './secret.js';
import { formatSigningSource, parseSigningSource } from './signing-source.js';

export type JsonObject = Readonly<Record<string, unknown>>;

/** The part of JSON Schema (2020-12) that the profile file needs. */
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
 * What JSON Schema cannot say, by the name that a schema's `rule` gives. Each throws an InvalidInputError, but for the
 * name of a profile a ProfileError.
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
  /** Nothing in it means anything to a shell: it becomes part of a command that the user is shown. */
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

/** A profile as the file holds it, beside its name. */
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

/** conf keeps the version of the format under `__internal__`. */
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
 * Checks JSON by a schema as ajv does, without taking as long to load, and in the words of this program.
 *
 * @throws InvalidInputError that names the first field that is wrong, and begins with `label`
 */
export function checkSchema(schema: Schema, json: unknown, label = 'the file'): void {
  if ('oneOf' in schema) checkSchema(chooseByKind(schema.oneOf, json, label), json, label);
  else if (schema.type === 'object') checkObject(schema, json, label);
  else if (schema.type === 'boolean') {
    if (json !== true)
      throw new InvalidInputError(`${label} is not true`, { hint: 'Leave it out for false.' });
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

/** A profile of the file, which `profileSchema` allows. */
interface ProfileJson extends Omit<Profile, 'name' | 'secret' | 'signing'> {
  readonly secret:
    | Exclude<SecretSource, { readonly kind: 'file' }>
    | { readonly kind: 'file'; readonly value: string };
  readonly signing?: JsonObject;
}

/** A profile of the file, which was checked by `profileSchema`; its name is kept beside it. */
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

/** The profile as the profile file holds it, the secret in clear where it is kept there. */
export function formatProfile(profile: Profile): JsonObject {
  const { secret } = profile;
  return {
    ...formatOpenFields(profile),
    secret: secret.kind === 'file' ? { kind: secret.kind, value: secret.value.reveal() } : { ...secret },
  };
}

/**
 * The profile as it may be handed on: its name with it, its secret left out. Where the secret is elsewhere (an
 * environment variable, a command's output), the place is named; an entry of a keychain means nothing elsewhere.
 */
export function exportProfile(profile: Profile): JsonObject {
  const { name, secret } = profile;
  return {
    name,
    ...formatOpenFields(profile),
    secret: secret.kind === 'file' || secret.kind === 'keychain' ? { kind: secret.kind } : { ...secret },
  };
}

/** All but the name and the secret. */
function formatOpenFields({ name: _, secret: __, signing, ...fields }: Profile): JsonObject {
  if (signing === undefined) return fields;
  return { ...fields, signing: formatSigningSource(signing) };
}

/** The profile as reading it back will give it. Throws an InvalidInputError for a field that breaks its rule. */
export function checkProfile(profile: Profile): Profile {
  const json = formatProfile(profile);
  checkSchema(profileSchema, json, 'the profile');
  return parseProfile(profile.name, json);
}
