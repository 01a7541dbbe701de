import type { UserInfoClientOptions } from '../../client/options.js';
import { recipesOf, type SigningSource } from '../../profiles/signing-source.js';
import type { Endpoint } from '../../protocol/endpoints.js';
import { defaultRecipes } from '../../signing/presets.js';
import type { SigningRecipes } from '../../signing/recipe.js';
import { Secret } from '../../signing/secret.js';

/** What signs the requests of one operation, as it goes to another thread of this process: a `Secret` cannot. */
export interface PackedSigner
  extends Pick<UserInfoClientOptions, 'baseUrl' | 'tenantCode' | 'channel' | 'appKey'> {
  readonly operation: Endpoint['operation'];
  readonly appSecret: string;
  readonly signing: SigningRecipes;
}

/** `source` is how the profile signs, `null` by the default recipes. Gives `null` for a module: it is in this thread alone. */
export function packSigner(
  operation: Endpoint['operation'],
  { baseUrl, tenantCode, channel, appKey, appSecret }: UserInfoClientOptions,
  source: SigningSource | null,
): PackedSigner | null {
  const { app_sign, sign } = source === null ? defaultRecipes : recipesOf(source);
  if (app_sign === null || sign === null) return null;
  return {
    operation,
    baseUrl,
    tenantCode,
    channel,
    appKey,
    appSecret: appSecret instanceof Secret ? appSecret.reveal() : appSecret,
    signing: { app_sign, sign },
  };
}
