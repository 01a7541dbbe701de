import { joinInfoNames, splitInfoNames } from '../../core/contract/info-names.js';
import type { Sql } from '../database/sql-driver.js';
import { statements } from './statements.js';

/** An authorization code (§4.1) of one tenant. */
export interface Code {
  readonly tenant_code: string;
  readonly code: string;
  readonly union_id: string;
  /** The names that it authorizes to read; `null` for all. */
  readonly info_names: readonly string[] | null;
  /** Unix time in seconds, by the clock of the database. */
  readonly expires_at: number;
  /** Remaining uses; `null` for unlimited. */
  readonly uses_left: number | null;
}

type StoredCode = Omit<Code, 'info_names'> & { readonly info_names: string | null };

/** The authorization codes of all tenants; each operation is for one tenant. */
export class Codes {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /**
   * Adds a code that is valid for `validSeconds`, and returns it with its `expires_at`; `null` if
   * there is no such user.
   */
  async add(code: Omit<Code, 'expires_at'>, validSeconds: number): Promise<Code | null> {
    const infoNames = code.info_names === null ? null : joinInfoNames(code.info_names);
    const [row] = await this.#sql.all<StoredCode>(statements.addCode, [
      code.tenant_code,
      code.code,
      code.union_id,
      infoNames,
      validSeconds,
      code.uses_left,
    ]);
    return row === undefined ? null : withNames(row);
  }

  /** Uses a code once; `null` if it is unknown, expired or used up. */
  async use(
    tenantCode: string,
    code: string,
  ): Promise<Pick<Code, 'union_id' | 'info_names'> | null> {
    const [row] = await this.#sql.all<StoredCode>(statements.useCode, [tenantCode, code]);
    return row === undefined ? null : withNames(row);
  }

  /** The user that a code was issued for, valid or not; `null` if there is no such code. */
  async userOf(tenantCode: string, code: string): Promise<string | null> {
    const [row] = await this.#sql.all<Code>(statements.findCode, [tenantCode, code]);
    return row?.union_id ?? null;
  }

  /** The codes after a code, in order; expired ones too, until they are purged. */
  async list(tenantCode: string, after: string, limit: number): Promise<Code[]> {
    const values = [tenantCode, after, limit];
    const rows = await this.#sql.all<StoredCode>(statements.listCodes, values);
    return rows.map(withNames);
  }

  /** Returns `false` if there is no such code. */
  async remove(tenantCode: string, code: string): Promise<boolean> {
    return (await this.#sql.run(statements.removeCode, [tenantCode, code])) === 1;
  }
}

function withNames(row: StoredCode): Code {
  return { ...row, info_names: namesOf(row) };
}

export function namesOf({ info_names }: Pick<StoredCode, 'info_names'>): readonly string[] | null {
  return info_names === null ? null : splitInfoNames(info_names);
}
