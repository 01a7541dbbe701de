import { splitInfoNames } from '../../protocol/info-names.js';
import { type Parameters, parameterText } from '../../protocol/parameters.js';
import { applyPassback, checkPassback } from '../../protocol/passback.js';
import { type ReadData, readData } from '../../protocol/read-data.js';
import { resultCode } from '../../protocol/result-codes.js';
import { parseUserInfo } from '../../protocol/user-info.js';
import { checkRecordSize } from '../../protocol/user-record.js';
import type { Records } from '../store/store.js';
import { RefusedError } from './refusal.js';

/** §4.1, for an app that may. Throws a RefusedError (40106). */
export async function read(parameters: Parameters, records: Records): Promise<ReadData> {
  const tenantCode = parameterText(parameters, 'tenant_code');
  const code = await records.codes.take(tenantCode, parameterText(parameters, 'code'));
  const record = code && (await records.users.find(tenantCode, code.union_id));
  if (code === null || record === null) throw new RefusedError(resultCode.codeNotValid);
  const infoName = parameterText(parameters, 'info_name');
  return readData(record, infoName === '' ? null : splitInfoNames(infoName), code.info_names);
}

/** §4.2, for an app that may. Throws an InvalidInputError (40003 to 40006, 41301) or a RefusedError (40401, 40901). */
export async function passback(
  parameters: Parameters,
  records: Records,
): Promise<{ readonly union_id: string }> {
  const target = { unionId: parameters.get('union_id'), primaryKey: parameters.get('primary_key') };
  const { user, userInfo } = checkPassback(target, () =>
    parseUserInfo(parameterText(parameters, 'user_info')),
  );
  const changed = await records.users.change(parameterText(parameters, 'tenant_code'), user, (record) =>
    checkRecordSize(applyPassback(record, userInfo)),
  );
  if (changed === 'no user') throw new RefusedError(resultCode.noSuchUser);
  if (changed === 'several users') throw new RefusedError(resultCode.ambiguousPrimaryKey);
  return { union_id: changed.union_id };
}
