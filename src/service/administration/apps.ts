import { randomBytes } from 'node:crypto';
import { InvalidInputError, quoteName } from '../../core/contract/errors.js';
import { resultCode } from '../../core/contract/result-codes.js';
import type { RecipeJson, SigningRecipes } from '../../core/signing/recipe.js';
import { formatRecipe, parseSigningRecipes } from '../../core/signing/recipe-json.js';
import { Secret } from '../../core/signing/secret.js';
import type { SqlParameter } from '../database/sql-driver.js';
import type { AddedApp, AppChange, ChangedApp, EncryptedApps, StoredApp } from '../store/apps.js';
import {
  type AdminContext,
  audited,
  checkKey,
  checkSeconds,
  listAll,
  NotFoundError,
} from './admin-context.js';

/**
 * An app to create.
 *
 * @example
 * const app: NewApp = { tenantCode: 'acme', channel: 'web', appKey: 'test-app' };
 * await service.admin.createApp(app);
 */
export interface NewApp {
  /** Tenant code (§5.3). */
  readonly tenantCode: string;
  /** Channel code (§5.3). */
  /** Channel code (§5.3). */
  readonly channel: string;
  /**
   * Application key (§5.2).
   *
   * @default random
   */
  readonly appKey?: string;
  /**
   * Application secret (§5.2).
   *
   * @default random
   */
  readonly appSecret?: string | Secret;
  /**
   * The signing rules of the app.
   *
   * @default those of the platform
   */
  readonly recipes?: { readonly app_sign: RecipeJson; readonly sign: RecipeJson };
}

/** The credentials of an app; no other operation returns its secret. */
export interface AppCredentials {
  /** Tenant code (§5.3). */
  readonly tenant_code: string;
  /** Channel code (§5.3). */
  readonly channel: string;
  /** Application key (§5.2). */
  readonly app_key: string;
  /** Application secret (§5.2). */
  readonly app_secret: Secret;
}

/** An app without its secret. */
export interface ListedApp {
  /** Tenant code (§5.3). */
  readonly tenant_code: string;
  /** Channel code (§5.3). */
  readonly channel: string;
  /** Application key (§5.2). */
  readonly app_key: string;
  /** Unix time in seconds. */
  readonly created_at: number;
  /** Whether its requests are refused. */
  readonly disabled: boolean;
  /**
   * Until when the secret before the current one is valid, Unix time in seconds; absent if there is
   * none.
   */
  readonly old_secret_until?: number;
  /** Absent for the default recipes. */
  readonly recipes?: SigningRecipes;
}

const appKeyBytes = 8;
const secretBytes = 16;
const revisionBytes = 5;

/** The operations on the apps of a service. */
export interface AppOperations {
  /**
   * Creates an app (§5) for one tenant and channel.
   *
   * @throws InvalidInputError for a key that is taken
   * @throws RecipeError for an invalid recipe
   */
  createApp(app: NewApp): Promise<AppCredentials>;
  /** All apps, ordered by key, without the secrets. */
  listApps(): AsyncIterable<ListedApp>;
  /**
   * Replaces the secret of an app. The old secret stays valid for `overlapSeconds`, by default 0.
   *
   * @throws NotFoundError (40101)
   * @throws InvalidInputError for an invalid overlap
   */
  rotateSecret(app: {
    readonly appKey: string;
    readonly overlapSeconds?: number;
  }): Promise<AppCredentials>;
  /**
   * Makes the secret before the current one invalid.
   *
   * @throws NotFoundError (40101)
   */
  retireSecret(app: { readonly appKey: string }): Promise<void>;
  /**
   * Refuses the requests of an app with 40301.
   *
   * @throws NotFoundError (40101)
   */
  disableApp(app: { readonly appKey: string }): Promise<void>;
  /** @throws NotFoundError (40101) */
  enableApp(app: { readonly appKey: string }): Promise<void>;
  /**
   * Changes the channel or the recipes of an app; `null` stands for the default recipes.
   *
   * @throws NotFoundError (40101)
   * @throws InvalidInputError if nothing is given, or something is invalid
   * @throws RecipeError for an invalid recipe
   */
  setApp(app: {
    readonly appKey: string;
    readonly channel?: string;
    readonly recipes?: NewApp['recipes'] | null;
  }): Promise<void>;
  /**
   * Encrypts with the first master key the secrets that are not yet encrypted with it; returns the
   * number of their apps.
   *
   * @throws InvalidInputError if no master key is given
   * @throws StoreUnavailableError if the key of a secret is not given, or, after all others are
   * encrypted, for a secret that was changed in the database
   */
  encryptSecrets(): Promise<number>;
  /** @throws NotFoundError (40101) */
  removeApp(app: { readonly appKey: string }): Promise<void>;
}

export function appOperations(context: AdminContext): AppOperations {
  const { store, now } = context;
  const newSecret = () => new Secret(randomBytes(secretBytes).toString('hex'));
  /** @throws NotFoundError if there is no such app */
  const change = async (
    action: string,
    statement: AppChange,
    appKey: string,
    ...values: readonly (Secret | SqlParameter)[]
  ) => {
    const lineOf = (app: ChangedApp | null) =>
      app && { action, tenant_code: app.tenant_code, subject: appKey };
    const app = await audited(context, lineOf, ({ apps }) =>
      apps.change(statement, appKey, ...values),
    );
    if (app !== null) return app;
    throw new NotFoundError(
      resultCode.unknownAppKey,
      `there is no app with the key ${quoteName(appKey)}`,
    );
  };
  return {
    async createApp({ tenantCode, channel, appSecret, recipes, ...options }) {
      const { appKey = `app_${randomBytes(appKeyBytes).toString('hex')}` } = options;
      const app: AddedApp = {
        app_key: checkKey('app_key', appKey),
        app_secret: appSecret === undefined ? newSecret() : toSecret(appSecret),
        tenant_code: checkKey('tenant_code', tenantCode),
        channel: checkKey('channel', channel),
        recipes: recipes === undefined ? null : writeRecipes(recipes),
        created_at: Math.floor(now() / 1000),
        revision: randomBytes(revisionBytes).readUIntBE(0, revisionBytes),
      };
      const line = { action: 'app create', tenant_code: app.tenant_code, subject: app.app_key };
      if (await audited(context, line, ({ apps }) => apps.add(app))) return credentialsOf(app);
      throw new InvalidInputError(`app key ${quoteName(appKey)} is taken`, {
        hint: 'Choose another one, or remove that app first.',
      });
    },
    async *listApps() {
      const all = listAll<StoredApp>(
        (after, limit) => store.read(({ apps }) => apps.list(after, limit)),
        (app) => app.app_key,
      );
      for await (const app of all) yield listedApp(app);
    },
    async rotateSecret({ appKey, overlapSeconds = 0 }) {
      const app_secret = newSecret();
      if (overlapSeconds !== 0) checkSeconds('the overlap', overlapSeconds);
      const values = [app_secret, overlapSeconds] as const;
      const app = await change('app rotate-secret', 'rotateAppSecret', appKey, ...values);
      return { ...app, app_key: appKey, app_secret };
    },
    async retireSecret({ appKey }) {
      await change('app retire-secret', 'retireAppSecret', appKey);
    },
    async disableApp({ appKey }) {
      await change('app disable', 'disableApp', appKey, 1);
    },
    async enableApp({ appKey }) {
      await change('app enable', 'disableApp', appKey, 0);
    },
    async setApp({ appKey, channel, recipes }) {
      if (channel === undefined && recipes === undefined) {
        throw new InvalidInputError('nothing to change: give a channel or recipes');
      }
      if (channel !== undefined) checkKey('channel', channel);
      await change('app set', 'setApp', appKey, channel ?? null, changedRecipes(recipes));
    },
    async encryptSecrets() {
      const lineOf = ({ count }: EncryptedApps) => {
        if (count === 0) return null;
        const subject = count === 1 ? '1 app' : `${count} apps`;
        return { action: 'app encrypt-secrets', tenant_code: null, subject };
      };
      const encrypted = await audited(context, lineOf, ({ apps }) => apps.encryptAll());
      // The others are encrypted.
      if (encrypted.unreadable !== null) throw encrypted.unreadable;
      return encrypted.count;
    },
    async removeApp({ appKey }) {
      await change('app delete', 'removeApp', appKey);
    },
  };
}

/** @throws InvalidInputError for an empty secret */
function toSecret(appSecret: string | Secret): Secret {
  const secret = appSecret instanceof Secret ? appSecret : new Secret(appSecret);
  if (secret.reveal() !== '') return secret;
  throw new InvalidInputError('app_secret is empty');
}

function listedApp(stored: StoredApp): ListedApp {
  const { tenant_code, channel, app_key, created_at } = stored;
  const disabled = stored.disabled === 1;
  const app: { -readonly [Name in keyof ListedApp]: ListedApp[Name] } = {
    tenant_code,
    channel,
    app_key,
    created_at,
    disabled,
  };
  if (stored.old_secret !== null) app.old_secret_until = stored.old_until;
  if (stored.recipes !== null) app.recipes = parseSigningRecipes(JSON.parse(stored.recipes));
  return app;
}

function credentialsOf({ tenant_code, channel, app_key, app_secret }: AddedApp): AppCredentials {
  return { tenant_code, channel, app_key, app_secret };
}

/** What `setApp` stores: empty text for the default recipes, `null` to leave them as they are. */
function changedRecipes(recipes: NewApp['recipes'] | null): string | null {
  if (recipes === undefined) return null;
  return recipes === null ? '' : writeRecipes(recipes);
}

/**
 * The short form: it gets defaults for parts that a later version adds.
 *
 * @throws RecipeError for an invalid recipe
 */
function writeRecipes(recipes: NonNullable<NewApp['recipes']>): string {
  const { app_sign, sign } = parseSigningRecipes(recipes);
  return JSON.stringify({ app_sign: formatRecipe(app_sign), sign: formatRecipe(sign) });
}
