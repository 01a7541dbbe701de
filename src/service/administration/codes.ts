import { randomBytes } from 'node:crypto';
import { quoteName } from '../../core/contract/errors.js';
import { joinInfoNames, splitInfoNames } from '../../core/contract/info-names.js';
import { maskText } from '../../core/contract/masking.js';
import { resultCode } from '../../core/contract/result-codes.js';
import type { Code } from '../store/codes.js';
import type { Records } from '../store/operations.js';
import {
  type AdminContext,
  audited,
  checkCount,
  checkKey,
  checkSeconds,
  listAll,
  NotFoundError,
} from './admin-context.js';
import { noSuchUser, subjectOf } from './users.js';

/**
 * A code to issue.
 *
 * @example
 * const newCode: NewCode = { tenantCode: 'acme', unionId: 'u1', infoNames: ['mobile'] };
 * const { code } = await service.admin.issueCode(newCode);
 */
export interface NewCode {
  /** Tenant code (§5.3). */
  readonly tenantCode: string;
  /** ID of the user that it is issued to (§2.1). */
  readonly unionId: string;
  /**
   * The names that the code authorizes to read.
   *
   * @default everything
   */
  readonly infoNames?: readonly string[];
  /**
   * Validity in seconds.
   *
   * @default that of the platform, 300
   */
  readonly ttlSeconds?: number;
  /**
   * Maximum number of uses.
   *
   * @default that of the platform, 1
   */
  readonly uses?: number | 'unlimited';
}

/** The key of a code in the store. */
export interface CodeKey {
  /** Tenant code (§5.3). */
  readonly tenantCode: string;
  /** The authorization code (§5.7). */
  readonly code: string;
}

const codeBytes = 16;

/** The operations on the authorization codes of a service. */
export interface CodeOperations {
  /**
   * Issues an authorization code to a user (§5.7). The audit names the user.
   *
   * @throws NotFoundError (40401)
   * @throws InvalidInputError for an invalid option
   */
  issueCode(code: NewCode): Promise<Code>;
  /**
   * Issues a code to each of several users, in one transaction. The audit has the number of those
   * that were issued in a minute.
   *
   * @returns the codes in the order of the users; `null` for a user that does not exist
   * @throws InvalidInputError for an invalid option
   */
  issueCodes(
    codes: Omit<NewCode, 'unionId'> & { readonly unionIds: readonly string[] },
  ): Promise<(Code | null)[]>;
  /** The codes of a tenant; used and expired ones until they are purged. */
  listCodes(tenant: { readonly tenantCode: string }): AsyncIterable<Code>;
  /**
   * Makes a code invalid.
   *
   * @throws NotFoundError (40106)
   */
  revokeCode(code: CodeKey): Promise<void>;
}

export function codeOperations(context: AdminContext): CodeOperations {
  const { store, actor } = context;
  const { code_uses, code_ttl_seconds } = context.platform;
  /** Issues codes, and adds to the audit with `note` how many there are. */
  const issue = async (
    newCodes: Parameters<CodeOperations['issueCodes']>[0],
    note: (audit: Records['audit'], count: number) => Promise<unknown>,
  ) => {
    const { tenantCode, infoNames, ttlSeconds = code_ttl_seconds, uses = code_uses } = newCodes;
    const common = {
      tenant_code: checkKey('tenant_code', tenantCode),
      info_names: infoNames === undefined ? null : splitInfoNames(joinInfoNames(infoNames)),
      uses_left: uses === 'unlimited' ? null : checkCount('the number of uses', uses),
    };
    const validSeconds = checkSeconds('the ttl', ttlSeconds);
    const unionIds = newCodes.unionIds.map((unionId) => checkKey('union_id', unionId));
    return await store.write(async ({ codes, audit }) => {
      const issued = await Promise.all(
        unionIds.map((union_id) =>
          codes.add(
            { ...common, union_id, code: randomBytes(codeBytes).toString('hex') },
            validSeconds,
          ),
        ),
      );
      const count = issued.filter((code) => code !== null).length;
      if (count > 0) await note(audit, count);
      return issued;
    }, store.newDeadline());
  };
  return {
    async issueCode({ unionId, ...options }) {
      const user = { tenantCode: options.tenantCode, unionId };
      const [issued] = await issue({ ...options, unionIds: [unionId] }, (audit) =>
        audit.add({ actor, action: 'code issue', ...subjectOf(store, user) }),
      );
      if (!issued) throw noSuchUser(user);
      return issued;
    },
    issueCodes: (newCodes) =>
      issue(newCodes, (audit, count) => audit.countCodes(actor, newCodes.tenantCode, count)),
    listCodes: ({ tenantCode }) =>
      listAll(
        (after, limit) => store.read(({ codes }) => codes.list(tenantCode, after, limit)),
        ({ code }) => code,
      ),
    async revokeCode({ tenantCode, code }) {
      const line = { action: 'code revoke', tenant_code: tenantCode, subject: maskText(code) };
      if (await audited(context, line, ({ codes }) => codes.remove(tenantCode, code))) return;
      throw new NotFoundError(
        resultCode.codeNotValid,
        `tenant ${quoteName(tenantCode)} has no such code`,
      );
    },
  };
}
