import { createHmac, hash, randomBytes, randomUUID } from 'node:crypto';
import type { Sql, SqlDriver, SqlRow } from '../../database/sql-driver.js';
import { maskText } from '../../protocol/masking.js';
import type { PassbackUser } from '../../protocol/passback.js';
import { auditColumns, listAudit, rowStatements, statements } from './statements.js';

/**
 * An action of an operator.
 *
 * @example
 * const words = ({ at, actor, action }: AuditLine) => `${new Date(at * 1_000).toISOString()} ${actor}: ${action}`;
 * for await (const line of service.admin.listAudit({ limit: 10 })) console.log(words(line));
 */
export interface AuditLine {
  /** Unix time in seconds, by the clock of the database; of codes that are counted the start of their minute. */
  readonly at: number;
  /** The user of the operating system. */
  readonly actor: string;
  /** As the command: `app create`. */
  readonly action: string;
  readonly tenant_code: string | null;
  /** The app key, or the union ID of a user, masked; or how many there are. */
  readonly subject: string;
  /** The digest of the user, as in the log; of all users of a tenant in `user list`; `null` where there is none. */
  readonly user_digest: string | null;
}

/** A line as it is added. */
export type NewAuditLine = Omit<AuditLine, 'at' | 'user_digest'> & Partial<Pick<AuditLine, 'user_digest'>>;

/** An id that orders the actions of one second: the microseconds of this process, and random text. */
function orderedId(): string {
  return `${Math.round((performance.timeOrigin + performance.now()) * 1_000)}-${randomUUID()}`;
}

/** The primary key of a line. */
export interface AuditKey {
  readonly at: number;
  readonly id: string;
}

/** A line of the table; `codes` is their number in a line that counts them. */
export type StoredAuditLine = AuditLine & AuditKey & { readonly codes: number | null };

/** The conditions of a search for lines; times are Unix seconds. */
export interface AuditSearch
  extends Readonly<Partial<Record<keyof typeof auditColumns, string | undefined>>> {
  readonly since?: number | undefined;
}

/** The actions of operators. */
export class Audit {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async add({ actor, action, tenant_code, subject, user_digest = null }: NewAuditLine): Promise<AuditKey> {
    const id = orderedId();
    const values = [id, actor, action, tenant_code, subject, user_digest];
    const [row] = await this.#sql.all(statements.addAudit, values);
    return { at: Number(row?.at), id };
  }

  /** Adds a line for each user that was found. */
  async addFound(
    actor: string,
    tenantCode: string,
    users: readonly { readonly unionId: string; readonly digest: string }[],
  ): Promise<void> {
    const lines = users.map(({ unionId, digest }) => {
      return [orderedId(), actor, 'user find', tenantCode, maskText(unionId), digest];
    });
    await this.#sql.each(rowStatements.addFound, lines);
  }

  /** Counts codes in the line of their tenant, actor and minute. */
  async countCodes(actor: string, tenantCode: string, count: number): Promise<void> {
    const group = hash('sha256', JSON.stringify([tenantCode, actor]), 'hex');
    const subject = count === 1 ? '1 code' : `${count} codes`;
    const values = [`codes ${group} `, actor, tenantCode, subject, count];
    await this.#sql.run(statements.countCodes, values);
  }

  /** Changes the line of an action that takes several transactions. */
  async setSubject({ at, id }: AuditKey, subject: string): Promise<void> {
    await this.#sql.run(statements.setAuditSubject, [at, id, subject]);
  }

  /** The lines before one, newest first. */
  async list(search: AuditSearch, before: AuditKey, limit: number): Promise<StoredAuditLine[]> {
    const columns = Object.keys(auditColumns) as (keyof typeof auditColumns)[];
    const given = columns.filter((name) => search[name] !== undefined);
    const values = [
      before.at,
      before.id,
      limit,
      search.since ?? 0,
      ...given.map((name) => search[name] ?? ''),
    ];
    return (await this.#sql.all(listAudit(given), values)).map(toLine);
  }
}

function toLine({ at, id, actor, action, tenant_code, subject, digest, codes }: SqlRow): StoredAuditLine {
  return {
    at: Number(at),
    id: String(id),
    actor: String(actor),
    action: String(action),
    tenant_code: tenant_code === null ? null : String(tenant_code),
    subject: String(subject),
    user_digest: digest === null ? null : String(digest),
    codes: codes === null ? null : Number(codes),
  };
}

const keyBytes = 32;

/** Length of a digest, in characters of hex: two users have the same one by chance in 2^64 users. */
const digestLength = 32;

/**
 * The key of a database for the digests of its users, which is created once; it stays the same when master keys change.
 *
 * @throws StoreUnavailableError if the database does not answer
 */
export async function digestKeyOf(driver: SqlDriver): Promise<string> {
  const [found] = await driver.read((sql) => sql.all(statements.findDigestKey));
  if (found?.digest_key != null) return String(found.digest_key);
  const key = randomBytes(keyBytes).toString('hex');
  const [set] = await driver.write((sql) => sql.all(statements.setDigestKey, [key]));
  return String(set?.digest_key);
}

/** HMAC-SHA256 of a user of a tenant, shortened; of all users of the tenant for `null`. */
export function digestUser(key: string, tenantCode: string, user: PassbackUser | null): string {
  const parts = user?.by === 'union_id' ? [user.unionId] : user === null ? [] : [user.name, user.value];
  const hmac = createHmac('sha256', key).update(JSON.stringify([tenantCode, ...parts]));
  return hmac.digest('hex').slice(0, digestLength);
}
