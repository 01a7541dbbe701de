import { Secret } from '../../core/signing/secret.js';
import type { Sql, SqlParameter } from '../database/sql-driver.js';
import { ChangedSecretError, type SecretCipher } from './secret-cipher.js';
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
  /** The secret before the current one; `null` if there is none, or none that can be read. */
  readonly old_secret: Secret | null;
  /** Until when the old secret is valid; Unix time in seconds, by the clock of the database. */
  readonly old_until: number;
  /** The same by the monotonic clock of the process, in milliseconds. */
  readonly old_ends: number;
  /** Whether its requests are refused. */
  readonly disabled: boolean;
  /**
   * Another one after each change; random at first, in case an app of that key was removed before.
   */
  readonly revision: number;
}

/** Number of apps that are looked at for the keys of their secrets. */
const checkedApps = 1000;

/**
 * Why a request is not carried out. With 'app changed', nothing was stored: it can be authenticated
 * again.
 */
export type Obstacle = 'app changed' | 'random used';

/** An app as the database has it: its secrets may be encrypted, and unreadable. */
export interface StoredApp
  extends Omit<App, 'app_secret' | 'old_secret' | 'old_ends' | 'disabled'> {
  readonly app_secret: string;
  readonly old_secret: string | null;
  /** For how long the old secret is valid, in seconds. */
  readonly old_left: number;
  readonly disabled: 0 | 1;
}

/** An app that was changed. */
export type ChangedApp = Pick<App, 'tenant_code' | 'channel'>;

/** A statement that changes an app. */
export type AppChange =
  | 'rotateAppSecret'
  | 'retireAppSecret'
  | 'disableApp'
  | 'setApp'
  | 'removeApp';

/** The columns that `create` stores. */
export type AddedApp = Omit<App, 'old_secret' | 'old_until' | 'old_ends' | 'disabled'>;

/** The number of apps whose secrets were encrypted, and why another one cannot be read. */
export interface EncryptedApps {
  readonly count: number;
  /** `null` if all can be read. */
  readonly unreadable: ChangedSecretError | null;
}

/** The apps of all tenants, by key. */
export class Apps {
  readonly #sql: Sql;
  readonly #cipher: SecretCipher;

  constructor(sql: Sql, cipher: SecretCipher) {
    this.#sql = sql;
    this.#cipher = cipher;
  }

  async find(appKey: string): Promise<App | null> {
    const [row] = await this.#sql.all<StoredApp>(statements.findApp, [appKey]);
    return row === undefined ? null : this.#toApp(row);
  }

  /** The apps after a key, ordered by key. */
  list(after: string, limit: number): Promise<readonly StoredApp[]> {
    return this.#sql.all(statements.listApps, [after, limit]);
  }

  /**
   * Uses up a random (§5.4) of an app that is still what it was when it was read; returns why that
   * is not possible.
   */
  async useRandom(app: App, random: string): Promise<Obstacle | null> {
    const used = await this.#sql.run(statements.useNonce, [...revisionOf(app), random]);
    return used === 1 ? null : this.obstacleOf(app);
  }

  /** Why a random of an app was not used up. */
  async obstacleOf(app: App): Promise<Obstacle> {
    const rows = await this.#sql.all(statements.findRevision, revisionOf(app));
    return rows.length === 1 ? 'random used' : 'app changed';
  }

  /** Returns `false` if the key is taken. */
  async add(app: AddedApp): Promise<boolean> {
    const { app_key, app_secret, tenant_code, channel, recipes, created_at, revision } = app;
    const secret = this.#cipher.encrypt(app_key, app_secret);
    const values = [app_key, secret, tenant_code, channel, recipes, created_at, revision];
    return (await this.#sql.run(statements.addApp, values)) === 1;
  }

  /**
   * Changes an app by a statement, whose values follow its key; a secret is encrypted. Returns
   * `null` if there is no such app.
   */
  async change(
    statement: AppChange,
    appKey: string,
    ...values: readonly (Secret | SqlParameter)[]
  ): Promise<ChangedApp | null> {
    const stored = values.map((value) =>
      value instanceof Secret ? this.#cipher.encrypt(appKey, value) : value,
    );
    const parameters = [appKey, ...stored];
    const [row] = await this.#sql.all<ChangedApp>(statements[statement], parameters);
    return row ?? null;
  }

  /**
   * @throws UnreadableSecretError if a key with which secrets of the first apps are encrypted is
   * not given
   */
  async requireMasterKeys(): Promise<void> {
    for (const { app_secret, old_secret } of await this.list('', checkedApps)) {
      this.#cipher.requireKey(app_secret);
      if (old_secret !== null) this.#cipher.requireKey(old_secret);
    }
  }

  /** Encrypts the secrets with the first master key. */
  async encryptAll(): Promise<EncryptedApps> {
    let unreadable: ChangedSecretError | null = null;
    let count = 0;
    for (const app of await this.list('', Number.MAX_SAFE_INTEGER)) {
      try {
        count += await this.#encryptSecrets(app);
      } catch (error) {
        if (!(error instanceof ChangedSecretError)) throw error;
        unreadable ??= error;
      }
    }
    return { count, unreadable };
  }

  /**
   * Returns the number of changed apps.
   *
   * @throws ChangedSecretError if a secret was changed in the database
   */
  async #encryptSecrets({ app_key, app_secret, old_secret }: StoredApp): Promise<number> {
    const stored = [app_secret, old_secret];
    const isCurrent = (secret: string | null) => secret === null || this.#cipher.isCurrent(secret);
    if (stored.every(isCurrent)) return 0;
    const encrypted = stored.map(
      (secret) => secret && this.#cipher.encrypt(app_key, this.#cipher.decrypt(app_key, secret)),
    );
    return this.#sql.run(statements.setStoredSecrets, [app_key, ...encrypted, ...stored]);
  }

  #toApp({ app_secret, old_secret, old_left, disabled, ...app }: StoredApp): App {
    return {
      ...app,
      app_secret: this.#cipher.decrypt(app.app_key, app_secret),
      old_secret: this.#decryptOld(app.app_key, old_secret),
      old_ends: performance.now() + 1000 * old_left,
      disabled: disabled === 1,
    };
  }

  /** `null` for one that was changed: the current secret of the app is valid all the same. */
  #decryptOld(appKey: string, stored: string | null): Secret | null {
    if (stored === null) return null;
    try {
      return this.#cipher.decrypt(appKey, stored);
    } catch (error) {
      if (error instanceof ChangedSecretError) return null;
      throw error;
    }
  }
}

function revisionOf({ app_key, tenant_code, channel, revision }: App) {
  return [app_key, tenant_code, channel, revision];
}
