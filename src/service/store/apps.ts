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
  /** The secret before the current one; `null` if there is none. */
  readonly old_secret: Secret | null;
  /** Until when the old secret is valid; Unix time in seconds. */
  readonly old_until: number;
  /** Whether its requests are refused. */
  readonly disabled: boolean;
  /** Another one after each change; random at first, in case an app of that key was removed before. */
  readonly revision: number;
}

/** What `create` stores. */
export type AddedApp = Omit<App, 'old_secret' | 'old_until' | 'disabled'>;

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
  async add(app: AddedApp): Promise<boolean> {
    const { app_key, app_secret, tenant_code, channel, recipes, created_at, revision } = app;
    const values = [app_key, app_secret.reveal(), tenant_code, channel, recipes, created_at, revision];
    return (await this.#sql.run(statements.addApp, values)) === 1;
  }

  /** The old secret stays valid for `overlapSeconds`. Returns `false` if there is no such app. */
  async rotateSecret(appKey: string, secret: Secret, overlapSeconds: number): Promise<boolean> {
    return (await this.#sql.run(statements.rotateAppSecret, [appKey, secret.reveal(), overlapSeconds])) === 1;
  }

  /** Makes the old secret invalid. Returns `false` if there is no such app. */
  async retireSecret(appKey: string): Promise<boolean> {
    return (await this.#sql.run(statements.retireAppSecret, [appKey])) === 1;
  }

  /** Returns `false` if there is no such app. */
  async disable(appKey: string, disabled: boolean): Promise<boolean> {
    return (await this.#sql.run(statements.disableApp, [appKey, disabled ? 1 : 0])) === 1;
  }

  /** Changes what is given. Returns `false` if there is no such app. */
  async set(
    appKey: string,
    { channel, recipes }: Partial<Pick<App, 'channel' | 'recipes'>>,
  ): Promise<boolean> {
    let changed = 0;
    if (channel !== undefined) changed = await this.#sql.run(statements.setAppChannel, [appKey, channel]);
    if (recipes !== undefined) changed = await this.#sql.run(statements.setAppRecipes, [appKey, recipes]);
    return changed === 1;
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
    one.app_secret.reveal() === other.app_secret.reveal() &&
    one.revision === other.revision
  );
}

function toApp(row: SqlRow): App {
  const {
    app_key,
    app_secret,
    tenant_code,
    channel,
    recipes,
    created_at,
    old_secret,
    old_until,
    disabled,
    revision,
  } = row;
  return {
    app_key: String(app_key),
    app_secret: new Secret(String(app_secret)),
    tenant_code: String(tenant_code),
    channel: String(channel),
    recipes: recipes === null ? null : String(recipes),
    created_at: Number(created_at),
    old_secret: old_secret == null ? null : new Secret(String(old_secret)),
    old_until: Number(old_until),
    disabled: disabled === 1,
    revision: Number(revision),
  };
}
