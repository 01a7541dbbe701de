import { X509Certificate } from 'node:crypto';
import { getBuiltinModule } from 'node:process';
import type { SecureContext } from 'node:tls';
import { InvalidInputError } from '../protocol/errors.js';

type Tls = typeof import('node:tls') & { getCACertificates?: (type: 'default') => string[] };

const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * What a connection trusts: the authorities that Node trusts, and those of `pem`, one certificate or several. Throws
 * as `checkAuthorities` does.
 */
export function trustAlso(pem: string): SecureContext {
  // Loading it takes 5 ms, which a client without further authorities, or of plain http, does without.
  const tls: Tls = getBuiltinModule('node:tls');
  // Naming any authority replaces Node's own, so those are named too; Node 22.15 can tell all of them.
  const trusted = tls.getCACertificates?.('default') ?? tls.rootCertificates;
  return tls.createSecureContext({ ca: [...trusted, ...checkAuthorities(pem, 'extraCa')] });
}

/** The certificates in a PEM text. Throws an InvalidInputError that begins with `label` for none, or a broken one. */
export function checkAuthorities(pem: string, label: string): string[] {
  const found = pem.match(certificate) ?? [];
  if (found.length > 0 && found.every(isCertificate)) return found;
  const fault = found.length === 0 ? 'holds no certificate' : 'holds a certificate that cannot be read';
  throw new InvalidInputError(`${label} ${fault}`, {
    hint: 'It should be PEM text: -----BEGIN CERTIFICATE----- and so on, of the authority that signed the service.',
  });
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
