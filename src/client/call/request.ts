import { type Endpoint, endpointNamed } from '../../core/contract/endpoints.js';
import { InvalidInputError } from '../../core/contract/errors.js';
import { checkInfoNames } from '../../core/contract/info-names.js';
import {
  checkMembers,
  mustBeFilledText,
  mustBePlainObject,
  mustBeText,
  type Shape,
  typeOrNumber,
} from '../../core/contract/members.js';
import { checkText, type Parameters } from '../../core/contract/parameters.js';
import { checkPassback, type PassbackTarget, wireNames } from '../../core/contract/passback.js';
import type { InfoName } from '../../core/contract/read-data.js';
import { resultCode } from '../../core/contract/result-codes.js';
import {
  type FlatUserInfo,
  formatFlatJson,
  toUserInfo,
  type UserInfo,
  type UserInfoEntries,
} from '../../core/contract/user-info.js';

/** Input of a read (§4.1). */
export interface ReadInput<Name extends string = string> {
  /** The authorization code issued to the user. */
  readonly code: string;
  /**
   * Names of the requested pieces of information, at least one.
   *
   * @default all that the code authorizes
   */
  readonly infoNames?: readonly InfoName<Name>[];
  /**
   * The authorization type (§4.1).
   *
   * @default not sent: that of the service
   */
  readonly scope?: string;
}

/**
 * Input of a passback (§4.2): `unionId` takes priority over `primaryKey`, the key of `userInfo`
 * that identifies the user.
 *
 * @example
 * const byId: PassbackInput = { unionId: 'u1', userInfo: { acme_level: 'gold' } };
 * const byKey: PassbackInput = { primaryKey: 'mobile', userInfo: { mobile: '13800001111' } };
 */
export type PassbackInput<Info extends object = UserInfo> = {
  /** The keys and values to write; `null` removes a key (§4.2). */
  readonly userInfo: FlatUserInfo<Info>;
} & (NamedByPrimaryKey<Info> | NamedByUnionId);

/** A passback for the user that has a union ID; `primaryKey` is sent, too, if it is given. */
interface NamedByUnionId {
  readonly unionId: string;
  readonly primaryKey?: string | undefined;
}

/** A passback for the user that has the value of a key of `userInfo`. */
interface NamedByPrimaryKey<Info extends object> {
  readonly unionId?: undefined;
  readonly primaryKey: string & keyof Info;
}

/** A checked request before it is signed: the part that is the same for all attempts. */
export interface PlainRequest {
  readonly endpoint: Endpoint;
  /**
   * The parameters of the operation, without those of the caller, in the order of the spec's
   * tables.
   */
  readonly parameters: Parameters;
  /** The names that a read requests; none for the whole record, and for a passback. */
  readonly infoNames: readonly string[];
}

const readMembers: Shape<ReadInput> = {
  what: 'the input of a read',
  members: {
    code: mustBeText,
    infoNames: mustBeInfoNames,
    scope: mustBeFilledText,
  },
  required: ['code'],
};

function mustBeInfoNames(value: unknown): string | null {
  if (!Array.isArray(value)) return `is ${typeOrNumber(value)}, not an array of texts`;
  if (Array.from(value).every((name) => typeof name === 'string')) return null;
  return 'is an array with values other than text, not an array of texts';
}

const passbackMembers: Shape<{ unionId: string; primaryKey: string; userInfo: UserInfo }> = {
  what: 'the input of a passback',
  members: { unionId: mustBeFilledText, primaryKey: mustBeFilledText, userInfo: mustBePlainObject },
  required: ['userInfo'],
};

/**
 * Checks the input of a read (§4.1), and builds its request; `isRow` allows further members.
 *
 * @throws InvalidInputError
 */
export function buildRead<Name extends string>(
  input: ReadInput<Name>,
  isRow = false,
): PlainRequest {
  checkMembers(readMembers, input, isRow);
  const { code, infoNames, scope } = input as unknown as ReadInput;
  // Checked again when the request is signed; here the stack of the error leads to the caller.
  if (code === '') {
    throw new InvalidInputError('parameter code is missing', {
      resultCode: resultCode.missingParameter,
    });
  }
  const names = infoNames === undefined ? [] : checkInfoNames(infoNames);
  return plainRequest(
    endpointNamed.read,
    { code, scope, info_name: names.join(',') || undefined },
    names,
  );
}

/**
 * Checks a caller's input and builds the request of a passback; `isRow` allows further members.
 *
 * @throws InvalidInputError
 */
export function buildCheckedPassback<Info extends object>(
  input: PassbackInput<Info>,
  isRow = false,
): PlainRequest {
  checkMembers(passbackMembers, input, isRow);
  const readUserInfo = () => toUserInfo(Object.entries(input.userInfo), sdkNames.userInfo);
  return buildPassback(input, readUserInfo, sdkNames);
}

/** The parameters as the input of a passback has them. */
const sdkNames: typeof wireNames = {
  unionId: 'unionId',
  primaryKey: 'primaryKey',
  userInfo: 'userInfo',
};

/**
 * Builds the request of a passback (§4.2).
 *
 * @throws InvalidInputError, also what `readUserInfo` throws
 */
export function buildPassback(
  target: PassbackTarget,
  readUserInfo: () => UserInfoEntries,
  names = wireNames,
): PlainRequest {
  const { userInfo } = checkPassback(target, readUserInfo, names);
  checkText(names.unionId, target.unionId ?? '');
  checkText(names.primaryKey, target.primaryKey ?? '');
  return plainRequest(endpointNamed.passback, {
    union_id: target.unionId || undefined,
    primary_key: target.primaryKey || undefined,
    user_info: formatFlatJson(userInfo),
  });
}

function plainRequest(
  endpoint: Endpoint,
  values: Record<string, string | undefined>,
  infoNames: readonly string[] = [],
): PlainRequest {
  const parameters = new Map<string, string>();
  for (const name of Object.keys(values)) {
    const value = values[name];
    if (value === undefined) continue;
    checkText(name, value);
    parameters.set(name, value);
  }
  return { endpoint, parameters, infoNames };
}
