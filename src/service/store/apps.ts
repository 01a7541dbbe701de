import type { Sql, SqlRow } from '../../database/sql-driver.js';
import { Secret } from '../../signing/secret.js';
import { statements } from './statements.js';

/** A server application (§5): the tenant and channel that it may act for, and its recipes. */
export interface App {
  readonly app_key: string;
  readonly app_secret: Secret;
  readonly tenant_code: string;
  readonly channel: string;
  /** Its SigningRecipes as JSON text; `null` for the default recipes. */
  readonly recipes: string | null;
  /** Unix time in seconds. */
  readonly created_at: number;
}

/** The apps of all tenants, by key. */
export class Apps {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async find(appKey: string): Promise<App | null> {
    const [row] = await this.#sql.all(statements.findApp, [appKey]);
    return row === undefined ? null : toApp(row);
  }

  /** Returns `false` if the key is taken. */
  async add(app: App): Promise<boolean> {
    const { app_key, app_secret, tenant_code, channel, recipes, created_at } = app;
    const values = [app_key, app_secret.reveal(), tenant_code, channel, recipes, created_at];
    return (await this.#sql.run(statements.addApp, values)) === 1;
  }

  /** Returns `false` if there is no such app. */
  async setSecret(appKey: string, secret: Secret): Promise<boolean> {
    return (await this.#sql.run(statements.setAppSecret, [appKey, secret.reveal()])) === 1;
  }

  /** Returns `false` if there is no such app. */
  async remove(appKey: string): Promise<boolean> {
    return (await this.#sql.run(statements.removeApp, [appKey])) === 1;
  }

  /** The apps after a key, ordered by key. */
  async list(after: string, limit: number): Promise<App[]> {
    return (await this.#sql.all(statements.listApps, [after, limit])).map(toApp);
  }
}

/** Whether everything that authenticates a request is the same. */
export function isSameApp(one: App, other: App): boolean {
  return (
    one.app_key === other.app_key &&
    one.tenant_code === other.tenant_code &&
    one.channel === other.channel &&
    one.recipes === other.recipes &&
    one.app_secret.reveal() === other.app_secret.reveal()
  );
}

function toApp({ app_key, app_secret, tenant_code, channel, recipes, created_at }: SqlRow): App {
  return {
    app_key: String(app_key),
    app_secret: new Secret(String(app_secret)),
    tenant_code: String(tenant_code),
    channel: String(channel),
    recipes: recipes === null ? null : String(recipes),
    created_at: Number(created_at),
  };
}
