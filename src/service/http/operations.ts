import { readData } from '../../core/contract/answer-data.js';
import type { OperationName } from '../../core/contract/endpoints.js';
import { UserInfoError } from '../../core/contract/errors.js';
import { exchangeChatPrefix, splitInfoNames } from '../../core/contract/info-names.js';
import { maxPassbackKeys } from '../../core/contract/limits.js';
import { type Parameters, parameterText } from '../../core/contract/parameters.js';
import { checkPassback, type PassbackUser } from '../../core/contract/passback.js';
import { resultCode } from '../../core/contract/result-codes.js';
import { parseUserInfo } from '../../core/contract/user-info.js';
import { applyPassback, checkRecordSize } from '../../core/contract/user-record.js';
import type { Platform } from '../../core/platform/platform.js';
import { randomHex } from '../administration/admin-context.js';
import type { Obstacle } from '../store/apps.js';
import type { RequestStore } from '../store/request-store.js';
import { RefusedError } from './refusal.js';

/** What became of a request. */
export interface OperationResult {
  /** The user that it was about, for the log and the page; `null` if that is not known. */
  readonly user: PassbackUser | null;
  /** `data` of the answer, or why the request is refused. */
  readonly result: object | UserInfoError;
}

/** A request whose parameters are those of its operation. */
export interface CheckedRequest {
  /** The user that its parameters name; `null` if they name none. */
  readonly user: PassbackUser | null;
  readonly carryOut: (store: RequestStore) => Promise<OperationResult | Obstacle>;
}

/**
 * Checks a request of an authenticated app.
 *
 * @throws InvalidInputError
 */
type Operation = (parameters: Parameters, platform: Platform) => CheckedRequest;

/** §4.1. Refused with 40106. */
const read: Operation = (parameters, platform) => ({
  // Its code names the user.
  user: null,
  carryOut: async (store) => {
    const authorized = await store.readUser(parameterText(parameters, 'code'));
    if (typeof authorized === 'string') return authorized;
    const { record, infoNames, unionId } = authorized;
    const user = unionId === null ? null : ({ by: 'union_id', unionId } as const);
    if (record === null) return { user, result: new RefusedError(resultCode.codeNotValid) };
    const infoName = parameterText(parameters, 'info_name');
    const names = infoName === '' ? null : splitInfoNames(infoName);
    return { user, result: readData(record, names, infoNames, platform) };
  },
});

/** Size of the ID of a user that a passback creates. */
const unionIdBytes = 16;

/**
 * §4.2. Refused with 40401, 40901 and 41301.
 *
 * @throws InvalidInputError (40003 to 40006, 41301)
 */
const passback: Operation = (parameters, { values, chat_prefix, unknown_user }) => {
  const target = { unionId: parameters.get('union_id'), primaryKey: parameters.get('primary_key') };
  const { user, userInfo } = checkPassback(target, () =>
    parseUserInfo(parameterText(parameters, 'user_info'), maxPassbackKeys),
  );
  const storedName = (name: string) => exchangeChatPrefix(name, chat_prefix);
  const stored = new Map([...userInfo].map(([key, value]) => [storedName(key), value]));
  const newUser = unknown_user === 'create' ? { newUnionId: randomHex(unionIdBytes) } : {};
  const carryOut = async (store: RequestStore): Promise<OperationResult | Obstacle> => {
    const result = await store.passBack({
      user: user.by === 'union_id' ? user : { ...user, name: storedName(user.name) },
      change: (record) => checkRecordSize(applyPassback(record, stored, values)),
      ...newUser,
    });
    if (result === 'no user') return { user, result: new RefusedError(resultCode.noSuchUser) };
    if (result === 'several users')
      return { user, result: new RefusedError(resultCode.ambiguousPrimaryKey) };
    if (result instanceof UserInfoError) return { user, result };
    if (typeof result === 'string') return result;
    const { union_id } = result;
    return { user: { by: 'union_id', unionId: union_id }, result: { union_id } };
  };
  return { user, carryOut };
};

export const operations: Readonly<Record<OperationName, Operation>> = { read, passback };
