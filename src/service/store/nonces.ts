import type { Sql } from '../../database/sql-driver.js';
import { maxClockWindowSeconds } from '../../protocol/limits.js';
import { statements } from './statements.js';

/** The `random` of a request, which its app may use once (§5.4). */
export interface Nonce {
  readonly tenantCode: string;
  readonly appKey: string;
  readonly random: string;
}

/**
 * How long a nonce is kept, whatever the clock window of the process: the first request may come when its
 * timestamp is a whole window ahead, and its copy, at another process, until it is a whole window behind.
 */
export const nonceSeconds = 2 * maxClockWindowSeconds;

export class Nonces {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Returns `false` if the app has used the random before. */
  async use({ tenantCode, appKey, random }: Nonce): Promise<boolean> {
    return (await this.#sql.run(statements.useNonce, [tenantCode, appKey, random, nonceSeconds])) === 1;
  }
}
