import type { Sql } from '../../database/sql-driver.js';
import { maxClockWindowSeconds } from '../../protocol/limits.js';
import type { App } from './apps.js';
import { statements } from './statements.js';

/**
 * How long the `random` of a request is kept, whatever the clock window of the process: the first request may come when
 * its timestamp is a whole window ahead, and its copy, at another process, until it is a whole window behind.
 */
export const nonceSeconds = 2 * maxClockWindowSeconds;

/** The `random` of each request, which its app may use once (§5.4). */
export class Nonces {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Returns `false` if the app has used the random before, or is not what it was when it was read. */
  async use({ app_key, tenant_code, channel, revision }: App, random: string): Promise<boolean> {
    const values = [app_key, tenant_code, channel, revision, random, nonceSeconds];
    return (await this.#sql.run(statements.useNonce, values)) === 1;
  }
}
