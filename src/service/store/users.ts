import { hash } from 'node:crypto';
import { UserInfoError } from '../../core/contract/errors.js';
import type { PassbackUser } from '../../core/contract/passback.js';
import { readableValues, type UserRecord } from '../../core/contract/user-record.js';
import { StoreUnavailableError } from '../database/errors.js';
import { holdLock } from '../database/sql-dialects.js';
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

/** Returns the changed record. @throws UserInfoError if it refuses */
type RecordChange = (record: UserRecord) => UserRecord;

/** A value of a user by its name, such as `mobile`. */
interface NamedValue {
  readonly name: string;
  readonly value: string;
}

/**
 * Maximum number of look-ups: another process may take a value from a user between its look-up and
 * its lock, but hardly this often in a row.
 */
const lookUps = 5;

/** The user records of all tenants; each operation is for one tenant. */
export class Users {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async find(tenantCode: string, unionId: string): Promise<UserRecord | null> {
    const [row] = await this.#sql.all<StoredUser>(statements.findUser, [tenantCode, unionId]);
    return row === undefined ? null : toRecord(row.record);
  }

  /** The users after an ID, ordered by ID. */
  async list(tenantCode: string, after: string, limit: number): Promise<UserRecord[]> {
    const values = [tenantCode, after, limit];
    const rows = await this.#sql.all<StoredUser>(statements.listUsers, values);
    return rows.map(({ record }) => toRecord(record));
  }

  /** The users after an ID that have a value, ordered by ID. */
  async listByValue(
    tenantCode: string,
    value: NamedValue,
    after: string,
    limit: number,
  ): Promise<UserRecord[]> {
    const values = [tenantCode, valueDigest(value), after, limit];
    const rows = await this.#sql.all<StoredUser>(statements.listUsersByValue, values);
    return rows.map(({ record }) => toRecord(record));
  }

  /**
   * Stores records, each in place of its user's current one; of several for one user the last. Rows
   * are locked and indexed in the order of their keys: several processes do not deadlock, and each
   * page is written once.
   */
  async putAll(records: readonly UserRecord[]): Promise<void> {
    const lastByKey = new Map(records.map((record) => [keyOf(record), record]));
    const keys = [...lastByKey.keys()].sort();
    const stored = keys.flatMap((key) => lastByKey.get(key) ?? []);
    type LockedUser = UserKey & { readonly record: string | null };
    const rows = await this.#sql.each<LockedUser>(rowStatements.addOrLockUser, stored.map(rowOf));
    const oldByKey = new Map<string, UserRecord>();
    for (const row of rows) {
      if (row.record !== null) oldByKey.set(keyOf(row), toRecord(row.record));
    }
    const replaced = stored.filter((record) => oldByKey.has(keyOf(record)));
    await this.#sql.each(rowStatements.replaceRecord, replaced.map(rowOf));
    await this.#index(
      stored.map((record) => ({
        user: record,
        values: changedValues(oldByKey.get(keyOf(record)) ?? null, record),
      })),
    );
  }

  /**
   * Changes one user's record, which is locked meanwhile, and returns it, or the error with which
   * `change` refuses.
   */
  async change(
    tenantCode: string,
    user: PassbackUser,
    change: RecordChange,
  ): Promise<UserRecord | NoSingleUser | UserInfoError> {
    const record = await this.#lock(tenantCode, user);
    if (typeof record === 'string') return record;
    const changed = tryChange(change, record);
    if (changed instanceof UserInfoError) return changed;
    await Promise.all([
      this.#sql.run(statements.setRecord, rowOf(changed)),
      this.#index([{ user: changed, values: changedValues(record, changed) }]),
    ]);
    return changed;
  }

  /**
   * For PostgreSQL: lets one transaction at a time add this user, so that no user is added twice.
   * In SQLite a transaction that writes is alone.
   */
  async lockAdding(tenantCode: string, user: PassbackUser): Promise<void> {
    await this.#sql.all(holdLock, [JSON.stringify([tenantCode, user])]);
  }

  /**
   * The same as `change` for the user of a passback, who is added if there is none. In PostgreSQL,
   * call `lockAdding` first.
   */
  async changeOrAdd(
    tenantCode: string,
    user: PassbackUser,
    change: RecordChange,
    newUnionId: string,
  ): Promise<UserRecord | NoSingleUser | UserInfoError> {
    const result = await this.change(tenantCode, user, change);
    if (result !== 'no user') return result;
    const added = tryChange(change, {
      tenant_code: tenantCode,
      union_id: user.by === 'union_id' ? user.unionId : newUnionId,
      basic_info: {},
      extension_info: {},
      login_device_info: [],
    });
    if (!(added instanceof UserInfoError)) await this.putAll([added]);
    return added;
  }

  /**
   * Deletes a user with all its rows, and returns the number of them by kind; `null` if there is no
   * such user.
   */
  async delete(tenantCode: string, unionId: string): Promise<DeletedRows | null> {
    const record = await this.#lockById(tenantCode, unionId);
    if (record === null) return null;
    const { removed } = changedValues(record, null);
    const values = removed.map((digest) => [tenantCode, digest, unionId]);
    const removedValues = await this.#sql.each(rowStatements.removeValue, values);
    const codes = await this.#sql.run(statements.removeCodesOfUser, [tenantCode, unionId]);
    return {
      records: await this.#sql.run(statements.deleteUser, [tenantCode, unionId]),
      indexed_values: removedValues.length,
      codes,
    };
  }

  /** Locks the user that a passback names until the transaction ends, and returns its record. */
  async #lock(tenantCode: string, user: PassbackUser): Promise<UserRecord | NoSingleUser> {
    if (user.by === 'union_id') {
      return (await this.#lockById(tenantCode, user.unionId)) ?? 'no user';
    }
    const values = [tenantCode, valueDigest(user)];
    for (let lookUp = 0; lookUp < lookUps; lookUp++) {
      const [first, second] = await this.#sql.all<UserKey>(statements.findUsersByValue, values);
      if (first === undefined) return 'no user';
      if (second !== undefined) return 'several users';
      const record = await this.#lockById(tenantCode, first.union_id);
      if (record !== null && hasValue(record, user)) return record;
    }
    throw new StoreUnavailableError('the user of a primary key changes too often');
  }

  async #lockById(tenantCode: string, unionId: string): Promise<UserRecord | null> {
    const [row] = await this.#sql.all<StoredUser>(statements.lockUser, [tenantCode, unionId]);
    return row === undefined ? null : toRecord(row.record);
  }

  /** Brings the index of values up to date. */
  async #index(
    changes: readonly { readonly user: UserKey; readonly values: ChangedValues }[],
  ): Promise<void> {
    const rowsOf = (kind: keyof ChangedValues) =>
      changes.flatMap(({ user, values }) => values[kind].map((digest) => ({ user, digest })));
    const added = rowsOf('added').sort((a, b) => (a.digest < b.digest ? -1 : 1));
    await Promise.all([
      this.#sql.each(rowStatements.removeValue, rowsOf('removed').map(indexRow)),
      this.#sql.each(rowStatements.addValue, added.map(indexRow)),
    ]);
  }
}

function rowOf(record: UserRecord): readonly string[] {
  return [record.tenant_code, record.union_id, JSON.stringify(record)];
}

function indexRow({ user, digest }: { readonly user: UserKey; readonly digest: string }): string[] {
  return [user.tenant_code, digest, user.union_id];
}

/** Neither part holds U+0000. */
function keyOf({ tenant_code, union_id }: UserKey): string {
  return `${tenant_code}\0${union_id}`;
}

/** Whether a user has a value by which users are found. */
function hasValue(record: UserRecord, { name, value }: NamedValue): boolean {
  return readableValues(record).get(name) === value;
}

/** The changed record, or the error with which `change` refuses. */
export function tryChange(change: RecordChange, record: UserRecord): UserRecord | UserInfoError {
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
  const oldValues = valuesOf(old);
  const values = valuesOf(record);
  return {
    removed: digestsMissing(oldValues, values),
    added: digestsMissing(values, oldValues),
  };
}

function valuesOf(record: UserRecord | null): ReadonlyMap<string, string> {
  return record === null ? new Map() : readableValues(record);
}

/** The digests of the values that are not in the second map. */
function digestsMissing(
  values: ReadonlyMap<string, string>,
  compared: ReadonlyMap<string, string>,
): string[] {
  const missing = [...values].filter(([name, value]) => compared.get(name) !== value);
  return missing.map(([name, value]) => valueDigest({ name, value }));
}

/**
 * Parses a stored record.
 *
 * @throws Error that hides the text, as it holds personal data
 */
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
export function valueDigest({ name, value }: NamedValue): string {
  return hash('sha256', `${name}\0${value}`, 'base64url');
}
