import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer, type TlsOptions } from 'node:tls';
import type { TestServer } from './raw-server.js';

export const certificates = join(import.meta.dirname, 'certificates');

/**
 * The file of the authority that signed the certificates but the self-signed one; no machine trusts
 * it.
 */
export const caFile = join(certificates, 'ca.crt');
export const ca = readFileSync(caFile, 'utf8');
/** The file of the certificate that is its own authority. */
export const selfSigned = join(certificates, 'self-signed.crt');

export type CertificateName = 'good' | 'api.example.com' | 'expired' | 'other-host' | 'self-signed';

/** Speaks TLS with one of our certificates, and passes on to `service` what is inside. */
export async function tlsServer(
  certificate: CertificateName,
  service: string,
  more: TlsOptions = {},
): Promise<TestServer> {
  const { port, hostname } = new URL(service);
  const [cert, key] = [`${certificate}.crt`, 'server.key'].map((name) =>
    readFileSync(join(certificates, name)),
  );
  const options = { key, cert, ...more };
  const server = createServer(options, (client) => {
    const inner = connect(Number(port), hostname);
    client.on('error', () => inner.destroy()).pipe(inner);
    inner.on('error', () => client.destroy()).pipe(client);
  });
  server.on('tlsClientError', () => {});
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
