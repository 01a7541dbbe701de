import { once } from 'node:events';
import { expect, it } from 'vitest';
import { openAdmin } from '../../../src/service/index.js';
import { type AppKeys, draftPassback, draftRead } from '../../support/foreign-client.js';
import { PostgresServer } from '../../support/postgres/postgres-server.js';
import { execute, query } from '../../support/postgres/test-schema.js';
import { tenant } from '../../support/running-service.js';
import { startServiceProcesses } from '../../support/service-process.js';
import { medianOf } from '../median.js';
import { cpuSeconds, databaseCpuSeconds } from './cpu-time.js';
import { load, pacedLoad, type SignedRequest, sign } from './load.js';

/** The last size, `USERINFO_BENCH_USERS`, takes 9 GB of disk. */
const sizes = [100_000, 1_000_000, 5_000_000].filter(
  (size) => size <= Number(process.env.USERINFO_BENCH_USERS ?? Number.POSITIVE_INFINITY),
);
const hours = 4;

const filledAtOnce = 100_000;
const warmUp = 2000;
const counted = 4000;
const rounds = 5;
/** Of the latencies: far from what the service can do, so that they are not those of a queue. */
const perSecond = 300;
const pacedSeconds = 8;

interface Store {
  readonly url: string;
  readonly app: AppKeys;
  users: number;
  codes: number;
}

/** What is measured of one operation; times in milliseconds. */
interface Measured {
  readonly perSecond: number;
  readonly p99: number;
  readonly serviceCpu: number;
  readonly databaseCpu: number;
}

it.skipIf(process.platform !== 'linux')(
  'measures the service while the database grows (needs Linux)',
  async () => {
    // With what tests switch off: it writes to the disk before it answers.
    const server = await PostgresServer.create(['shared_buffers=1GB', 'max_wal_size=8GB']);
    const [least = 0] = sizes;
    const small = await createStore(server.url, 'small');
    const large = await createStore(server.url, 'large');
    await fill(small, least);
    for (const size of sizes) {
      await fill(large, size);
      print(`${size} users`, await bytesOfUser(large), await measure(small, large));
    }
    expect(large.users).toBe(sizes.at(-1));
    await server.remove();
  },
  hours * 3_600_000,
);

async function createStore(server: string, name: string): Promise<Store> {
  await execute(server, `CREATE DATABASE ${name}`);
  const url = server.replace(/postgres$/, name);
  const admin = await openAdmin({ database: url });
  const { app_secret, ...app } = await admin.createApp({ tenantCode: tenant, channel: 'web' });
  await admin.close();
  return { url, app: { ...app, secret: app_secret.reveal() }, users: 0, codes: 0 };
}

/** A digest as the service makes it. */
const digest = (name: string, value: string) =>
  `rtrim(translate(encode(sha256('${name}'::bytea || '\\x00'::bytea || convert_to(${value}, 'UTF8')), 'base64'), '+/', '-_'), '=')`;

/** Each user can be found by five values, of which two are those of many others. */
const values = {
  mobile: '(13000000000 + n)::text',
  id_card: "'33010119900307' || n",
  chat_nickname: "'张三' || n",
  acme_level: "'gold' || n % 5",
  acme_city: "'city' || n % 1000",
};

async function fill(store: Store, size: number): Promise<void> {
  const fields = (...names: (keyof typeof values)[]) =>
    names.map((name) => `'${name}', ${values[name]}`).join(', ');
  while (store.users < size) {
    const users = `generate_series(${store.users}, ${Math.min(store.users + filledAtOnce, size) - 1}) n`;
    await execute(
      store.url,
      `INSERT INTO users SELECT '${tenant}', 'u' || n, json_build_object('tenant_code', '${tenant}',
         'union_id', 'u' || n, 'basic_info', json_build_object(${fields('mobile', 'id_card', 'chat_nickname')}),
         'extension_info', json_build_object(${fields('acme_level', 'acme_city')}), 'login_device_info', '[]'::json), 1
         FROM ${users};
       ${Object.entries(values)
         .map(
           ([name, value]) =>
             `INSERT INTO user_values (tenant_code, digest, union_id) SELECT '${tenant}', ${digest(name, value)}, 'u' || n FROM ${users}`,
         )
         .join('; ')}`,
    );
    store.users = Math.min(store.users + filledAtOnce, size);
  }
  await execute(store.url, 'VACUUM ANALYZE');
  await execute(store.url, 'CHECKPOINT');
}

async function bytesOfUser({ url, users }: Store): Promise<number> {
  const [row] = await query(
    url,
    "SELECT pg_total_relation_size('users') + pg_total_relation_size('user_values') AS bytes",
  );
  return Number(row?.bytes) / users;
}

type ByOperation<T> = Record<'reads' | 'passbacks', T>;

/** The figures of both stores, measured in turn: the speed of the machine changes within minutes. */
async function measure(baseline: Store, store: Store): Promise<ByOperation<Measured[]>> {
  return {
    reads: await measureBoth([baseline, store], reads),
    passbacks: await measureBoth([baseline, store], passbacks),
  };
}

async function measureBoth(
  stores: readonly Store[],
  requests: (store: Store, count: number) => Promise<SignedRequest[]>,
): Promise<Measured[]> {
  const measured = await Promise.all(
    stores.map(async (store) => {
      const [service] = await startServiceProcesses(store.url, 1);
      if (service === undefined) throw new Error('the service did not start');
      return { store, service, rates: [] as number[], p99s: [] as number[], serviceCpu: 0, databaseCpu: 0 };
    }),
  );
  for (const { store, service } of measured) await load([service.url], await requests(store, warmUp));
  for (let round = 0; round < rounds; round++) {
    for (const one of measured) {
      const prepared = await requests(one.store, counted);
      const ownBefore = cpuSeconds(one.service.child.pid ?? 0);
      const databaseBefore = await databaseCpuSeconds(one.store.url);
      one.rates.push(await load([one.service.url], prepared));
      one.serviceCpu += cpuSeconds(one.service.child.pid ?? 0) - ownBefore;
      one.databaseCpu += (await databaseCpuSeconds(one.store.url)) - databaseBefore;
    }
  }
  for (let round = 0; round < rounds; round++) {
    for (const { store, service, p99s } of measured) {
      const latencies = await pacedLoad(
        service.url,
        await requests(store, perSecond * pacedSeconds),
        perSecond,
      );
      p99s.push(latencies.toSorted((a, b) => a - b)[Math.floor(0.99 * latencies.length)] ?? Number.NaN);
    }
  }
  for (const { service } of measured) {
    service.child.kill();
    await once(service.child, 'exit');
  }
  const each = (seconds: number) => (1000 * seconds) / (rounds * counted);
  return measured.map(({ rates, p99s, serviceCpu, databaseCpu }) => ({
    perSecond: medianOf(rates),
    p99: medianOf(p99s),
    serviceCpu: each(serviceCpu),
    databaseCpu: each(databaseCpu),
  }));
}

const anyUser = ({ users }: Store) => Math.floor(Math.random() * users);

/** With codes of users anywhere in the table. */
async function reads(store: Store, count: number): Promise<SignedRequest[]> {
  const from = store.codes;
  store.codes += count;
  await execute(
    store.url,
    `INSERT INTO codes SELECT '${tenant}', md5(n::text), 'u' || floor(random() * ${store.users}), NULL, 9999999999, 1
     FROM generate_series(${from}, ${store.codes - 1}) n`,
  );
  const codes = await query(
    store.url,
    `SELECT md5(n::text) AS code FROM generate_series(${from}, ${store.codes - 1}) n`,
  );
  return codes.map(({ code }) => sign(draftRead(store.app, String(code))));
}

/** For users anywhere in the table; half of them name the user by a value. */
async function passbacks(store: Store, count: number): Promise<SignedRequest[]> {
  return Array.from({ length: count }, (_, index) => {
    const user = anyUser(store);
    const level = `"acme_level":"level${index}"`;
    const form =
      index % 2 === 0
        ? { union_id: `u${user}`, user_info: `{${level}}` }
        : { primary_key: 'mobile', user_info: `{"mobile":"${13_000_000_000 + user}",${level}}` };
    return sign(draftPassback(store.app, form));
  });
}

/** Ratios are those to the small store, measured in turn with the other. */
function print(title: string, bytes: number, measured: ByOperation<Measured[]>): void {
  process.stdout.write(`\n${title}: ${bytes.toFixed(0)} bytes a user\n`);
  for (const [name, [baseline, found]] of Object.entries(measured)) {
    const shown = (key: keyof Measured, digits: number) => {
      const [before = Number.NaN, now = Number.NaN] = [baseline?.[key], found?.[key]];
      return `${now.toFixed(digits)} (${(now / before).toFixed(2)})`;
    };
    process.stdout.write(
      `  ${name.padEnd(10)}${shown('perSecond', 0)}/s, p99 ${shown('p99', 1)} ms at ${perSecond}/s, ` +
        `CPU ${shown('serviceCpu', 3)} ms service, ${shown('databaseCpu', 3)} ms database\n`,
    );
  }
}
