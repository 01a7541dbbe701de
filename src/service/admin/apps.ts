import { InvalidInputError } from '../../protocol/errors.js';
import { resultCode } from '../../protocol/result-codes.js';
import { quoteName } from '../../protocol/text.js';
import type { RecipeJson, SigningRecipes } from '../../signing/recipe.js';
import { formatRecipe, parseSigningRecipes } from '../../signing/recipe-json.js';
import { Secret } from '../../signing/secret.js';
import type { App } from '../store/apps.js';
import { type AdminContext, checkKey, listAll, NotFoundError, randomHex } from './admin-context.js';

/**
 * An app to create.
 *
 * @example
 * const app: NewApp = { tenantCode: 'acme', channel: 'web', appKey: 'test-app', appSecret: 'test-secret' };
 * await service.admin.createApp(app);
 */
export interface NewApp {
  readonly tenantCode: string;
  readonly channel: string;
  /** Default: random. */
  readonly appKey?: string;
  /** Default: random. */
  readonly appSecret?: string | Secret;
  /** Default: the default recipes. */
  readonly recipes?: { readonly app_sign: RecipeJson; readonly sign: RecipeJson };
}

/**
 * The credentials of an app; no other operation returns its secret.
 *
 * @example
 * const { app_key, app_secret }: AppCredentials = await service.admin.createApp({ tenantCode: 'acme', channel: 'web' });
 * app_secret.reveal();
 */
export interface AppCredentials {
  readonly tenant_code: string;
  readonly channel: string;
  readonly app_key: string;
  readonly app_secret: Secret;
}

/**
 * An app without its secret.
 *
 * @example
 * const keyOf = ({ app_key }: ListedApp) => app_key;
 * for await (const app of service.admin.listApps()) console.log(keyOf(app));
 */
export interface ListedApp {
  readonly tenant_code: string;
  readonly channel: string;
  readonly app_key: string;
  /** Unix time in seconds. */
  readonly created_at: number;
  /** Absent for the default recipes. */
  readonly recipes?: SigningRecipes;
}

const appKeyBytes = 8;
const secretBytes = 16;

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
   * Replaces the secret of an app.
   *
   * @throws NotFoundError (40101)
   */
  rotateSecret(app: { readonly appKey: string }): Promise<AppCredentials>;
  /** @throws NotFoundError (40101) */
  removeApp(app: { readonly appKey: string }): Promise<void>;
}

export function appOperations(context: AdminContext): AppOperations {
  const { store, now } = context;
  const newSecret = () => new Secret(randomHex(context, secretBytes));
  return {
    async createApp(given) {
      const {
        tenantCode,
        channel,
        appKey = `app_${randomHex(context, appKeyBytes)}`,
        appSecret,
        recipes,
      } = given;
      const app: App = {
        app_key: checkKey('app_key', appKey),
        app_secret: appSecret === undefined ? newSecret() : toSecret(appSecret),
        tenant_code: checkKey('tenant_code', tenantCode),
        channel: checkKey('channel', channel),
        recipes: recipes === undefined ? null : writeRecipes(parseSigningRecipes(recipes)),
        created_at: Math.floor(now() / 1000),
      };
      if (await store.write(({ apps }) => apps.add(app))) return credentialsOf(app);
      throw new InvalidInputError(`app key ${quoteName(appKey)} is taken`, {
        hint: 'Choose another one, or remove that app first.',
      });
    },
    async *listApps() {
      const all = listAll<App>(
        (after, limit) => store.read(({ apps }) => apps.list(after, limit)),
        (app) => app.app_key,
      );
      for await (const { tenant_code, channel, app_key, created_at, recipes } of all) {
        const signing = recipes === null ? {} : { recipes: parseSigningRecipes(JSON.parse(recipes)) };
        yield { tenant_code, channel, app_key, created_at, ...signing };
      }
    },
    async rotateSecret({ appKey }) {
      const secret = newSecret();
      const app = await store.write(async ({ apps }) => {
        await apps.setSecret(appKey, secret);
        return await apps.find(appKey);
      });
      if (app === null) throw noSuchApp(appKey);
      return credentialsOf(app);
    },
    async removeApp({ appKey }) {
      if (!(await store.write(({ apps }) => apps.remove(appKey)))) throw noSuchApp(appKey);
    },
  };
}

/** @throws InvalidInputError for an empty secret */
function toSecret(given: string | Secret): Secret {
  const secret = given instanceof Secret ? given : new Secret(given);
  if (secret.reveal() !== '') return secret;
  throw new InvalidInputError('app_secret is empty');
}

function credentialsOf({ tenant_code, channel, app_key, app_secret }: App): AppCredentials {
  return { tenant_code, channel, app_key, app_secret };
}

/** The short form: it gets defaults for parts that a later version adds. */
function writeRecipes({ app_sign, sign }: SigningRecipes): string {
  return JSON.stringify({ app_sign: formatRecipe(app_sign), sign: formatRecipe(sign) });
}

function noSuchApp(appKey: string): NotFoundError {
  return new NotFoundError(resultCode.unknownAppKey, `there is no app with the key ${quoteName(appKey)}`);
}
