import { startServiceProcesses } from '../../support/service-process.js';
import { load, pacedLoad, type SignedRequest } from './load.js';

/** Requests a second that services on one database answer together, each a process. */
export async function measureServices(
  database: string,
  count: number,
  ...[warmUp, requests]: readonly [warmUp: readonly SignedRequest[], requests: readonly SignedRequest[]]
): Promise<number> {
  const services = await startServiceProcesses(database, count);
  const urls = services.map(({ url }) => url);
  await load(urls, warmUp);
  const perSecond = await load(urls, requests);
  for (const { child } of services) child.kill();
  return perSecond;
}

/** How long one service takes to answer requests at a steady rate, in milliseconds; the first tenth warms it up. */
export async function measureLatencies(
  database: string,
  requests: readonly SignedRequest[],
  perSecond: number,
): Promise<{ readonly p50: number; readonly p99: number }> {
  const [service] = await startServiceProcesses(database, 1);
  const all = await pacedLoad(service?.url ?? '', requests, perSecond);
  service?.child.kill();
  const sorted = all.slice(requests.length / 10).sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * sorted.length)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}
