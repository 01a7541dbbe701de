import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { InvalidInputError, quoteName } from '../../core/contract/errors.js';
import { Secret } from '../../core/signing/secret.js';
import { quoteWhereNeeded } from '../../core/support/shell.js';
import { StoreUnavailableError } from '../database/errors.js';

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;
const idLength = 8;

/** Begins each encrypted secret; the ID of its key follows. */
const mark = 'aes256gcm.';

/** Maximum length of the mark and the ID of the key, with the separator behind it. */
const startLength = mark.length + idLength + 1;

/** An encrypted secret cannot be decrypted: it concerns its app alone. */
export class UnreadableSecretError extends StoreUnavailableError {}

/** An encrypted secret was changed in the database. */
export class ChangedSecretError extends UnreadableSecretError {}

/**
 * Encrypts the secrets of apps for the database with AES-256-GCM, bound to the key of the app.
 * Without a key they are stored as they are; secrets that were stored so stay readable.
 */
export function secretCipher(masterKeys: readonly Secret[]) {
  const keys: ReadonlyMap<string, Buffer> = new Map(
    masterKeys.map(parseKey).map((key) => [idOf(key), key]),
  );

  function open(appKey: string, stored: string): string {
    const key = keys.get(stored.slice(mark.length, mark.length + idLength));
    if (key === undefined) throw new TypeError('the text names no key');
    const sealed = Buffer.from(stored.slice(startLength), 'base64');
    const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, ivBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAAD(Buffer.from(appKey)).setAuthTag(sealed.subarray(-tagBytes));
    return (
      decipher.update(sealed.subarray(ivBytes, -tagBytes), undefined, 'utf8') +
      decipher.final('utf8')
    );
  }

  /** @throws UnreadableSecretError if a stored secret is encrypted with a key that is not given */
  function requireKey(stored: string): void {
    const id = stored.slice(mark.length, startLength);
    // Anything else is not an ID: the text was changed.
    if (!stored.startsWith(mark) || !/^[\da-f]{8}\.$/.test(id) || keys.has(id.slice(0, -1))) return;
    throw new UnreadableSecretError('the secrets of the database are encrypted with another key', {
      hint: 'Give that key in USERINFO_MASTER_KEY, after a comma if there is a newer one.',
    });
  }

  return {
    encrypt(appKey: string, secret: Secret): string {
      const [first] = keys;
      if (first === undefined) return secret.reveal();
      const [id, key] = first;
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv(algorithm, key, iv).setAAD(Buffer.from(appKey));
      const sealed = [
        iv,
        cipher.update(secret.reveal(), 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ];
      return `${mark}${id}.${Buffer.concat(sealed).toString('base64')}`;
    },
    requireKey,
    /**
     * @throws UnreadableSecretError if its key is not given
     * @throws ChangedSecretError if the text was changed
     */
    decrypt(appKey: string, stored: string): Secret {
      if (!stored.startsWith(mark)) return new Secret(stored);
      requireKey(stored);
      try {
        return new Secret(open(appKey, stored));
      } catch (cause) {
        throw new ChangedSecretError(
          `the encrypted secret of app ${quoteName(appKey)} was changed`,
          {
            hint: 'Give the app a new one:',
            commands: [`userinfo admin app rotate-secret --app-key ${quoteWhereNeeded(appKey)}`],
            cause,
          },
        );
      }
    },
    /**
     * Whether the secret is encrypted with the first key.
     *
     * @throws InvalidInputError if there is no key
     */
    isCurrent(stored: string): boolean {
      const [id] = keys.keys();
      if (id !== undefined) return stored.startsWith(`${mark}${id}.`);
      throw new InvalidInputError('there is no master key to encrypt with', {
        hint: 'Set USERINFO_MASTER_KEY, or USERINFO_MASTER_KEY_FILE, to one that is made by:',
        commands: ['openssl rand -base64 32'],
      });
    },
  };
}

export type SecretCipher = ReturnType<typeof secretCipher>;

function parseKey(masterKey: Secret): Buffer {
  const text = masterKey.reveal().trim();
  const key = Buffer.from(text, /^[\da-f]{64}$/i.test(text) ? 'hex' : 'base64');
  if (key.length === keyBytes) return key;
  throw new InvalidInputError('a master key is not 32 bytes in base64 or hex', {
    hint: 'Create one:',
    commands: ['openssl rand -base64 32'],
  });
}

function idOf(key: Buffer): string {
  return createHash('sha256').update(key).digest('hex').slice(0, idLength);
}
