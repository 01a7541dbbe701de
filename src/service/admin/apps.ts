import { InvalidInputError } from '../../protocol/errors.js';
import { resultCode } from '../../protocol/result-codes.js';
import { quoteName } from '../../protocol/text.js';
import type { RecipeJson, SigningRecipes } from '../../signing/recipe.js';
import { formatRecipe, parseSigningRecipes } from '../../signing/recipe-json.js';
import { Secret } from '../../signing/secret.js';
import type { App } from '../store/apps.js';
import {
  type AdminContext,
  checkKey,
  listAll,
  NotFoundError,
  randomHex,
  unixSeconds,
} from './admin-context.js';

export interface NewApp {
  readonly tenantCode: string;
  readonly channel: string;
  /** Default: random. */
  readonly appKey?: string;
  /** Default: the default recipes. */
  readonly recipes?: { readonly app_sign: RecipeJson; readonly sign: RecipeJson };
}

/** The credentials of an app; no other operation returns its secret. */
export interface AppCredentials {
  readonly tenant_code: string;
  readonly channel: string;
  readonly app_key: string;
  readonly app_secret: Secret;
}

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

export async function createApp(context: AdminContext, input: NewApp): Promise<AppCredentials> {
  const { tenantCode, channel, appKey = `app_${randomHex(context, appKeyBytes)}`, recipes } = input;
  const app: App = {
    app_key: checkKey('app_key', appKey),
    app_secret: newSecret(context),
    tenant_code: checkKey('tenant_code', tenantCode),
    channel: checkKey('channel', channel),
    recipes: recipes === undefined ? null : writeRecipes(parseSigningRecipes(recipes)),
    created_at: unixSeconds(context),
  };
  if (await context.store.write(({ apps }) => apps.add(app))) return credentialsOf(app);
  throw new InvalidInputError(`app key ${quoteName(appKey)} is taken`, {
    hint: 'Choose another one, or remove that app first.',
  });
}

export async function* listApps({ store }: AdminContext): AsyncGenerator<ListedApp, void, undefined> {
  const all = listAll<App>(
    (after, limit) => store.read(({ apps }) => apps.list(after, limit)),
    (app) => app.app_key,
  );
  for await (const { tenant_code, channel, app_key, created_at, recipes } of all) {
    const signing = recipes === null ? {} : { recipes: parseSigningRecipes(JSON.parse(recipes)) };
    yield { tenant_code, channel, app_key, created_at, ...signing };
  }
}

export async function rotateSecret(context: AdminContext, appKey: string): Promise<AppCredentials> {
  const secret = newSecret(context);
  const app = await context.store.write(async ({ apps }) => {
    await apps.setSecret(appKey, secret);
    return await apps.find(appKey);
  });
  if (app === null) throw noSuchApp(appKey);
  return credentialsOf(app);
}

export async function removeApp({ store }: AdminContext, appKey: string): Promise<void> {
  if (!(await store.write(({ apps }) => apps.remove(appKey)))) throw noSuchApp(appKey);
}

function newSecret(context: AdminContext): Secret {
  return new Secret(randomHex(context, secretBytes));
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
