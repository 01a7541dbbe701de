import { randomUUID } from 'node:crypto';
import type { Sql } from '../../database/sql-driver.js';
import { statements } from './statements.js';

/**
 * An action of an operator.
 *
 * @example
 * const lines: AuditLine[] = await service.admin.listAudit({ limit: 10 });
 * const actors = lines.map(({ at, actor, action }) => `${new Date(at * 1_000).toISOString()} ${actor}: ${action}`);
 */
export interface AuditLine {
  /** Unix time in seconds, by the clock of the database. */
  readonly at: number;
  /** The user of the operating system. */
  readonly actor: string;
  /** As the command: `app create`. */
  readonly action: string;
  readonly tenant_code: string | null;
  /** The app key, or the union ID of a user, masked; or how many there are. */
  readonly subject: string;
}

/** An id that orders the actions of one second: the microseconds of this process, and random text. */
function orderedId(): string {
  return `${Math.round((performance.timeOrigin + performance.now()) * 1_000)}-${randomUUID()}`;
}

/** The primary key of a line. */
export interface AuditKey {
  readonly at: number;
  readonly id: string;
}

/** The actions of operators. */
export class Audit {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async add({ actor, action, tenant_code, subject }: Omit<AuditLine, 'at'>): Promise<AuditKey> {
    const id = orderedId();
    const [row] = await this.#sql.all(statements.addAudit, [id, actor, action, tenant_code, subject]);
    return { at: Number(row?.at), id };
  }

  /** Changes the line of an action that takes several transactions. */
  async setSubject({ at, id }: AuditKey, subject: string): Promise<void> {
    await this.#sql.run(statements.setAuditSubject, [at, id, subject]);
  }

  /** The last actions, newest first. */
  async list(limit: number): Promise<AuditLine[]> {
    const rows = await this.#sql.all(statements.listAudit, [limit]);
    return rows.map(({ at, actor, action, tenant_code, subject }) => ({
      at: Number(at),
      actor: String(actor),
      action: String(action),
      tenant_code: tenant_code === null ? null : String(tenant_code),
      subject: String(subject),
    }));
  }
}
