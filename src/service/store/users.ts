import { hash } from 'node:crypto';
import { UserInfoError } from '../../core/contract/errors.js';
import type { PassbackUser } from '../../core/contract/passback.js';
import { readableValues, type UserRecord } from '../../core/contract/user-record.js';
import { StoreUnavailableError } from '../database/errors.js';
import type { Sql } from '../database/sql-driver.js';
import { rowStatements, statements } from './statements.js';

/** Why a change did not find exactly one user. */
export type NoSingleUser = 'no user' | 'several users';

/** The rows of a deleted user, by kind. The audit keeps its masked ID. */
export interface DeletedRows {
  readonly records: number;
  /** Digests of the values by which the user could be found. */
  readonly indexed_values: number;
  readonly codes: number;
}

type UserKey = Pick<UserRecord, 'tenant_code' | 'union_id'>;

/** Its record as JSON. */
type StoredUser = UserKey & { readonly record: string };

/**
 * Maximum number of look-ups: another process may take a value from a user between its look-up and
 * its lock, but hardly this often in a row.
 */
const lookUps = 5;

/** The user records of all tenants; each operation is for one tenant. */
export function usersOf(sql: Sql) {
  /** Locks the user that a passback names until the transaction ends, and returns its record. */
  async function lock(tenantCode: string, user: PassbackUser): Promise<UserRecord | NoSingleUser> {
    if (user.by === 'union_id') return (await lockById(tenantCode, user.unionId)) ?? 'no user';
    const digest = valueDigest(user.name, user.value);
    for (let lookUp = 0; lookUp < lookUps; lookUp++) {
      const [first, second] = await sql.all<UserKey>(statements.findUsersByValue, [
        tenantCode,
        digest,
      ]);
      if (first === undefined) return 'no user';
      if (second !== undefined) return 'several users';
      const record = await lockById(tenantCode, first.union_id);
      if (record !== null && hasValue(record, user)) return record;
    }
    throw new StoreUnavailableError('the user of a primary key changes too often');
  }

  async function lockById(tenantCode: string, unionId: string): Promise<UserRecord | null> {
    const [row] = await sql.all<StoredUser>(statements.lockUser, [tenantCode, unionId]);
    return row === undefined ? null : toRecord(row.record);
  }

  async function changeValues(
    changes: readonly (readonly [UserKey, ChangedValues])[],
  ): Promise<void> {
    const rowsOf = (kind: keyof ChangedValues) =>
      changes.flatMap(([{ tenant_code, union_id }, changed]) =>
        changed[kind].map((digest) => [tenant_code, digest, union_id]),
      );
    const added = rowsOf('added').sort(([, one = ''], [, other = '']) => (one < other ? -1 : 1));
    await Promise.all([
      sql.each(rowStatements.removeValue, rowsOf('removed')),
      sql.each(rowStatements.addValue, added),
    ]);
  }

  /**
   * Stores records, each in place of its user's current one; of several for one user the last. Rows
   * are locked and indexed in the order of their keys: several processes do not deadlock, and each
   * page is written once.
   */
  async function putAll(records: readonly UserRecord[]): Promise<void> {
    const lastOfEach = [...new Map(records.map((record) => [keyOf(record), record]))].sort(byFirst);
    const rows = lastOfEach.map(([, record]) => rowOf(record));
    const before = new Map<string, UserRecord>();
    type Found = UserKey & { readonly record: string | null };
    for (const found of await sql.each<Found>(rowStatements.addOrLockUser, rows))
      if (found.record !== null) before.set(keyOf(found), toRecord(found.record));
    const replaced = lastOfEach.flatMap(([key], index) =>
      before.has(key) ? [rows[index] ?? []] : [],
    );
    await sql.each(rowStatements.replaceRecord, replaced);
    await changeValues(
      lastOfEach.map(([key, record]) => [record, changedValues(before.get(key) ?? null, record)]),
    );
  }

  /**
   * Changes one user's record, which is locked meanwhile, and returns it, or the error with which
   * `change` refuses.
   */
  async function changeOne(
    tenantCode: string,
    user: PassbackUser,
    change: (record: UserRecord) => UserRecord,
  ): Promise<UserRecord | NoSingleUser | UserInfoError> {
    const found = await lock(tenantCode, user);
    if (typeof found === 'string') return found;
    const changed = tryChange(change, found);
    if (changed instanceof UserInfoError) return changed;
    await Promise.all([
      sql.run(statements.setRecord, rowOf(changed)),
      changeValues([[changed, changedValues(found, changed)]]),
    ]);
    return changed;
  }

  return {
    async find(tenantCode: string, unionId: string): Promise<UserRecord | null> {
      const [row] = await sql.all<StoredUser>(statements.findUser, [tenantCode, unionId]);
      return row === undefined ? null : toRecord(row.record);
    },
    /** The users after an ID, ordered by ID. */
    async list(tenantCode: string, after: string, limit: number): Promise<UserRecord[]> {
      const rows = await sql.all<StoredUser>(statements.listUsers, [tenantCode, after, limit]);
      return rows.map(({ record }) => toRecord(record));
    },
    /** The users after an ID that have a value, ordered by ID. */
    async listByValue(
      tenantCode: string,
      value: { readonly name: string; readonly value: string },
      after: string,
      limit: number,
    ): Promise<UserRecord[]> {
      const digest = valueDigest(value.name, value.value);
      const values = [tenantCode, digest, after, limit];
      const rows = await sql.all<StoredUser>(statements.listUsersByValue, values);
      return rows.map(({ record }) => toRecord(record));
    },
    putAll,
    change: changeOne,
    /**
     * The same for the user of a passback, who is added if there is none: one transaction at a
     * time, so that no user is added twice.
     */
    async changeOrAdd(
      tenant_code: string,
      user: PassbackUser,
      change: (record: UserRecord) => UserRecord,
      newUnionId: string,
    ): Promise<UserRecord | NoSingleUser | UserInfoError> {
      await sql.all(statements.lockAdding, [JSON.stringify([tenant_code, user])]);
      const outcome = await changeOne(tenant_code, user, change);
      if (outcome !== 'no user') return outcome;
      const union_id = user.by === 'union_id' ? user.unionId : newUnionId;
      const added = tryChange(change, {
        tenant_code,
        union_id,
        basic_info: {},
        extension_info: {},
        login_device_info: [],
      });
      if (!(added instanceof UserInfoError)) await putAll([added]);
      return added;
    },
    /**
     * Deletes a user with all its rows, and returns the number of them by kind; `null` if there is
     * no such user.
     */
    async delete(tenantCode: string, unionId: string): Promise<DeletedRows | null> {
      const record = await lockById(tenantCode, unionId);
      if (record === null) return null;
      const values = changedValues(record, null).removed.map((digest) => [
        tenantCode,
        digest,
        unionId,
      ]);
      const indexed_values = (await sql.each(rowStatements.removeValue, values)).length;
      const codes = await sql.run(statements.removeCodesOfUser, [tenantCode, unionId]);
      return {
        records: await sql.run(statements.deleteUser, [tenantCode, unionId]),
        indexed_values,
        codes,
      };
    },
  };
}

export type Users = ReturnType<typeof usersOf>;

function rowOf(record: UserRecord): readonly string[] {
  return [record.tenant_code, record.union_id, JSON.stringify(record)];
}

function byFirst([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
}

/** Neither part holds U+0000. */
function keyOf({ tenant_code, union_id }: UserKey): string {
  return `${tenant_code}\0${union_id}`;
}

/** Whether a user has a value by which users are found. */
function hasValue(record: UserRecord, { name, value }: { name: string; value: string }): boolean {
  return readableValues(record).get(name) === value;
}

/** The changed record, or the error with which `change` refuses. */
export function tryChange(
  change: (record: UserRecord) => UserRecord,
  record: UserRecord,
): UserRecord | UserInfoError {
  try {
    return change(record);
  } catch (error) {
    if (error instanceof UserInfoError) return error;
    throw error;
  }
}

/** Digests of named values. */
interface ChangedValues {
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** The values that are only in the old record, and those that are only in the new one. */
export function changedValues(old: UserRecord | null, record: UserRecord | null): ChangedValues {
  const before = old === null ? new Map<string, string>() : readableValues(old);
  const after = record === null ? new Map<string, string>() : readableValues(record);
  return { removed: valuesMissing(before, after), added: valuesMissing(after, before) };
}

/** The values that the others do not have. */
function valuesMissing(
  values: ReadonlyMap<string, string>,
  others: ReadonlyMap<string, string>,
): string[] {
  const missing = [...values].filter(([name, value]) => others.get(name) !== value);
  return missing.map(([name, value]) => valueDigest(name, value));
}

/** Hides the text in the error: it holds personal data. */
export function toRecord(json: string): UserRecord {
  try {
    return JSON.parse(json) as UserRecord;
  } catch {
    throw new Error('a record in the table users is not JSON');
  }
}

/**
 * The digest of a named value in the index: names and values may be long. No name holds U+0000, so
 * all pairs differ.
 */
export function valueDigest(name: string, value: string): string {
  return hash('sha256', `${name}\0${value}`, 'base64url');
}
