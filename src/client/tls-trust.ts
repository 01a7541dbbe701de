// Apart from connections.ts: commands check certificates without undici.
import { X509Certificate } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import { InvalidInputError } from '../protocol/errors.js';

type Tls = typeof import('node:tls') & { getCACertificates?: (type: 'default') => string[] };

const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * A TLS context that trusts Node's authorities and those of `pem`, one certificate or several.
 *
 * @throws InvalidInputError as `checkAuthorities` does
 */
export function secureContextWith(pem: string): SecureContext {
  // Loading it takes 5 ms: only clients with further authorities do.
  const tls: Tls = process.getBuiltinModule('node:tls');
  // Setting any authority replaces Node's own, so those are added; only Node 22.15 and later has all of them.
  const trusted = tls.getCACertificates?.('default') ?? tls.rootCertificates;
  return tls.createSecureContext({ ca: [...trusted, ...checkAuthorities(pem, 'extraCa')] });
}

/**
 * Extracts the certificates of a PEM text.
 *
 * @throws InvalidInputError that begins with `label`, if there is none or one is invalid
 */
export function checkAuthorities(pem: string, label: string): string[] {
  const found = pem.match(certificate) ?? [];
  if (found.length > 0 && found.every(isCertificate)) return found;
  const fault = found.length === 0 ? 'holds no certificate' : 'holds a certificate that cannot be read';
  throw new InvalidInputError(`${label} ${fault}`, {
    hint: 'Pass PEM text (-----BEGIN CERTIFICATE-----): the authority that issued the certificate of the service.',
  });
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
