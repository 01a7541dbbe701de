import { createServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TestServer } from './raw-server.js';

/** What a proxy was asked for: `CONNECT host:port`, or a method and a whole URL. */
export interface HttpProxy extends TestServer {
  readonly asked: string[];
}

export interface ProxyBehaviour {
  /** `user:password` that it wants to be told. */
  readonly credentials?: string;
  /** The HTTP status it answers with in place of letting anything through. */
  readonly refuses?: number;
}

/**
 * A forward proxy as companies have them, to which every host name is that of the server at
 * `target`.
 */
export async function httpProxy(
  target: string,
  { credentials, refuses = 0 }: ProxyBehaviour = {},
): Promise<HttpProxy> {
  const { hostname, port } = new URL(target);
  const asked: string[] = [];
  const expected = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`;
  const admit = ({ method, url = '', headers }: IncomingMessage): number => {
    asked.push(`${method} ${url.split('?')[0]}`);
    if (expected !== undefined && headers['proxy-authorization'] !== expected) return 407;
    return refuses;
  };
  const server = createServer((incoming, outgoing) => {
    const refusal = admit(incoming);
    if (refusal > 0) {
      outgoing.writeHead(refusal).end();
      return;
    }
    const { method = 'GET', url = '', headers } = incoming;
    const { pathname, search } = new URL(url);
    incoming.pipe(
      request({ hostname, port, method, headers, path: pathname + search }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      }),
    );
  });
  const tunnels = new Set<Duplex>();
  server.on('connect', (incoming: IncomingMessage, client) => {
    tunnels.add(client.once('close', () => tunnels.delete(client)));
    const refusal = admit(incoming);
    if (refusal > 0) {
      client.end(`HTTP/1.1 ${refusal} Refused\r\n\r\n`);
      return;
    }
    const upstream = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on('error', () => client.destroy());
    client.on('error', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async close() {
      server.closeAllConnections();
      for (const tunnel of tunnels) tunnel.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
