import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PostgresServer } from './postgres-server.js';

/**
 * One PostgreSQL for all test files, made when the first of them asks for it: the answer to a
 * request is its URL. Test projects share it.
 */
export default async function setUp(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.USERINFO_TEST_POSTGRES !== undefined) return undefined;
  let server: Promise<PostgresServer> | undefined;
  const urlServer = createServer((_, answer) => {
    server ??= PostgresServer.create();
    server.then(
      ({ url }) => answer.end(url),
      (error: Error) => answer.writeHead(500).end(error.message),
    );
  }).listen(0, '127.0.0.1');
  await once(urlServer, 'listening');
  process.env.USERINFO_TEST_POSTGRES = `http://127.0.0.1:${(urlServer.address() as AddressInfo).port}`;
  return async () => {
    urlServer.close();
    await (await server?.catch(() => undefined))?.remove();
  };
}
