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

export function authorizationCodes(sql: Sql) {
  return {
    /**
     * Adds a code that is valid for `validSeconds`, and returns it with its `expires_at`; `null` if
     * there is no such user.
     */
    async add(issued: Omit<Code, 'expires_at'>, validSeconds: number): Promise<Code | null> {
      const { tenant_code, code, union_id, info_names, uses_left } = issued;
      const names = info_names === null ? null : joinInfoNames(info_names);
      const values = [tenant_code, code, union_id, names, validSeconds, uses_left];
      const [row] = await sql.all<StoredCode>(statements.addCode, values);
      return row === undefined ? null : withNames(row);
    },
    /** Uses a code once; `null` if it is unknown, expired or used up. */
    async use(
      tenantCode: string,
      code: string,
    ): Promise<Pick<Code, 'union_id' | 'info_names'> | null> {
      const [row] = await sql.all<StoredCode>(statements.useCode, [tenantCode, code]);
      return row === undefined ? null : withNames(row);
    },
    /** The user that a code was issued for, valid or not; `null` if there is no such code. */
    async userOf(tenantCode: string, code: string): Promise<string | null> {
      const [row] = await sql.all<Code>(statements.findCode, [tenantCode, code]);
      return row?.union_id ?? null;
    },
    /** The codes after a code, in order; expired ones too, until they are purged. */
    async list(tenantCode: string, after: string, limit: number): Promise<Code[]> {
      return (await sql.all<StoredCode>(statements.listCodes, [tenantCode, after, limit])).map(
        withNames,
      );
    },
    /** Returns `false` if there is no such code. */
    async remove(tenantCode: string, code: string): Promise<boolean> {
      return (await sql.run(statements.removeCode, [tenantCode, code])) === 1;
    },
  };
}

export type Codes = ReturnType<typeof authorizationCodes>;

function withNames(row: StoredCode): Code {
  return { ...row, info_names: namesOf(row) };
}

export function namesOf({ info_names }: Pick<StoredCode, 'info_names'>): readonly string[] | null {
  return info_names === null ? null : splitInfoNames(info_names);
}
