import { InvalidInputError } from '../protocol/errors.js';
import { Secret } from '../signing/secret.js';
import { type JsonObject, readObject, readText } from './json-fields.js';
import { accountName, type KeychainKind, keychainKinds } from './keychain-tools.js';

/**
 * Where a profile's app secret comes from: kept in the file itself, an environment variable, a command's output, the
 * keychain of the operating system.
 */
export type SecretSource =
  | { readonly kind: 'file'; readonly value: Secret }
  | { readonly kind: 'environment'; readonly name: string }
  | { readonly kind: 'command'; readonly command: string }
  | KeychainSource;

/** An entry of a keychain; `account` names it there, and is used for no other profile. */
export interface KeychainSource {
  readonly kind: 'keychain';
  readonly keychain: KeychainKind;
  readonly account: string;
}

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Reads a source as `formatSecretSource` writes it. Throws an InvalidInputError that begins with `label`. */
export function parseSecretSource(json: unknown, label = 'secret'): SecretSource {
  const kind = readText(readObject(json, label), 'kind', `${label}.kind`);
  switch (kind) {
    case 'file':
      return {
        kind,
        value: new Secret(readText(readObject(json, label, ['kind', 'value']), 'value', `${label}.value`)),
      };
    case 'environment': {
      const name = readText(readObject(json, label, ['kind', 'name']), 'name', `${label}.name`);
      if (!variableName.test(name)) {
        throw new InvalidInputError(`${label}.name is not the name of an environment variable`, {
          hint: 'Letters, digits and "_", such as SHOP_APP_SECRET: the variable\'s name, not the secret itself.',
        });
      }
      return { kind, name };
    }
    case 'command':
      return {
        kind,
        command: readText(readObject(json, label, ['kind', 'command']), 'command', `${label}.command`),
      };
    case 'keychain':
      return parseKeychainSource(readObject(json, label, ['kind', 'keychain', 'account']), label);
    default:
      throw new InvalidInputError(`${label}.kind is none of file, environment, command and keychain`, {
        hint: 'A newer userinfo may have written it: upgrade, or put one of those there by hand.',
      });
  }
}

function parseKeychainSource(fields: JsonObject, label: string): KeychainSource {
  const named = readText(fields, 'keychain', `${label}.keychain`);
  const account = readText(fields, 'account', `${label}.account`);
  const keychain = keychainKinds.find((known) => known === named);
  if (keychain === undefined) {
    throw new InvalidInputError(`${label}.keychain is none of ${keychainKinds.join(', ')}`);
  }
  if (!accountName.test(account)) {
    throw new InvalidInputError(
      `${label}.account is not the name of an entry: letters, digits, ".", "_", "-"`,
    );
  }
  return { kind: 'keychain', keychain, account };
}

/** The source as the profile file holds it: for `file`, the secret in clear. */
export function formatSecretSource(source: SecretSource): JsonObject {
  return source.kind === 'file' ? { kind: source.kind, value: source.value.reveal() } : { ...source };
}

/** In words, for a person: where the secret is, never what it is. */
export function describeSecretSource(source: SecretSource): string {
  switch (source.kind) {
    case 'file':
      return 'the profile file';
    case 'environment':
      return `the environment variable ${source.name}`;
    case 'command':
      return 'the output of a command';
    case 'keychain':
      return `the keychain of the system, entry "${source.account}"`;
  }
}
