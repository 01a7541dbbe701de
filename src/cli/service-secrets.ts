import { InvalidInputError, quoteName } from '../core/contract/errors.js';
import { Secret } from '../core/signing/secret.js';
import { readNamedFile } from './input.js';
import type { Io } from './io.js';

/**
 * The tokens for issuing codes over HTTP, of USERINFO_ADMIN_TOKEN or the file that
 * USERINFO_ADMIN_TOKEN_FILE names; none if none is set.
 *
 * @throws InvalidInputError if their file cannot be read, what is set is blank, or there is none
 * before or after a comma
 */
export function adminTokens(env: Io['env']): Promise<Secret[]> {
  return readSecretsOf(env, 'USERINFO_ADMIN_TOKEN', 'an admin token');
}

/**
 * The keys of the store, of USERINFO_MASTER_KEY or the file that USERINFO_MASTER_KEY_FILE names;
 * none if none is set.
 *
 * @throws InvalidInputError as `adminTokens`
 */
export function masterKeys(env: Io['env']): Promise<Secret[]> {
  return readSecretsOf(env, 'USERINFO_MASTER_KEY', 'a master key');
}

/**
 * Secrets of the service, between commas or white space: the text of a variable, or the content of
 * the file that another names; never an argument, which other users of the machine can see. `what`
 * is the name of one in messages.
 */
async function readSecretsOf(
  env: Io['env'],
  name: 'USERINFO_ADMIN_TOKEN' | 'USERINFO_MASTER_KEY',
  what: string,
): Promise<Secret[]> {
  const text = env[name];
  if (text) return splitSecrets(text, { label: name, variable: name, what });
  const variable = `${name}_FILE`;
  const file = env[variable];
  if (!file) return [];
  const label = `the file ${quoteName(file)}`;
  return splitSecrets(await readNamedFile(file, label), { label, variable, what });
}

/**
 * `label` names the source in messages, `variable` is the one that is set, `what` is one secret.
 */
function splitSecrets(
  text: string,
  names: { readonly label: string; readonly variable: string; readonly what: string },
): Secret[] {
  const { label, variable, what } = names;
  if (text.trim() === '') {
    throw new InvalidInputError(`${label} holds no secret`, {
      hint: `Without one, unset ${variable}.`,
    });
  }
  const parts = text
    .trim()
    .split(',')
    .flatMap((part) => part.trim().split(/\s+/));
  // Such as "$NEW,$OLD" with one variable unset: the old key, or none, would be used to encrypt.
  if (parts.includes('')) {
    throw new InvalidInputError(`${what} is missing before or after a comma`, {
      hint: 'Is it a variable that is not set?',
    });
  }
  return parts.map((secret) => new Secret(secret));
}
