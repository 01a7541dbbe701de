import { resultCode } from '../../protocol/result-codes.js';
import { quoteName } from '../../protocol/text.js';
import { parseUserRecord, type UserRecord } from '../../protocol/user-record.js';
import { type AdminContext, checkKey, listAll, NotFoundError } from './admin-context.js';

/** The key of a user in the store. */
export interface UserKey {
  readonly tenantCode: string;
  readonly unionId: string;
}

/** Number of records in one transaction, and in memory. */
const batchSize = 128;

export async function putUser({ store }: AdminContext, record: UserRecord): Promise<void> {
  const checked = checkRecord(record);
  await store.write(({ users }) => users.put(checked));
}

export async function putUsers(
  { store }: AdminContext,
  records: Iterable<UserRecord> | AsyncIterable<UserRecord>,
): Promise<number> {
  let count = 0;
  let waiting: UserRecord[] = [];
  const flush = async () => {
    const together = waiting;
    waiting = [];
    await store.write(({ users }) => users.putAll(together));
    count += together.length;
  };
  try {
    for await (const record of records) {
      waiting.push(checkRecord(record));
      if (waiting.length === batchSize) await flush();
    }
  } finally {
    if (waiting.length > 0) await flush();
  }
  return count;
}

export async function getUser({ store }: AdminContext, key: UserKey): Promise<UserRecord> {
  const record = await store.read(({ users }) => users.find(key.tenantCode, key.unionId));
  if (record === null) throw noSuchUser(key);
  return record;
}

export function listUsers(
  { store }: AdminContext,
  tenantCode: string,
): AsyncGenerator<UserRecord, void, undefined> {
  return listAll(
    (after, limit) => store.read(({ users }) => users.list(tenantCode, after, limit)),
    (record) => record.union_id,
  );
}

export async function deleteUser({ store }: AdminContext, key: UserKey): Promise<void> {
  const deleted = await store.write(({ users }) => users.delete(key.tenantCode, key.unionId));
  if (!deleted) throw noSuchUser(key);
}

export function noSuchUser({ tenantCode, unionId }: UserKey): NotFoundError {
  return new NotFoundError(
    resultCode.noSuchUser,
    `tenant ${quoteName(tenantCode)} has no user ${quoteName(unionId)}`,
  );
}

/** Types only check records of TypeScript code. */
function checkRecord(record: UserRecord): UserRecord {
  const checked = parseUserRecord(JSON.stringify(record));
  checkKey('tenant_code', checked.tenant_code);
  checkKey('union_id', checked.union_id);
  return checked;
}
