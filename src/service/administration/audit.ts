import { InvalidInputError } from '../../core/contract/errors.js';
import type { PassbackUser } from '../../core/contract/passback.js';
import type { AuditFilter, AuditKey, AuditLine, NamedUser } from '../store/audit.js';
import type { Store } from '../store/store.js';
import { type AdminContext, checkCount, listAll } from './admin-context.js';

const defaultLimit = 100;

/** Later than all lines. */
const end: AuditKey = { at: Number.MAX_SAFE_INTEGER, id: '' };

/** The operations on the audit of a service. */
export interface AuditOperations {
  /**
   * The last actions of operators, newest first, read page by page. Codes that a process counted in
   * a minute are one line.
   *
   * @throws InvalidInputError for an invalid filter, or a value that several users have
   */
  listAudit(filter?: AuditFilter): AsyncIterable<AuditLine>;
  /** The keyed digest that names a user in the audit and in the log. It need not exist. */
  digestUser(user: NamedUser): string;
}

export function auditOperations({ store }: AdminContext): AuditOperations {
  return {
    async *listAudit({ limit = defaultLimit, user, ...search } = {}) {
      let left = limit === 'unlimited' ? Number.POSITIVE_INFINITY : checkCount('the limit', limit);
      const digests = user === undefined ? [] : await digestsOf(store, user);
      const lines = listAll(
        (before, count) => store.read(({ audit }) => audit.list(search, digests, before, count)),
        ({ at, id }): AuditKey => ({ at, id }),
        end,
      );
      for await (const { id: _, ...line } of lines) {
        yield line;
        left -= 1;
        if (left === 0) return;
      }
    },
    digestUser: (user) => store.digestOf(user.tenantCode, toPassbackUser(user)),
  };
}

function toPassbackUser(user: NamedUser): PassbackUser {
  if ('unionId' in user) return { by: 'union_id', unionId: user.unionId };
  return { by: 'primary_key', name: user.key, value: user.value };
}

/**
 * The digests of a user, of who has the value now, and of all users of the tenant.
 *
 * @throws InvalidInputError if several users have the value
 */
async function digestsOf(store: Store, user: NamedUser): Promise<string[]> {
  const { tenantCode } = user;
  const named = toPassbackUser(user);
  const digests = [store.digestOf(tenantCode, named), store.digestOf(tenantCode, null)];
  if (named.by === 'union_id') return digests;
  const [holder, another] = await store.read(({ users }) =>
    users.listByValue(tenantCode, named, '', 2),
  );
  if (another !== undefined) {
    throw new InvalidInputError('several users have this value', {
      hint: 'Name the user by union ID.',
    });
  }
  if (holder === undefined) return digests;
  return [...digests, store.digestOf(tenantCode, { by: 'union_id', unionId: holder.union_id })];
}
