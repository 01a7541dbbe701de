import { Pool } from 'undici';
import { httpServer, type TestServer } from '../../../support/raw-server.js';

/** Stands before a service, passes everything on, and knows what was asked. */
export interface CountingProxy extends TestServer {
  /**
   * The union IDs or codes of the requests since the last call, in the order in which they came.
   */
  takeAsked(): string[];
}

/** Every request is passed on before anything else happens, and its answer as it came. */
export async function countingProxy(serviceUrl: () => string): Promise<CountingProxy> {
  let asked: string[] = [];
  let pool: { url: string; pool: Pool } | undefined;
  const poolFor = (url: string) => {
    if (pool?.url !== url) pool = { url, pool: new Pool(url) };
    return pool.pool;
  };
  const server = await httpServer(async ({ method, path, query, headers, body }, response) => {
    const code = new URLSearchParams(query).get('code');
    asked.push(code ?? new URLSearchParams(body).get('union_id') ?? '');
    try {
      const answer = await poolFor(serviceUrl()).request({
        method: method as 'GET' | 'PUT',
        path: `${path}?${query}`,
        headers:
          headers['content-type'] === undefined ? {} : { 'content-type': headers['content-type'] },
        body: body === '' ? null : body,
      });
      response.writeHead(answer.statusCode).end(await answer.body.text());
    } catch {
      response.destroy();
    }
  });
  return {
    url: server.url,
    takeAsked() {
      const taken = asked;
      asked = [];
      server.requests.length = 0;
      return taken;
    },
    async close() {
      await server.close();
      await pool?.pool.destroy();
    },
  };
}
