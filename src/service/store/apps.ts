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

/** An app that was changed; `null` if there is no such app. */
export type Changed = Pick<App, 'tenant_code' | 'channel'> | null;

/** A statement that changes an app. */
type AppChange = 'rotateAppSecret' | 'retireAppSecret' | 'disableApp' | 'setApp' | 'removeApp';

/** The columns that `create` stores. */
export type AddedApp = Omit<App, 'old_secret' | 'old_until' | 'old_ends' | 'disabled'>;

/** The apps of all tenants, by key. */
export function appsOf(sql: Sql, cipher: SecretCipher) {
  function toApp({ app_secret, old_secret, old_left, disabled, ...app }: StoredApp): App {
    return {
      ...app,
      app_secret: cipher.decrypt(app.app_key, app_secret),
      old_secret: old_secret === null ? null : decryptOld(app.app_key, old_secret),
      old_ends: performance.now() + 1000 * old_left,
      disabled: disabled === 1,
    };
  }

  /** The current secret of the app is valid all the same. */
  function decryptOld(appKey: string, stored: string): Secret | null {
    try {
      return cipher.decrypt(appKey, stored);
    } catch (error) {
      if (error instanceof ChangedSecretError) return null;
      throw error;
    }
  }

  /** The apps after a key, ordered by key. */
  function list(after: string, limit: number): Promise<readonly StoredApp[]> {
    return sql.all(statements.listApps, [after, limit]);
  }

  /** Why a random of an app was not used up. */
  async function obstacleOf(app: App): Promise<Obstacle> {
    const found = await sql.all(statements.findRevision, revisionOf(app));
    return found.length === 1 ? 'random used' : 'app changed';
  }

  return {
    async find(appKey: string): Promise<App | null> {
      const [row] = await sql.all<StoredApp>(statements.findApp, [appKey]);
      return row === undefined ? null : toApp(row);
    },
    /**
     * Uses up a random (§5.4) of an app that is still what it was when it was read; returns why
     * that is not possible.
     */
    async useRandom(app: App, random: string): Promise<Obstacle | null> {
      const used = await sql.run(statements.useNonce, [...revisionOf(app), random]);
      return used === 1 ? null : obstacleOf(app);
    },
    obstacleOf,
    /** Returns `false` if the key is taken. */
    async add(app: AddedApp): Promise<boolean> {
      const { app_key, app_secret, tenant_code, channel, recipes, created_at, revision } = app;
      const stored = cipher.encrypt(app_key, app_secret);
      const values = [app_key, stored, tenant_code, channel, recipes, created_at, revision];
      return (await sql.run(statements.addApp, values)) === 1;
    },
    /** Changes an app by a statement, whose values follow its key; a secret is encrypted. */
    async change(
      statement: AppChange,
      appKey: string,
      ...values: readonly (Secret | SqlParameter)[]
    ): Promise<Changed> {
      const stored = values.map((one) =>
        one instanceof Secret ? cipher.encrypt(appKey, one) : one,
      );
      const [row] = await sql.all<NonNullable<Changed>>(statements[statement], [appKey, ...stored]);
      return row ?? null;
    },
    list,
    /**
     * @throws UnreadableSecretError if a key with which secrets of the first apps are encrypted is
     * not given
     */
    async requireMasterKeys(): Promise<void> {
      for (const { app_secret, old_secret } of await list('', checkedApps)) {
        cipher.requireKey(app_secret);
        if (old_secret !== null) cipher.requireKey(old_secret);
      }
    },
    /**
     * Encrypts the secrets with the first master key; returns how many, and why another one cannot
     * be read.
     */
    async encryptAll(): Promise<{
      readonly encrypted: number;
      readonly unreadable?: ChangedSecretError;
    }> {
      let unreadable: ChangedSecretError | undefined;
      let encrypted = 0;
      for (const { app_key, app_secret, old_secret } of await list('', Number.MAX_SAFE_INTEGER)) {
        const stored = [app_secret, old_secret];
        if (stored.every((one) => one === null || cipher.isCurrent(one))) continue;
        const renew = (one: string | null) =>
          one && cipher.encrypt(app_key, cipher.decrypt(app_key, one));
        try {
          const values = [app_key, ...stored.map(renew), ...stored];
          encrypted += await sql.run(statements.setStoredSecrets, values);
        } catch (error) {
          if (!(error instanceof ChangedSecretError)) throw error;
          unreadable ??= error;
        }
      }
      return { encrypted, ...(unreadable !== undefined && { unreadable }) };
    },
  };
}

export type Apps = ReturnType<typeof appsOf>;

function revisionOf({ app_key, tenant_code, channel, revision }: App) {
  return [app_key, tenant_code, channel, revision];
}
