import { readFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import type { TestServer } from './raw-server.js';

const certificates = join(import.meta.dirname, 'certificates');

/** The file of the authority that signed the certificates but the self-signed one; no machine trusts it. */
export const caFile = join(certificates, 'ca.crt');
export const ca = readFileSync(caFile, 'utf8');

export type CertificateName = 'good' | 'api.example.com' | 'expired' | 'other-host' | 'self-signed';

/** Speaks TLS with one of our certificates, and passes on to `service` what is inside. */
export async function tlsServer(certificate: CertificateName, service: string): Promise<TestServer> {
  const { port, hostname } = new URL(service);
  const options = {
    key: readFileSync(join(certificates, 'server.key')),
    cert: readFileSync(join(certificates, `${certificate}.crt`)),
  };
  const server = createServer(options, (client) => {
    const inner = connect(Number(port), hostname);
    client.on('error', () => inner.destroy()).pipe(inner);
    inner.on('error', () => client.destroy()).pipe(client);
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}
