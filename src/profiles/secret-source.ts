import type { Secret } from '../signing/secret.js';

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
