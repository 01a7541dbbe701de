import { isObject } from './fields.js';
import type { SpecialInfoName } from './info-names.js';
import { quoteName } from './unsafe-text.js';
import type { BasicInfo, ExtensionInfo, LoginDevice } from './user-record.js';

/**
 * The names of a tenant's own pieces of information, with their types. Extend it in your program, and `data` of a
 * read has them; other names are then errors.
 *
 * @example
 * declare module 'userinfo-cli' {
 *   interface TenantInfo {
 *     acme_level: 'silver' | 'gold';
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: programs extend it
export interface TenantInfo {}

/**
 * §4.1: the values of `info_name` with a special meaning. `device_info` and `location_info` are JSON-encoded objects
 * (shape rule 3).
 *
 * @example
 * const special: (keyof SpecialInfo)[] = ['mobile', 'device_info'];
 */
export type SpecialInfo = {
  readonly [Name in SpecialInfoName]: Name extends 'device_info' | 'location_info'
    ? readonly string[]
    : string;
};

type KnownInfo = SpecialInfo & TenantInfo;

/**
 * A name of `info_name`: any text, or, once `TenantInfo` has names, these and the special ones. A special name in
 * other letter case is an error.
 *
 * @example
 * type Level = InfoName<'acme_level'>;
 */
export type InfoName<Name extends string> = string extends Name
  ? Name
  : Name extends keyof KnownInfo | 'union_id'
    ? Name
    : keyof TenantInfo extends never
      ? Lowercase<Name> extends keyof SpecialInfo
        ? never
        : Name
      : never;

/** The value of a name: that of §4.1 or of `TenantInfo`, else text (shape rule 2). */
type InfoValue<Name extends string> = string extends Name
  ? string | readonly string[]
  : Name extends keyof KnownInfo
    ? KnownInfo[Name]
    : string;

/**
 * `data` of a read without `info_name` (§4.1, shape rule 1).
 *
 * @example
 * const { data } = await client.read({ code });
 * const mobile = (data satisfies WholeReadData).basic_info?.mobile;
 */
export type WholeReadData = {
  readonly union_id: string;
  readonly basic_info?: BasicInfo;
  readonly extension_info?: ExtensionInfo;
  readonly login_device_info?: readonly LoginDevice[];
};

/**
 * `data` of a read with these names (§4.1, shape rule 2). A name without a value is absent.
 *
 * @example
 * const show = ({ union_id, mobile }: NamedReadData<'mobile'>) => `${union_id}: ${mobile ?? 'unknown'}`;
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

type IsOfType = (value: unknown) => boolean;

const isText: IsOfType = (value) => typeof value === 'string';
const isListOf =
  (isItem: IsOfType): IsOfType =>
  (value) =>
    Array.isArray(value) && value.every(isItem);

/** The types of §4.1; the other requested names are text. */
const dataTypes: Readonly<Record<string, IsOfType>> = {
  basic_info: isObject,
  extension_info: isObject,
  login_device_info: isListOf(isObject),
  device_info: isListOf(isText),
  location_info: isListOf(isText),
};

/**
 * Why `data` of a read does not have the types of §4.1, in words that follow "but"; or `null`. Keys that were not
 * requested and that §4.1 does not list are not looked at.
 */
export function readDataFault(
  data: Readonly<Record<string, unknown>>,
  infoNames: readonly string[],
): string | null {
  const wrong = [...Object.keys(dataTypes), ...infoNames].find(
    (name) => Object.hasOwn(data, name) && !(dataTypes[name] ?? isText)(data[name]),
  );
  return wrong === undefined ? null : `${quoteName(wrong)} of its data does not have the type of §4.1`;
}
