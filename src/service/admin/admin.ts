import type { AuditLine } from '../store/audit.js';
import { type AdminContext, checkCount } from './admin-context.js';
import { type AppOperations, appOperations } from './apps.js';
import { type CodeOperations, codeOperations } from './codes.js';
import { type UserOperations, userOperations } from './users.js';

/**
 * The operations of an operator. All of them throw a StoreUnavailableError if the database does not answer.
 *
 * @example
 * const admin: AdminOperations = service.admin;
 * const { app_key } = await admin.createApp({ tenantCode: 'acme', channel: 'web' });
 */
export interface AdminOperations extends AppOperations, UserOperations, CodeOperations {
  /** The last actions of operators, newest first. Default: 100 of them. */
  listAudit(options?: { readonly limit?: number }): Promise<AuditLine[]>;
}

export function createAdmin(context: AdminContext): AdminOperations {
  return {
    ...appOperations(context),
    ...userOperations(context),
    ...codeOperations(context),
    listAudit: ({ limit = 100 } = {}) =>
      context.store.read(({ audit }) => audit.list(checkCount('the limit', limit))),
  };
}
