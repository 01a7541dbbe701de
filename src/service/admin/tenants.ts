import { InvalidInputError } from '../../protocol/errors.js';
import { maskName } from '../../protocol/masking.js';
import { quoteName } from '../../protocol/unsafe-text.js';
import type { UserRecord } from '../../protocol/user-record.js';
import { type StoredKeys, splitKeys, storeKeys } from '../store/tenants.js';
import { type AdminContext, audited, checkKey, listAll } from './admin-context.js';

/**
 * The keys by whose values the users of a tenant are found.
 *
 * @example
 * const keys: FindableKeys = ['mobile', 'id_card'];
 * await service.admin.setTenant({ tenantCode: 'acme', findBy: keys });
 */
export type FindableKeys = readonly string[] | 'all';

/**
 * The setting of a tenant.
 *
 * @example
 * const words = ({ tenant_code, find_by }: ListedTenant) => `${tenant_code}: ${find_by}`;
 * for await (const tenant of service.admin.listTenants()) console.log(words(tenant));
 */
export interface ListedTenant {
  readonly tenant_code: string;
  readonly find_by: FindableKeys;
  /** Whether users are found by all of these keys: all users are indexed by them, and by no others. */
  readonly ready: boolean;
}

/** Number of users in one transaction, with up to 256 values each: their passbacks wait for it. */
const indexedAtOnce = 100;

export interface TenantOperations {
  /**
   * Sets the keys by whose values users of a tenant are found: a passback with another `primary_key` (§4.2) is refused
   * with 40002. Default: all keys. Indexes the users by them, and returns how many there are; until then users are
   * found by no key that is new. If it fails, call it again.
   *
   * @throws InvalidInputError for an invalid key, or if other keys were set meanwhile
   */
  setTenant(tenant: { readonly tenantCode: string; readonly findBy: FindableKeys }): Promise<number>;
  /** The tenants whose keys were set, ordered by code. */
  listTenants(): AsyncIterable<ListedTenant>;
}

export function tenantOperations(context: AdminContext): TenantOperations {
  const { store } = context;
  return {
    async setTenant({ tenantCode, findBy }) {
      checkKey('tenant_code', tenantCode);
      const keys = findBy === 'all' ? null : storeKeys([...new Set(findBy.map(checkName))]);
      const subject = `find by ${keys === null ? 'all' : splitKeys(keys).map(maskName).join(',') || 'none'}`;
      const line = { action: 'tenant set', tenant_code: tenantCode, subject };
      await audited(context, line, ({ tenants }) => tenants.setKeys(tenantCode, keys));
      const indexed = listAll<UserRecord>(
        (after, limit) => indexPage(tenantCode, keys, after, limit),
        (user) => user.union_id,
        '',
        indexedAtOnce,
      );
      let users = 0;
      for await (const _ of indexed) users += 1;
      if (await store.write(({ tenants }) => tenants.finish(tenantCode, keys))) return users;
      throw changedMeanwhile(tenantCode);
    },
    async *listTenants() {
      const all = listAll(
        (after, limit) => store.read(({ tenants }) => tenants.list(after, limit)),
        (tenant) => tenant.tenant_code,
      );
      for await (const { tenant_code, find_by, findable } of all) {
        yield {
          tenant_code,
          find_by: find_by === null ? 'all' : splitKeys(find_by),
          ready: find_by === findable,
        };
      }
    },
  };

  async function indexPage(tenantCode: string, keys: StoredKeys, after: string, limit: number) {
    const page = await store.write(({ users }) => users.indexAgain(tenantCode, keys, after, limit));
    if (page === null) throw changedMeanwhile(tenantCode);
    return page;
  }
}

function checkName(name: string): string {
  if (!checkKey('a key', name).includes(',')) return name;
  throw new InvalidInputError(`the key ${quoteName(name)} has a comma`);
}

function changedMeanwhile(tenantCode: string): InvalidInputError {
  return new InvalidInputError(`other keys of tenant ${quoteName(tenantCode)} were set meanwhile`, {
    hint: 'They are in force. Set these again, if they are the right ones.',
  });
}
