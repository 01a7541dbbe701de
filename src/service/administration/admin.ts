import type { AdminContext } from './admin-context.js';
import { type AppOperations, appOperations } from './apps.js';
import { type AuditOperations, auditOperations } from './audit.js';
import { type CodeOperations, codeOperations } from './codes.js';
import { type UserOperations, userOperations } from './users.js';

/**
 * The operations of an operator. All of them throw a StoreUnavailableError if the database does not
 * answer.
 */
export interface AdminOperations
  extends AppOperations,
    UserOperations,
    CodeOperations,
    AuditOperations {}

export function createAdmin(context: AdminContext): AdminOperations {
  return {
    ...appOperations(context),
    ...userOperations(context),
    ...codeOperations(context),
    ...auditOperations(context),
  };
}
