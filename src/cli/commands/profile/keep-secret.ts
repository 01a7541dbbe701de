import { CredentialError } from '../../../profiles/errors.js';
import { Keychain } from '../../../profiles/keychain.js';
import { keychainOf } from '../../../profiles/keychain-tools.js';
import { shellRunner } from '../../../profiles/run-command.js';
import type { KeychainSource, SecretSource } from '../../../profiles/secret-source.js';
import type { Secret } from '../../../signing/secret.js';
import type { CliContext } from '../../context.js';
import { warn } from '../../output/warn.js';
import type { SecretOptions } from './secret-options.js';

/**
 * Does `write` with what is to be written, the secret in it where the options want it: in the keychain it is before,
 * and no longer where `write` fails. Throws a CredentialError where there is no keychain, or it does not take the
 * secret: nothing is written then, in no other place either.
 */
export async function withSecretKept<P extends { readonly secret?: SecretSource }, T>(
  context: CliContext,
  { appSecretKeychain }: SecretOptions,
  profile: string,
  fields: P,
  write: (fields: P) => Promise<T>,
): Promise<T> {
  if (!appSecretKeychain || fields.secret?.kind !== 'file') return write(fields);
  const secret = await keepInKeychain(context, profile, fields.secret.value);
  try {
    return await write({ ...fields, secret });
  } catch (error) {
    await forgetSecret(context, secret);
    throw error;
  }
}

/** Takes a secret that no profile uses any more out of the keychain; says so where it cannot. */
export async function forgetSecret(context: CliContext, source: SecretSource): Promise<void> {
  if (source.kind !== 'keychain') return;
  const { keychain, account } = source;
  if (await new Keychain(keychain, shellRunner(context.io.env)).remove(account)) return;
  await warn(context.io, `the app secret may still be in the keychain, entry "${account}" of userinfo`);
}

async function keepInKeychain(
  { io, platform, uniqueText }: CliContext,
  profile: string,
  secret: Secret,
): Promise<KeychainSource> {
  const keychain = keychainOf(platform);
  if (keychain === null) {
    throw new CredentialError(`there is no keychain on this system (${platform})`, {
      hint: 'Use --app-secret-stdin, --app-secret-env or --app-secret-command. Nothing was stored.',
    });
  }
  const readable = profile.replace(/[^A-Za-z0-9._-]/g, '').replace(/^[._-]+/, '') || 'profile';
  const account = `${readable}-${uniqueText().slice(0, 8)}`;
  await new Keychain(keychain, shellRunner(io.env)).keep(account, secret);
  return { kind: 'keychain', keychain, account };
}
