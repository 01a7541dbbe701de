import type { Sql } from '../../database/sql-driver.js';
import { lockTenants, statements } from './statements.js';

/**
 * The keys by whose values users are found, as `tenants` stores them: each between commas, `null` for all. No key has a
 * comma.
 */
export type StoredKeys = string | null;

/** The setting of a tenant. */
interface StoredTenant {
  readonly tenant_code: string;
  /** The keys whose values are in `user_values`, or come into it. */
  readonly find_by: StoredKeys;
  /** Those of them whose values are all there: by no other key is a user found. */
  readonly findable: StoredKeys;
}

/** Has the same rule as `isIndexed` of the statements. */
export function hasKey(keys: StoredKeys, name: string): boolean {
  return keys === null || keys.includes(`,${name},`);
}

export function storeKeys(names: readonly string[]): string {
  return `,${names.map((name) => `${name},`).join('')}`;
}

export function splitKeys(keys: string): string[] {
  return keys.split(',').filter((name) => name !== '');
}

/** The keys that are among both. */
function common(keys: StoredKeys, others: StoredKeys): StoredKeys {
  if (keys === null || others === null) return keys ?? others;
  return storeKeys(splitKeys(keys).filter((name) => hasKey(others, name)));
}

/** The settings of tenants; without one, users are found by all keys. */
export class Tenants {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async find(tenantCode: string): Promise<StoredTenant> {
    const [row] = await this.#sql.all(statements.findTenant, [tenantCode]);
    return toTenant({ tenant_code: tenantCode, ...row });
  }

  /** The settings after a tenant, ordered by tenant. */
  async list(after: string, limit: number): Promise<StoredTenant[]> {
    return (await this.#sql.all(statements.listTenants, [after, limit])).map(toTenant);
  }

  /**
   * Sets the keys of a tenant. From then on changes of users follow it, those that began before have ended, and users
   * are found by the keys that were set before, too. `Users.indexAgain` of all users and `finish` come next.
   */
  async setKeys(tenantCode: string, keys: StoredKeys): Promise<void> {
    for (const statement of lockTenants) await this.#sql.run(statement);
    const { findable } = await this.find(tenantCode);
    await this.#sql.run(statements.setTenant, [tenantCode, keys, common(findable, keys)]);
  }

  /** Users are found by all keys that are set. Returns `false` if others were set meanwhile. */
  async finish(tenantCode: string, keys: StoredKeys): Promise<boolean> {
    return (await this.#sql.run(statements.finishTenant, [tenantCode, keys ?? ''])) === 1;
  }
}

function toTenant({ tenant_code, find_by = null, findable = null }: Record<string, unknown>): StoredTenant {
  const keysOf = (keys: unknown) => (keys === null ? null : String(keys));
  return { tenant_code: String(tenant_code), find_by: keysOf(find_by), findable: keysOf(findable) };
}
