import { randomBytes } from 'node:crypto';
import { readData } from '../../core/contract/answer-data.js';
import type { OperationName } from '../../core/contract/endpoints.js';
import { UserInfoError } from '../../core/contract/errors.js';
import { splitInfoNames, swapChatPrefix } from '../../core/contract/info-names.js';
import { maxPassbackKeys } from '../../core/contract/limits.js';
import { type Parameters, parameterText } from '../../core/contract/parameters.js';
import { checkPassback, type PassbackUser } from '../../core/contract/passback.js';
import { resultCode } from '../../core/contract/result-codes.js';
import { parseUserInfo } from '../../core/contract/user-info.js';
import { applyPassback, checkRecordSize } from '../../core/contract/user-record.js';
import type { Platform } from '../../core/platform/platform.js';
import type { Obstacle } from '../store/apps.js';
import type { RequestStore } from '../store/request-store.js';
import { RefusedError } from './refusal.js';

/** What a request did, or why it is refused. */
export type OperationResult = {
  /** The user that it was about, for the log and the page; `null` if that is not known. */
  readonly user: PassbackUser | null;
} & (
  | {
      readonly kind: 'done';
      /** `data` of the answer. */
      readonly data: object;
    }
  | { readonly kind: 'refused'; readonly error: Error }
);

function refused(user: PassbackUser | null, error: Error): OperationResult {
  return { kind: 'refused', user, error };
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
    if (record === null) return refused(user, new RefusedError(resultCode.codeNotValid));
    const infoName = parameterText(parameters, 'info_name');
    const names = infoName === '' ? null : splitInfoNames(infoName);
    return { kind: 'done', user, data: readData(record, names, infoNames, platform) };
  },
});

/** The ID of a user that a passback creates. */
const randomUnionId = () => randomBytes(16).toString('hex');

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
  const storedName = (name: string) => swapChatPrefix(name, chat_prefix);
  const stored = new Map([...userInfo].map(([key, value]) => [storedName(key), value]));
  const newUser = unknown_user === 'create' ? { newUnionId: randomUnionId() } : {};
  const carryOut = async (store: RequestStore): Promise<OperationResult | Obstacle> => {
    const result = await store.passBack({
      user: user.by === 'union_id' ? user : { ...user, name: storedName(user.name) },
      change: (record) => checkRecordSize(applyPassback(record, stored, values)),
      ...newUser,
    });
    if (result === 'no user') return refused(user, new RefusedError(resultCode.noSuchUser));
    if (result === 'several users')
      return refused(user, new RefusedError(resultCode.ambiguousPrimaryKey));
    if (result instanceof UserInfoError) return refused(user, result);
    if (typeof result === 'string') return result;
    const { union_id } = result;
    return { kind: 'done', user: { by: 'union_id', unionId: union_id }, data: { union_id } };
  };
  return { user, carryOut };
};

export const operations: Readonly<Record<OperationName, Operation>> = { read, passback };
