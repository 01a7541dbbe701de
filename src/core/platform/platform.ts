import { isDeepStrictEqual } from 'node:util';
import { type ChatPrefix, chatPrefixPattern, neutralChatPrefix } from '../contract/chat-prefix.js';
import { defaultScope } from '../contract/endpoints.js';
import { InvalidInputError } from '../contract/errors.js';
import {
  defaultClockWindowSeconds,
  defaultCodeTtlSeconds,
  maxClockWindowSeconds,
  maxSeconds,
} from '../contract/limits.js';
import { checkFields } from '../contract/members.js';
import { type PlatformResultCodes, parseResultCodes } from '../contract/result-code-table.js';
import { signatureNames } from '../signing/app-signatures.js';
import { defaultRecipes } from '../signing/presets.js';
import { RecipeError, type RecipeJson, type SigningRecipes } from '../signing/recipe.js';
import { fields, formatRecipe, parseRecipe } from '../signing/recipe-json.js';
import { isObject } from '../support/json.js';
import { quoteWhereNeeded } from '../support/shell.js';
import { checkHeaderName, checkHeaderNames, headerFromVariable } from './headers.js';

/**
 * A platform file (docs/platform.md): what the spec leaves open, where a deployment differs from
 * this project. Every field is optional.
 *
 * @example
 * const platform: PlatformFile = { http_status: 200, empty_object: 'list', chat_prefix: 'wx_', code_uses: 2 };
 * const client = new UserInfoClient({ ...options, platform });
 */
export interface PlatformFile {
  /** For editors: the JSON schema of the file. */
  readonly $schema?: string;
  /**
   * The recipes of `app_sign` and `sign` (§5.5, §5.6).
   *
   * @default the default recipes
   */
  readonly signing?: { readonly [Name in keyof SigningRecipes]?: RecipeJson };
  /**
   * The result codes of refusals and their meanings (§7.2).
   *
   * @default those of this project
   */
  readonly result_codes?: PlatformResultCodes | null;
  /**
   * The HTTP status of a refusal (§7.2): by its result code, or always 200.
   *
   * @default 'by-code'
   */
  readonly http_status?: 'by-code' | 200;
  /**
   * A requested name without a value (§4.1): left out, `null` or empty text.
   *
   * @default 'omit'
   */
  readonly absent?: 'omit' | 'null' | 'empty';
  /**
   * An object without keys in a success: `{}`, `[]` as PHP writes it, or `null`.
   *
   * @default 'object'
   */
  readonly empty_object?: 'object' | 'list' | 'null';
  /**
   * `data` of a refusal (§7.2): `{}`, `[]`, `null`, or left out.
   *
   * @default 'object'
   */
  readonly refusal_data?: 'object' | 'list' | 'null' | 'omit';
  /**
   * A value that was passed back as a number, `true` or `false`: read back as text or as written.
   *
   * @default 'text'
   */
  readonly values?: 'text' | 'as-written';
  /**
   * A parameter that §4 does not list: refused or ignored.
   *
   * @default 'refuse'
   */
  readonly unknown_parameters?: 'refuse' | 'ignore';
  /**
   * The values of `scope` that are accepted (§4.1).
   *
   * @default ['get_user_info']
   */
  readonly scopes?: readonly string[] | 'any';
  /**
   * Maximum age of `timestamp` (§5.6), in seconds, up to 900.
   *
   * @default 300
   */
  readonly clock_window_seconds?: number | 'unlimited';
  /**
   * Maximum lead of `timestamp`, in seconds, up to 900; `same`: as much as its maximum age.
   *
   * @default 'same'
   */
  readonly clock_ahead_seconds?: number | 'unlimited' | 'same';
  /**
   * A `random` that the app sent before (§5.4): refused or allowed.
   *
   * @default 'refuse'
   */
  readonly replay?: 'refuse' | 'allow';
  /**
   * Number of reads for which an authorization code is valid (§4.1).
   *
   * @default 1
   */
  readonly code_uses?: number | 'unlimited';
  /**
   * Validity of an authorization code (§8), in seconds.
   *
   * @default 300
   */
  readonly code_ttl_seconds?: number;
  /**
   * A passback for a user that does not exist (§4.2): refused, or the user is created.
   *
   * @default 'refuse'
   */
  readonly unknown_user?: 'refuse' | 'create';
  /**
   * `union_id` of the answer to a passback by `union_id`: the same, or any, as where users are
   * merged.
   *
   * @default 'same'
   */
  readonly passback_union_id?: 'same' | 'any';
  /**
   * The prefix of the names of the chat platform (§2.2).
   *
   * @default 'chat_'
   */
  readonly chat_prefix?: `${string}_`;
  /**
   * Names of headers that every request needs besides those of HTTP, such as the key of a gateway.
   *
   * @default none
   */
  readonly headers?: readonly string[];
}

/**
 * The content of a platform file, complete: a profile, the client and the service have one each.
 */
export type Platform = Required<Omit<PlatformFile, '$schema' | 'signing' | 'result_codes'>> & {
  readonly signing: SigningRecipes;
  /** `null` for those of this project. */
  readonly result_codes: PlatformResultCodes | null;
};

/** A field of a platform file. */
interface PlatformField<T> {
  /** The value of a file without the field. */
  readonly default: T;
  /** @throws InvalidInputError that begins with `label` */
  readonly parse: (json: unknown, label: string) => T;
}

/**
 * A field whose value is taken as it is if it is right; `fault` follows the name of one that is
 * not.
 */
function field<T>(
  defaultValue: T,
  fault: string,
  isRight: (json: unknown) => boolean,
): PlatformField<T> {
  return {
    default: defaultValue,
    parse: (json, label) => {
      if (isRight(json)) return json as T;
      throw new InvalidInputError(`${label} ${fault}`);
    },
  };
}

/** One of several values, the default first. */
function choice<const Values extends readonly (string | number)[]>(...values: Values) {
  const fault = `must be one of ${values.map((value) => JSON.stringify(value)).join(', ')}`;
  return field<Values[number]>(values[0] ?? '', fault, (json) =>
    values.some((value) => value === json),
  );
}

/** A whole number, or one of some words. */
function count<const Word extends string>(
  defaultValue: number | Word,
  min: number,
  max: number,
  ...words: readonly Word[]
) {
  const allowed = [
    `a whole number from ${min} to ${max}`,
    ...words.map((word) => JSON.stringify(word)),
  ];
  const isCount = (json: unknown) =>
    Number.isSafeInteger(json) && Number(json) >= min && Number(json) <= max;
  return field<number | Word>(
    defaultValue,
    `is not ${allowed.join(' or ')}`,
    (json) => isCount(json) || words.some((word) => word === json),
  );
}

const scopes = field<readonly string[] | 'any'>(
  [defaultScope],
  'is neither a list of texts nor "any"',
  (json) =>
    json === 'any' ||
    (Array.isArray(json) &&
      json.length > 0 &&
      json.every((value) => typeof value === 'string' && value !== '')),
);

const chatPrefix: PlatformField<ChatPrefix> = {
  default: neutralChatPrefix,
  parse: (json, label) => {
    if (typeof json === 'string' && chatPrefixPattern.test(json)) return json as ChatPrefix;
    throw new InvalidInputError(
      `${label} is not a prefix: letters and digits, with "_" at the end`,
      {
        hint: 'Write it as "wx_": the platform then calls chat_open_id wx_open_id.',
      },
    );
  },
};

const resultCodes: PlatformField<PlatformResultCodes | null> = {
  default: null,
  parse: (json, label) => {
    if (json === null) return null;
    parseResultCodes(json, label);
    return json as PlatformResultCodes;
  },
};

/**
 * What no file that is handed over can have: it runs, loads or sends something, or is a place on
 * one's own machine. The options of `profile set` set it.
 */
export const ownMembers: Readonly<Record<string, string>> = {
  secret: '--app-secret-stdin',
  headers: "--header 'X-Key=env:X_KEY'",
  proxy: '--proxy http://proxy.example:3128',
  ca_file: '--ca-file authority.pem',
  client_cert: '--client-cert client.pem',
  client_key: '--client-key client.key',
  allow_http: '--allow-http',
  signing_module: '--signing-module signer.mjs',
};

/**
 * @throws InvalidInputError for a member of a file, at `path`, that belongs into one's own profile
 */
export function refuseOwnMember(path: string, option: string): never {
  throw new InvalidInputError(`${path} is not taken from a file`, {
    hint: 'Files are handed on: what runs, loads or sends something belongs into your own profile. To set it in a profile such as shop:',
    commands: [`userinfo profile set shop ${option}`],
  });
}

/** @throws InvalidInputError for a module, which no file names; `before` begins its path */
export function refuseModule(json: unknown, before: string): void {
  if (isObject(json) && 'module' in json)
    refuseOwnMember(`${before}module`, ownMembers.signing_module as string);
}

/** A signature that is not given has its default recipe. */
const parseRecipes = fields<SigningRecipes>(
  { app_sign: parseRecipe, sign: parseRecipe },
  defaultRecipes,
);

const signing: PlatformField<SigningRecipes> = {
  default: defaultRecipes,
  parse: (json, label) => {
    refuseModule(json, `${label}.`);
    for (const [name, recipe] of Object.entries(checkFields(json, label)))
      refuseModule(recipe, `${label}.${name}.`);
    try {
      return parseRecipes(json, '');
    } catch (cause) {
      if (!(cause instanceof RecipeError)) throw cause;
      throw new InvalidInputError(`${label}: ${cause.message}`, { hint: cause.hint, cause });
    }
  },
};

const maxHeaders = 64;

/** @throws InvalidInputError for headers with their values, which no file has */
function refuseHeaderValues(json: object, label: string): void {
  const [name] = Object.keys(json);
  if (name === undefined) return;
  checkHeaderName(name, label);
  const option = `--header ${quoteWhereNeeded(headerFromVariable(name))}`;
  refuseOwnMember(`${label}.${name}`, option);
}

const headers: PlatformField<readonly string[]> = {
  default: [],
  parse: (json, label) => {
    if (isObject(json)) refuseHeaderValues(json, label);
    if (!Array.isArray(json) || !json.every((name) => typeof name === 'string'))
      throw new InvalidInputError(`${label} is not a list of names`);
    if (json.length > maxHeaders)
      throw new InvalidInputError(`${label} has more than ${maxHeaders} names`);
    checkHeaderNames(json, label);
    return json;
  },
};

/**
 * The fields of a platform file, in the order of docs/platform.md and docs/platform.schema.json.
 */
export const platformFields: { readonly [Name in keyof Platform]: PlatformField<Platform[Name]> } =
  {
    signing,
    result_codes: resultCodes,
    http_status: choice('by-code', 200),
    absent: choice('omit', 'null', 'empty'),
    empty_object: choice('object', 'list', 'null'),
    refusal_data: choice('object', 'list', 'null', 'omit'),
    values: choice('text', 'as-written'),
    unknown_parameters: choice('refuse', 'ignore'),
    scopes,
    clock_window_seconds: count(defaultClockWindowSeconds, 0, maxClockWindowSeconds, 'unlimited'),
    clock_ahead_seconds: count('same', 0, maxClockWindowSeconds, 'unlimited', 'same'),
    replay: choice('refuse', 'allow'),
    code_uses: count(1, 1, Number.MAX_SAFE_INTEGER, 'unlimited'),
    code_ttl_seconds: count<never>(defaultCodeTtlSeconds, 1, maxSeconds),
    unknown_user: choice('refuse', 'create'),
    passback_union_id: choice('same', 'any'),
    chat_prefix: chatPrefix,
    headers,
  };

const names = Object.keys(platformFields) as (keyof Platform)[];

/**
 * A platform of which nothing is known: all that the spec leaves open is as this project decided.
 */
export const defaultPlatform = Object.fromEntries(
  names.map((name) => [name, platformFields[name].default]),
) as unknown as Platform;

/**
 * Parses the JSON of a platform file.
 *
 * @throws InvalidInputError that begins with `label` and names the field
 */
export function parsePlatform(json: unknown, label: string): Platform {
  for (const [name, option] of Object.entries(ownMembers)) {
    if (isObject(json) && name in json && !(name in platformFields))
      refuseOwnMember(`${label}: ${name}`, option);
  }
  const { $schema: _, ...fields } = checkFields(json, label, [...names, '$schema']);
  const parsed = Object.entries(fields).map(([name, value]) => {
    const { parse } = platformFields[name as keyof Platform];
    return [name, parse(value, `${label}: ${name}`)];
  });
  return { ...defaultPlatform, ...Object.fromEntries(parsed) };
}

/**
 * The short form of a platform, for people and files: without the fields that have their default.
 */
export function formatPlatform(platform: Platform): PlatformFile {
  const changed = names.filter(
    (name) => !isDeepStrictEqual(platform[name], platformFields[name].default),
  );
  const fields = Object.fromEntries(changed.map((name) => [name, platform[name]]));
  if (!changed.includes('signing')) return fields;
  return { ...fields, signing: formatRecipes(platform.signing) };
}

/** As files have them: in their short form, without those that are the default. */
function formatRecipes(recipes: SigningRecipes): NonNullable<PlatformFile['signing']> {
  const changed = signatureNames.filter(
    (name) => !isDeepStrictEqual(recipes[name], defaultRecipes[name]),
  );
  return Object.fromEntries(changed.map((name) => [name, formatRecipe(recipes[name])]));
}
