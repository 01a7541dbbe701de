import { createHmac, hash, randomBytes, randomUUID } from 'node:crypto';
import type { PassbackUser } from '../../core/contract/passback.js';
import type { Sql, SqlDriver } from '../database/sql-driver.js';
import { statements } from './statements.js';

/** An action of an operator. */
export interface AuditLine {
  /**
   * Unix time in seconds, by the clock of the database; of codes that are counted the start of
   * their minute.
   */
  readonly at: number;
  /** The user of the operating system. */
  readonly actor: string;
  /** As the command: `app create`. */
  readonly action: string;
  readonly tenant_code: string | null;
  /** The app key, or the union ID of a user, masked; or how many there are. */
  readonly subject: string;
  /**
   * The digest of the user, as in the log; of all users of a tenant in `user list`; `null` where
   * there is none.
   */
  readonly user_digest: string | null;
}

/**
 * A user of a tenant, named by union ID, or by a value under a key, as by a passback with
 * `primary_key` (§4.2).
 *
 * @example
 * const named: NamedUser = { tenantCode: 'acme', key: 'mobile', value: '13800138000' };
 * const digest = service.admin.digestUser(named);
 */
export type NamedUser =
  | { readonly tenantCode: string; readonly unionId: string }
  | { readonly tenantCode: string; readonly key: string; readonly value: string };

/**
 * Which lines of the audit to list: those that match every member.
 *
 * @example
 * const filter: AuditFilter = { action: 'user show', since: 1_767_225_600, limit: 'unlimited' };
 * for await (const { actor, subject } of service.admin.listAudit(filter)) console.log(actor, subject);
 */
export interface AuditFilter {
  /**
   * Maximum number of lines.
   *
   * @default 100
   */
  readonly limit?: number | 'unlimited';
  /** Unix time in seconds. */
  readonly since?: number;
  /** As the command: `user show`. */
  readonly action?: string;
  readonly tenantCode?: string;
  /** The app of an action of `app`. */
  readonly appKey?: string;
  /**
   * Actions that named the user or showed all users of the tenant. One who is named by a value is
   * also looked up: the actions on whoever has it now are included.
   */
  readonly user?: NamedUser;
}

/** A line as it is added. */
export type NewAuditLine = Omit<AuditLine, 'at' | 'user_digest'> &
  Partial<Pick<AuditLine, 'user_digest'>>;

/**
 * An id that orders the actions of one second: the microseconds of this process, and random text.
 */
function orderedId(): string {
  return `${Math.round((performance.timeOrigin + performance.now()) * 1_000)}-${randomUUID()}`;
}

/** The primary key of a line. */
export interface AuditKey {
  /** Unix time in seconds, by the clock of the database. */
  readonly at: number;
  readonly id: string;
}

/** The actions of operators. */
export class Audit {
  readonly #sql: Sql;
  readonly #processId: string;

  constructor(sql: Sql, processId: string) {
    this.#sql = sql;
    this.#processId = processId;
  }

  async add(line: NewAuditLine): Promise<void> {
    const { actor, action, tenant_code, subject, user_digest = null } = line;
    const values = [orderedId(), actor, action, tenant_code, subject, user_digest];
    await this.#sql.run(statements.addAudit, values);
  }

  /**
   * Counts codes in the line of their tenant, actor and minute, which is the process's own: nobody
   * waits for another's.
   */
  async countCodes(actor: string, tenantCode: string, count: number): Promise<void> {
    const group = hash('sha256', JSON.stringify([tenantCode, actor, this.#processId]), 'hex');
    const subject = count === 1 ? '1 code' : `${count} codes`;
    const values = [`codes ${group}`, actor, tenantCode, subject, count];
    await this.#sql.run(statements.countCodes, values);
  }

  /**
   * The lines before one, newest first; if there are digests, up to three, those that have one of
   * them.
   */
  list(
    filter: Omit<AuditFilter, 'user' | 'limit'>,
    digests: readonly string[],
    before: AuditKey,
    limit: number,
  ): Promise<readonly (AuditLine & AuditKey)[]> {
    const { since = 0, action = '', tenantCode = '', appKey = '' } = filter;
    const values = [before.at, before.id, limit, since, action, tenantCode, appKey];
    if (digests.length === 0) return this.#sql.all(statements.listAudit, values);
    // The statement has three: fewer are repeated.
    const [first = '', second = first, third = first] = digests;
    return this.#sql.all(statements.listAuditOfUser, [...values, first, second, third]);
  }
}

const keyBytes = 32;

/**
 * Length of a digest, in characters of hex: two users have the same one by chance in 2^64 users.
 */
const digestLength = 32;

/**
 * The key of a database for the digests of its users, which is created once; it stays the same when
 * master keys change.
 *
 * @throws StoreUnavailableError if the database does not answer
 */
export async function digestKeyOf(driver: SqlDriver): Promise<string> {
  const [state] = await driver.read((sql) => sql.all(statements.findDigestKey));
  if (state?.digest_key != null) return String(state.digest_key);
  const key = randomBytes(keyBytes).toString('hex');
  const [changed] = await driver.write((sql) => sql.all(statements.setDigestKey, [key]));
  return String(changed?.digest_key);
}

/** HMAC-SHA256 of a user of a tenant, shortened; of all users of the tenant for `null`. */
export function digestUser(key: string, tenantCode: string, user: PassbackUser | null): string {
  const text = JSON.stringify([tenantCode, ...namesOfUser(user)]);
  return createHmac('sha256', key).update(text).digest('hex').slice(0, digestLength);
}

function namesOfUser(user: PassbackUser | null): string[] {
  if (user === null) return [];
  return user.by === 'union_id' ? [user.unionId] : [user.name, user.value];
}
