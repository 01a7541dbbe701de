import { isObject, jsonValueOf } from '../support/json.js';
import type { AnswerShape } from './answer-data.js';
import { quoteName } from './errors.js';
import {
  type InfoNameOf,
  infoNamesOf,
  type SpecialInfoName,
  specialInfoNames,
  swapChatPrefix,
} from './info-names.js';
import { typeName } from './members.js';
import type { BasicInfo, LoginDevice } from './user-record.js';

/**
 * A JSON value, as `JSON.parse` returns it. A whole number beyond 2^53, and a decimal that
 * JavaScript would round, is text, as it was sent.
 */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | JsonValue[]
  | { readonly [key: string]: JsonValue };

/**
 * The names of a tenant's own pieces of information, with their types. Extend it in your program,
 * and `data` of a read has them; other names are then errors. These types are what your program
 * knows of its platform: `read` does not check them: a number that may be beyond 2^53, such as the
 * ID of an order, is `number | string`. Special names have the types of §4.1.
 *
 * @example
 * declare module 'userinfo-exchange' {
 *   interface TenantInfo {
 *     acme_level: 'silver' | 'gold';
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: programs extend it
export interface TenantInfo {}

/**
 * The prefix of the names of the chat platform, if it is not the neutral one (§2.2). Extend it in
 * your program, and the special names and the fields of `basic_info` have that prefix.
 *
 * @example
 * declare module 'userinfo-exchange' {
 *   interface PlatformNames {
 *     chat_prefix: 'wx_';
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: programs extend it
export interface PlatformNames {}

type OwnPrefix = PlatformNames extends { readonly chat_prefix: infer Prefix extends string }
  ? Prefix
  : 'chat_';

/** A name as the platform has it. */
type OfPlatform<Name> = Name extends `chat_${infer Rest}` ? `${OwnPrefix}${Rest}` : Name;

/**
 * §4.1: the values of `info_name` with a special meaning. `device_info` and `location_info` are
 * JSON-encoded objects (shape rule 3).
 */
export type SpecialInfo = {
  readonly [Name in SpecialInfoName as OfPlatform<Name>]: Name extends InfoNameOf<'login_device_info'>
    ? readonly string[]
    : string;
};

type KnownInfo = SpecialInfo & TenantInfo;

/**
 * A name of `info_name`: any text. Once `TenantInfo` has names, only these and the special ones. A
 * special name in other letter case is an error that says the right one.
 *
 * @example
 * // A function around `read` with the names as a parameter.
 * const readNames = async <const Name extends string>(infoNames: readonly InfoName<Name>[]) =>
 *   (await client.read<Name>({ code, infoNames })).data;
 */
export type InfoName<Name extends string> = [Name] extends [never]
  ? string
  : string extends Name
    ? Name
    : Name extends keyof KnownInfo | 'union_id'
      ? Name
      : keyof TenantInfo extends never
        ? Lowercase<Name> extends keyof SpecialInfo
          ? Lowercase<Name>
          : Name
        : keyof KnownInfo;

/**
 * The value of a name: of the type of §4.1, else of that in `TenantInfo`, else whatever the
 * platform sends.
 */
type InfoValue<Name extends string> = Name extends keyof SpecialInfo
  ? SpecialInfo[Name]
  : Name extends keyof TenantInfo
    ? TenantInfo[Name]
    : JsonValue;

/** The fields of an object with the names of the platform. */
type Named<Fields> = { readonly [Field in keyof Fields as OfPlatform<Field>]?: string };

/**
 * `data` of a read without `info_name` (§4.1, shape rule 1). Any part may be missing. A number,
 * `true` or `false` is text here, as §2.2 and §2.3 have it, and `null` is absent; `body` of the
 * answer has what the platform sent, and `warnings` says what differs from §4.1.
 */
export type WholeReadData = {
  /** The ID of the user (§2.1). */
  readonly union_id: string;
  /** The fields of §2.2. */
  readonly basic_info?: Named<BasicInfo>;
  /** The keys that the tenant's applications passed back, as the platform sent them. */
  readonly extension_info?: { readonly [key: string]: JsonValue };
  /** The login devices (§2.3). */
  readonly login_device_info?: readonly Named<LoginDevice>[];
};

/**
 * `data` of a read with these names (§4.1, shape rule 2). A name without a value is absent. The
 * values of special names have the types of §4.1, as in `WholeReadData`; those of a tenant's own
 * are as the platform sent them.
 */
export type NamedReadData<Name extends string> = { readonly union_id: string } & {
  readonly [Key in Exclude<Name, 'union_id'>]?: InfoValue<Key>;
};

/**
 * `data` of a read (§4.1): the whole record, or one key for each of the requested names.
 *
 * @example
 * const whole = (data: ReadData) => data.basic_info?.mobile;
 * const named = (data: ReadData<'mobile'>) => data.mobile;
 */
export type ReadData<Name extends string = never> = [Name] extends [never]
  ? WholeReadData
  : NamedReadData<Name>;

/** Converts a value to its type of §4.1; returns `undefined` if it has another one. */
type Reading = (value: unknown) => unknown;

function asText(value: unknown): string | undefined {
  if (isLiteral(value)) return String(value);
  return typeof value === 'string' ? value : undefined;
}

/** §4.1, shape rule 3: text that is a JSON-encoded object; an object is encoded here. */
function asTexts(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const texts = value.map((item) => (isObject(item) ? JSON.stringify(item) : asText(item)));
  return texts.filter((text) => text !== undefined);
}

function asObject(value: unknown): object | undefined {
  return isObject(value) ? value : undefined;
}

function asFields(value: unknown): object | undefined {
  if (!isObject(value)) return undefined;
  return withTypes(value, () => asText);
}

function asDevices(value: unknown): unknown[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.filter(isObject).map(asFields);
}

/** A type of §4.1. */
interface SpecType {
  /** Its name in a warning. */
  readonly name: 'text' | 'an object' | 'an array';
  /** The name of the type of its items, if it is a list. */
  readonly item?: 'text' | 'an object';
  readonly read: Reading;
}

/**
 * The types of §4.1, of the parts of a whole record and of lists; other requested names are text.
 */
const dataTypes: ReadonlyMap<string, SpecType> = new Map<string, SpecType>([
  ['basic_info', { name: 'an object', read: asFields }],
  ['extension_info', { name: 'an object', read: asObject }],
  ['login_device_info', { name: 'an array', item: 'an object', read: asDevices }],
  ...infoNamesOf('login_device_info').map((name): [string, SpecType] => [
    name,
    { name: 'an array', item: 'text', read: asTexts },
  ]),
]);

const specialNames = Object.keys(specialInfoNames());

/**
 * `data` of a read with the types of `ReadData`; what has another one is left out. Keys of a
 * tenant's own are kept as they are.
 */
export function toReadData(
  data: Readonly<Record<string, unknown>>,
  { chat_prefix }: Pick<AnswerShape, 'chat_prefix'>,
): Record<string, unknown> {
  return withTypes(data, (platformName) => {
    const name = swapChatPrefix(platformName, chat_prefix);
    const special = specialNames.includes(name) ? asText : asItIs;
    return dataTypes.get(name)?.read ?? special;
  });
}

const asItIs: Reading = (value) => value;

function withTypes(
  fields: Readonly<Record<string, unknown>>,
  readingOf: (name: string) => Reading,
): Record<string, unknown> {
  const entries = Object.entries(fields).map(([name, value]) => [name, readingOf(name)(value)]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/**
 * Where `data` of a read has neither the types of §4.1 nor those of the platform, in words that
 * hold no value. Keys that were not requested and that §4.1 does not list are not looked at.
 */
export function readDataWarnings(
  data: Readonly<Record<string, unknown>>,
  infoNames: readonly string[],
  shape: AnswerShape,
): readonly string[] {
  const warnings: string[] = [];
  for (const name of new Set([...dataTypes.keys(), ...infoNames])) {
    if (!Object.hasOwn(data, name)) continue;
    const { name: type, item } = dataTypes.get(name) ?? { name: 'text' };
    const value = data[name];
    if (isOfPlatform(value, type, shape)) continue;
    const received = typeName(value);
    if (received !== type) warnings.push(`${quoteName(name)} is ${received}, not ${type}`);
    else if (item !== undefined)
      warnings.push(...itemWarnings(name, value as readonly unknown[], item));
  }
  return warnings;
}

/** §4.1, shape rule 3: text in a list is a JSON-encoded object. */
function itemWarnings(
  name: string,
  list: readonly unknown[],
  item: 'text' | 'an object',
): string[] {
  const wrong = list.map(typeName).find((type) => type !== item);
  if (wrong !== undefined)
    return [`${quoteName(name)} is an array with ${wrong} in it, not ${item}`];
  if (item === 'an object' || list.every((text) => isObject(jsonValueOf(String(text))))) return [];
  return [`${quoteName(name)} is an array with text in it that is not a JSON object`];
}

/** Whether a value that is not of its type is what the platform writes in its place. */
function isOfPlatform(
  value: unknown,
  type: SpecType['name'],
  { absent, empty_object, values }: AnswerShape,
): boolean {
  if (type === 'text')
    return (value === null && absent === 'null') || (isLiteral(value) && values === 'as-written');
  if (type !== 'an object') return false;
  if (empty_object === 'null') return value === null;
  return empty_object === 'list' && Array.isArray(value) && value.length === 0;
}

function isLiteral(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'boolean';
}
