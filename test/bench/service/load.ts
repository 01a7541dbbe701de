import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
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
 * Sends requests over keep-alive connections, spread evenly over the URLs, each connection waiting for its answer.
 * Gives how many a second were answered. Throws where an answer is not 200.
 */
export async function load(urls: readonly string[], requests: readonly SignedRequest[]): Promise<number> {
  const pools = urls.map((url) => new Pool(url, { connections: connections / urls.length, pipelining: 1 }));
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

/** Reads its input as JSON, and prints how long each request took, in milliseconds. */
const pacedClient = `
  import { json } from 'node:stream/consumers';
  import { setTimeout as wait } from 'node:timers/promises';
  import { Pool } from 'undici';
  const { url, requests, perSecond } = await json(process.stdin);
  const pool = new Pool(url, { connections: 128, pipelining: 1 });
  const send = async ({ method, path, body }) => {
    const sentAt = performance.now();
    const headers = body === null ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await pool.request({ method, path, body, headers });
    await answer.body.dump();
    if (answer.statusCode !== 200) throw new Error('answered ' + answer.statusCode);
    return performance.now() - sentAt;
  };
  const startedAt = performance.now();
  const sent = [];
  while (sent.length < requests.length) {
    const due = Math.min(requests.length, ((performance.now() - startedAt) / 1000) * perSecond);
    while (sent.length < due) sent.push(send(requests[sent.length]));
    await wait(1);
  }
  console.log(JSON.stringify(await Promise.all(sent)));
  await pool.close();
`;

/**
 * Sends requests at a steady rate, whatever the answers, and returns how long each took, in milliseconds. The client
 * is a process of its own: garbage collections of the test runner would count as latency.
 */
export async function pacedLoad(
  url: string,
  requests: readonly SignedRequest[],
  perSecond: number,
): Promise<number[]> {
  const client = spawn(process.execPath, ['--input-type=module', '-e', pacedClient], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  client.stdin.end(JSON.stringify({ url, requests, perSecond }));
  return JSON.parse(await text(client.stdout));
}
