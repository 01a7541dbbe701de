import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { endpointNamed } from '../core/contract/endpoints.js';
import type { Log, LogEvent } from './log.js';
import type { Store } from './store/store.js';

/** Upper bounds of the latency histogram, in seconds. */
const buckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

const register = new Registry();
const requests = new Counter({
  name: 'userinfo_requests_total',
  help:
    'Answered requests, by operation, meaning of the result code (ok, wrongSign …),' +
    ' and the code that was sent.',
  labelNames: ['operation', 'means', 'code'],
  registers: [register],
});
const durations = new Histogram({
  name: 'userinfo_request_duration_seconds',
  help: 'Time from the headers of a request to the end of its answer.',
  labelNames: ['operation'],
  buckets,
  registers: [register],
});
const problems = new Counter({
  name: 'userinfo_problems_total',
  help:
    'Exceeded limits (overload), failures of the database (store_unavailable),' +
    ' secrets of apps that cannot be read (unreadable_secret),' +
    ' clocks that differ too much (clock) and internal errors (fault).',
  labelNames: ['event'],
  registers: [register],
});
// From 0 on: Prometheus sees no increase in a series that begins with 1.
for (const event of ['overload', 'store_unavailable', 'unreadable_secret', 'clock', 'fault'])
  problems.inc({ event }, 0);
const build = new Gauge({
  name: 'userinfo_build_info',
  help: 'Versions of userinfo-exchange and of Node.js.',
  labelNames: ['version', 'node'],
  registers: [register],
});
const stores = new Set<Store>();
new Gauge({
  name: 'userinfo_purge_backlog_seconds',
  help:
    'For how long the oldest expired row of a table had waited at the last purge,' +
    ' which comes once a minute.',
  labelNames: ['table'],
  registers: [register],
  collect() {
    this.reset();
    const backlogs = [...stores].flatMap(({ purgeBacklog }) => [...purgeBacklog]);
    // The longest of each table is set last.
    for (const [table, seconds] of backlogs.sort(([, a], [, b]) => a - b))
      this.set({ table }, seconds);
  },
});
new Gauge({
  name: 'userinfo_database_connections',
  help: 'Connections to PostgreSQL, and units of work that wait for one.',
  labelNames: ['state'],
  registers: [register],
  collect() {
    this.reset();
    for (const usage of [...stores].flatMap((store) => store.connections() ?? [])) {
      for (const [state, count] of Object.entries(usage)) this.inc({ state }, count);
    }
  },
});
new Gauge({
  name: 'userinfo_clock_difference_seconds',
  help: 'How far the clock of this machine is ahead of that of PostgreSQL, at the last probe.',
  registers: [register],
  collect() {
    const differences = [...stores].map((store) => store.clockDifference());
    this.set(differences.sort((a, b) => Math.abs(b) - Math.abs(a))[0] ?? 0);
  },
});
collectDefaultMetrics({ register });
// Gauges with the name of a counter, which promtool refuses; their parts are there, too.
for (const name of ['handles', 'requests', 'resources']) {
  register.removeSingleMetric(`nodejs_active_${name}_total`);
}

/** Counts the events of a log, and passes them on. `version` is that of the program. */
export function countEvents(log: Log, version: string): Log {
  build.set({ version, node: process.version }, 1);
  return (event) => {
    count(event);
    log(event);
  };
}

function count(event: LogEvent): void {
  if (event.event === 'request') {
    const { operation, means, code, ms } = event;
    const label = Object.hasOwn(endpointNamed, operation) ? operation : 'other';
    requests.inc({ operation: label, means, code });
    durations.observe({ operation: label }, ms / 1000);
  } else if ('problem' in event) problems.inc({ event: event.event });
}

/** The metrics of this process, in the format of Prometheus. */
export const ownMetrics = (): Promise<string> => register.metrics();

/** Shows connections, clock and purge of a store until the returned function is called. */
export function observeStore(store: Store): () => void {
  stores.add(store);
  return () => stores.delete(store);
}
