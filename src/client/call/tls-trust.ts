// Commands check certificates without undici.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { SecureContext } from 'node:tls';
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
  const ca =
    extraCa === undefined ? {} : { ca: [...trusted, ...checkAuthorities(extraCa, 'extraCa')] };
  if (cert === undefined && key === undefined) return tls.createSecureContext(ca);
  return tls.createSecureContext({ ...ca, ...checkClientCertificate(cert, key) });
}

/**
 * Checks that a certificate and a private key belong together; `labels` name them in errors.
 *
 * @throws InvalidInputError if one is missing or cannot be read, or the key is of another
 * certificate
 */
export function checkClientCertificate(
  cert: string | undefined,
  key: string | Secret | undefined,
  labels: readonly [cert: string, key: string] = ['cert', 'key'],
): { readonly cert: string; readonly key: string } {
  const [certLabel, keyLabel] = labels;
  if (cert === undefined || key === undefined) {
    throw new InvalidInputError(
      `${cert === undefined ? certLabel : keyLabel} is missing: a client certificate needs both`,
    );
  }
  const [first] = checkAuthorities(cert, certLabel);
  const text = key instanceof Secret ? key.reveal() : key;
  let isOfKey: boolean;
  try {
    isOfKey = new X509Certificate(first ?? '').checkPrivateKey(createPrivateKey(text));
  } catch {
    throw new InvalidInputError(`${keyLabel} holds no private key that can be read`, {
      hint: 'Pass PEM text (-----BEGIN PRIVATE KEY-----) without a passphrase.',
    });
  }
  if (!isOfKey) throw new InvalidInputError(`${keyLabel} is not the key of the certificate`);
  return { cert, key: text };
}

/**
 * Extracts the certificates of a PEM text.
 *
 * @throws InvalidInputError that begins with `label`, if there is none or one is invalid
 */
export function checkAuthorities(pem: string, label: string): string[] {
  const found = pem.match(certificate) ?? [];
  if (found.length > 0 && found.every(isCertificate)) return found;
  const fault =
    found.length === 0 ? 'holds no certificate' : 'holds a certificate that cannot be read';
  throw new InvalidInputError(`${label} ${fault}`, {
    hint: 'Pass PEM text (-----BEGIN CERTIFICATE-----).',
  });
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
