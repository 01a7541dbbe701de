// Commands check certificates without undici.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { SecureContext, SecureContextOptions } from 'node:tls';
import { InvalidInputError } from '../../core/contract/errors.js';
import { Secret } from '../../core/signing/secret.js';
import type { UserInfoClientOptions } from './options.js';

type Tls = typeof import('node:tls') & { getCACertificates?: (type: 'default') => string[] };

const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * A TLS context that trusts Node's authorities and those that are given, and shows the certificate
 * of the client; `undefined` if neither is given.
 *
 * @throws InvalidInputError as `checkAuthorities` and `checkClientCertificate` do
 */
export function secureContextWith({
  extraCa,
  cert,
  key,
}: Pick<UserInfoClientOptions, 'extraCa' | 'cert' | 'key'>): SecureContext | undefined {
  if (extraCa === undefined && cert === undefined && key === undefined) return undefined;
  // Loading it takes 5 ms: only clients with further authorities do.
  const tls: Tls = process.getBuiltinModule('node:tls');
  // Setting any authority replaces Node's own, so those are added; only Node 22.15 and later has
  // all of them.
  const trusted = tls.getCACertificates?.('default') ?? tls.rootCertificates;
  const context: SecureContextOptions = {};
  if (extraCa !== undefined) context.ca = [...trusted, ...checkAuthorities(extraCa, 'extraCa')];
  if (cert !== undefined || key !== undefined)
    Object.assign(context, checkClientCertificate(cert, key));
  return tls.createSecureContext(context);
}

/**
 * Checks that a certificate and a private key, both PEM text, belong together; `labels` name them
 * in errors.
 *
 * @throws InvalidInputError if one is missing or cannot be read, or the key is of another
 * certificate
 */
export function checkClientCertificate(
  cert: string | undefined,
  key: string | Secret | undefined,
  labels = { cert: 'cert', key: 'key' },
): { readonly cert: string; readonly key: string } {
  if (cert === undefined) throw missingHalf(labels.cert);
  if (key === undefined) throw missingHalf(labels.key);
  const [first] = checkAuthorities(cert, labels.cert);
  const keyText = key instanceof Secret ? key.reveal() : key;
  let isOfKey: boolean;
  try {
    isOfKey = new X509Certificate(first ?? '').checkPrivateKey(createPrivateKey(keyText));
  } catch {
    throw new InvalidInputError(`${labels.key} holds no private key that can be read`, {
      hint: 'Pass PEM text (-----BEGIN PRIVATE KEY-----) without a passphrase.',
    });
  }
  if (!isOfKey) throw new InvalidInputError(`${labels.key} is not the key of the certificate`);
  return { cert, key: keyText };
}

function missingHalf(label: string): InvalidInputError {
  return new InvalidInputError(`${label} is missing: a client certificate needs both`);
}

/**
 * Extracts the certificates of a PEM text.
 *
 * @throws InvalidInputError that begins with `label`, if there is none or one is invalid
 */
export function checkAuthorities(pem: string, label: string): string[] {
  const certificates = pem.match(certificate) ?? [];
  const hint = 'Pass PEM text (-----BEGIN CERTIFICATE-----).';
  if (certificates.length === 0)
    throw new InvalidInputError(`${label} holds no certificate`, { hint });
  if (!certificates.every(isCertificate))
    throw new InvalidInputError(`${label} holds a certificate that cannot be read`, { hint });
  return certificates;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
