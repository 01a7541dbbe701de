import type { Sql } from './sql-driver.js';
import { statements } from './statements.js';

/** The `random` of a request, which its app may use once (§5.4). */
export interface Nonce {
  readonly tenantCode: string;
  readonly appKey: string;
  readonly random: string;
  /** The last second, in Unix time, at which its request could be sent again. */
  readonly expiresAt: number;
}

export class Nonces {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** `false` where the pair of app and random was taken before. `now` is in Unix seconds. */
  async take({ tenantCode, appKey, random, expiresAt }: Nonce, now: number): Promise<boolean> {
    const values = [tenantCode, appKey, random, expiresAt, now];
    return (await this.#sql.run(statements.takeNonce, values)) === 1;
  }

  /** Forgets those that no request can use again at `now`, in Unix seconds. */
  async purge(tenantCode: string, now: number): Promise<void> {
    await this.#sql.run(statements.purgeNonces, [tenantCode, now]);
  }
}
