import { startServiceProcesses } from '../../support/service-process.js';
import { load, type SignedRequest } from './load.js';

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
