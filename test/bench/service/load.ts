import { Pool } from 'undici';
import { type Draft, signDraft } from '../../support/foreign-client.js';

/** A request that was signed beforehand. */
export interface SignedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string | null;
}

export function sign(draft: Draft): SignedRequest {
  const { target, body } = signDraft(draft);
  return { method: draft.method, path: target, body };
}

const connections = 32;

/** Throws if the answer is not 200. */
async function sendOne(pool: Pool, request: SignedRequest): Promise<void> {
  const { statusCode, body } = await pool.request({
    method: request.method as 'GET',
    path: request.path,
    body: request.body,
    headers: request.body === null ? {} : { 'content-type': 'application/x-www-form-urlencoded' },
  });
  const answer = await body.text();
  if (statusCode !== 200) throw new Error(`answered ${statusCode}: ${answer}`);
}

/**
 * Sends requests over keep-alive connections, spread evenly over the URLs, each connection waiting
 * for its answer. Gives how many a second were answered. Throws where an answer is not 200.
 */
export async function load(
  urls: readonly string[],
  requests: readonly SignedRequest[],
): Promise<number> {
  const pools = urls.map(
    (url) => new Pool(url, { connections: connections / urls.length, pipelining: 1 }),
  );
  let next = 0;
  const sendOnAndOn = async (pool: Pool) => {
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
      await sendOne(pool, request);
    }
  };
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: connections }, (_, i) => sendOnAndOn(pools[i % pools.length] as Pool)),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  await Promise.all(pools.map((pool) => pool.close()));
  return requests.length / seconds;
}
