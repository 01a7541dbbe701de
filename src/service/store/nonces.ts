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
 * How long it is kept, whatever the clock window of the process that takes it: a request may come first when its
 * timestamp is a whole window ahead, and again, at another process, until it is a whole window behind.
 */
const keptSeconds = 2 * maxClockWindowSeconds;

export class Nonces {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** `false` where the pair of app and random was taken before. */
  async take({ tenantCode, appKey, random }: Nonce): Promise<boolean> {
    return (await this.#sql.run(statements.takeNonce, [tenantCode, appKey, random, keptSeconds])) === 1;
  }
}
