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
export class SecretCipher {
  readonly #keysById: ReadonlyMap<string, Buffer>;

  /**
   * The first key encrypts, all of them decrypt.
   *
   * @throws InvalidInputError for a text that is no key
   */
  constructor(masterKeys: readonly Secret[]) {
    this.#keysById = new Map(masterKeys.map(parseKey).map((key) => [idOf(key), key]));
  }

  encrypt(appKey: string, secret: Secret): string {
    const [first] = this.#keysById;
    if (first === undefined) return secret.reveal();
    const [id, key] = first;
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv(algorithm, key, iv).setAAD(Buffer.from(appKey));
    const text = Buffer.concat([cipher.update(secret.reveal(), 'utf8'), cipher.final()]);
    const sealed = Buffer.concat([iv, text, cipher.getAuthTag()]);
    return `${mark}${id}.${sealed.toString('base64')}`;
  }

  /** @throws UnreadableSecretError if a stored secret is encrypted with a key that is not given */
  requireKey(stored: string): void {
    const id = idIn(stored);
    if (id === null || this.#keysById.has(id)) return;
    if (this.#keysById.size === 0)
      throw new UnreadableSecretError(
        'the secrets of the database are encrypted, and no master key is set',
        { hint: 'Set the key in USERINFO_MASTER_KEY, or its file in USERINFO_MASTER_KEY_FILE.' },
      );
    throw new UnreadableSecretError('the secrets of the database are encrypted with another key', {
      hint: 'Give that key in USERINFO_MASTER_KEY, after a comma if there is a newer one.',
    });
  }

  /**
   * @throws UnreadableSecretError if its key is not given
   * @throws ChangedSecretError if the text was changed
   */
  decrypt(appKey: string, stored: string): Secret {
    if (!stored.startsWith(mark)) return new Secret(stored);
    this.requireKey(stored);
    try {
      return new Secret(this.#unseal(appKey, stored));
    } catch (cause) {
      throw new ChangedSecretError(`the encrypted secret of app ${quoteName(appKey)} was changed`, {
        hint: 'Give the app a new one:',
        commands: [`userinfo admin app rotate-secret --app-key ${quoteWhereNeeded(appKey)}`],
        cause,
      });
    }
  }

  /**
   * Whether the secret is encrypted with the first key.
   *
   * @throws InvalidInputError if there is no key
   */
  isCurrent(stored: string): boolean {
    const [id] = this.#keysById.keys();
    if (id !== undefined) return stored.startsWith(`${mark}${id}.`);
    throw new InvalidInputError('there is no master key to encrypt with', {
      hint: 'Set USERINFO_MASTER_KEY, or USERINFO_MASTER_KEY_FILE, to one that is made by:',
      commands: [newKeyCommand],
    });
  }

  /** @throws Error if the text was changed */
  #unseal(appKey: string, stored: string): string {
    const key = this.#keysById.get(stored.slice(mark.length, mark.length + idLength));
    if (key === undefined) throw new TypeError('the text names no key');
    const sealed = Buffer.from(stored.slice(startLength), 'base64');
    const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, ivBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAAD(Buffer.from(appKey)).setAuthTag(sealed.subarray(-tagBytes));
    const start = decipher.update(sealed.subarray(ivBytes, -tagBytes), undefined, 'utf8');
    return start + decipher.final('utf8');
  }
}

const newKeyCommand = 'openssl rand -base64 32';

/** The ID of the key of a stored secret; `null` if it is not encrypted, or was changed. */
function idIn(stored: string): string | null {
  if (!stored.startsWith(mark)) return null;
  return /^([\da-f]{8})\.$/.exec(stored.slice(mark.length, startLength))?.[1] ?? null;
}

function parseKey(masterKey: Secret): Buffer {
  const text = masterKey.reveal().trim();
  const key = Buffer.from(text, /^[\da-f]{64}$/i.test(text) ? 'hex' : 'base64');
  if (key.length === keyBytes) return key;
  throw new InvalidInputError('a master key is not 32 bytes in base64 or hex', {
    hint: 'Create one:',
    commands: [newKeyCommand],
  });
}

function idOf(key: Buffer): string {
  return createHash('sha256').update(key).digest('hex').slice(0, idLength);
}
