import { InvalidInputError } from '../protocol/errors.js';
import { Secret } from '../signing/secret.js';
import { type JsonObject, readObject, readText } from './json-fields.js';

/** Where a profile's app secret comes from: the profile file itself, an environment variable, a command's output. */
export type SecretSource =
  | { readonly kind: 'file'; readonly value: Secret }
  | { readonly kind: 'environment'; readonly name: string }
  | { readonly kind: 'command'; readonly command: string }
  | KeychainSource;

/** An entry of the system's keychain, which userinfo 0.1 could use itself: kept as it is, and never read. */
export interface KeychainSource {
  readonly kind: 'keychain';
  readonly keychain: string;
  /** The entry's account, under the service "userinfo". */
  readonly account: string;
}

/** Nothing in it means anything to a shell. */
const accountName = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
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
      throw new InvalidInputError(`${label}.kind is none of file, environment and command`, {
        hint: 'A newer userinfo may have written it: upgrade, or put one of those there by hand.',
      });
  }
}

function parseKeychainSource(fields: JsonObject, label: string): KeychainSource {
  const keychain = readText(fields, 'keychain', `${label}.keychain`);
  const account = readText(fields, 'account', `${label}.account`);
  if (accountName.test(account)) return { kind: 'keychain', keychain, account };
  throw new InvalidInputError(`${label}.account is not the name of an entry: letters, digits, ".", "_", "-"`);
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
      return `the keychain of the system, entry "${source.account}", which userinfo no longer reads by itself`;
  }
}
