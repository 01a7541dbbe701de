import type { RowTask } from '../../bulk/operations/row-task.js';
import type { UserInfoClientOptions } from '../../client/options.js';
import { recipesOf, type SigningSource } from '../../profiles/signing-source.js';
import { defaultRecipes } from '../../signing/presets.js';
import type { SigningRecipes } from '../../signing/recipe.js';
import { Secret } from '../../signing/secret.js';

/** What makes and signs the requests of a task, as it goes to another thread of this process: a `Secret` cannot. */
export interface PackedSigner
  extends Pick<UserInfoClientOptions, 'baseUrl' | 'tenantCode' | 'channel' | 'appKey'> {
  readonly task: RowTask;
  readonly appSecret: string;
  readonly signing: SigningRecipes;
}

/** `source` is how the profile signs, `null` by the default recipes. Gives `null` for a module: it is in this thread alone. */
export function packSigner(
  task: RowTask,
  { baseUrl, tenantCode, channel, appKey, appSecret }: UserInfoClientOptions,
  source: SigningSource | null,
): PackedSigner | null {
  const { app_sign, sign } = source === null ? defaultRecipes : recipesOf(source);
  if (app_sign === null || sign === null) return null;
  return {
    task,
    baseUrl,
    tenantCode,
    channel,
    appKey,
    appSecret: appSecret instanceof Secret ? appSecret.reveal() : appSecret,
    signing: { app_sign, sign },
  };
}
