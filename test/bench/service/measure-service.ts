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

/** How long one service, warmed up, takes to answer each request at a steady rate, in milliseconds. */
export async function measureLatencies(
  database: string,
  warmUp: readonly SignedRequest[],
  requests: readonly SignedRequest[],
  perSecond: number,
): Promise<number[]> {
  const [service] = await startServiceProcesses(database, 1);
  const url = service?.url ?? '';
  await load([url], warmUp);
  const latencies = await pacedLoad(url, requests, perSecond);
  service?.child.kill();
  return latencies;
}
