import { joinInfoNames, splitInfoNames } from '../../protocol/info-names.js';
import { defaultCodeTtlSeconds } from '../../protocol/limits.js';
import { resultCode } from '../../protocol/result-codes.js';
import { quoteName } from '../../protocol/text.js';
import type { Code } from '../store/codes.js';
import { type AdminContext, checkCount, listAll, NotFoundError, randomHex } from './admin-context.js';
import { noSuchUser } from './users.js';

export interface NewCode {
  readonly tenantCode: string;
  readonly unionId: string;
  /** What the code authorizes to read. Default: everything. */
  readonly infoNames?: readonly string[];
  /** Validity in seconds. Default: 300. */
  readonly ttlSeconds?: number;
  /** Maximum number of uses. Default: 1. */
  readonly uses?: number | 'unlimited';
}

/** The key of a code in the store. */
export interface CodeKey {
  readonly tenantCode: string;
  readonly code: string;
}

const codeBytes = 16;

export async function issueCode(context: AdminContext, input: NewCode): Promise<Code> {
  const { tenantCode, unionId, infoNames, ttlSeconds = defaultCodeTtlSeconds, uses = 1 } = input;
  const code = {
    tenant_code: tenantCode,
    code: randomHex(context, codeBytes),
    union_id: unionId,
    info_names: infoNames === undefined ? null : splitInfoNames(joinInfoNames(infoNames)),
    uses_left: uses === 'unlimited' ? null : checkCount('the number of uses', uses),
  };
  const validSeconds = checkCount('the ttl in seconds', ttlSeconds);
  const issued = await context.store.write(async ({ users, codes }) =>
    (await users.find(tenantCode, unionId)) === null ? null : await codes.add(code, validSeconds),
  );
  if (issued === null) throw noSuchUser(input);
  return issued;
}

export function listCodes(
  { store }: AdminContext,
  tenantCode: string,
): AsyncGenerator<Code, void, undefined> {
  return listAll(
    (after, limit) => store.read(({ codes }) => codes.list(tenantCode, after, limit)),
    ({ code }) => code,
  );
}

export async function revokeCode({ store }: AdminContext, { tenantCode, code }: CodeKey): Promise<void> {
  if (await store.write(({ codes }) => codes.remove(tenantCode, code))) return;
  throw new NotFoundError(resultCode.codeNotValid, `tenant ${quoteName(tenantCode)} has no such code`);
}
