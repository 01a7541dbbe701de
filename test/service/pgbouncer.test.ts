import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createService } from '../../src/service/index.js';
import { Machine } from '../support/cli.js';
import { draftPassback, draftRead, send } from '../support/foreign-client.js';
import { PgBouncer } from '../support/postgres/pgbouncer.js';
import { PostgresServer } from '../support/postgres/postgres-server.js';
import { createAppKeys, tenant, user } from '../support/running-service.js';

describe.skipIf(!PgBouncer.isInstalled)(
  'behind PgBouncer in transaction mode (needs pgbouncer)',
  () => {
    let server: PostgresServer;
    let pooler: PgBouncer;
    /** Does not refuse the start-up parameters of the service. */
    let lenient: PgBouncer;
    let url: string;

    beforeAll(async () => {
      server = await PostgresServer.create();
      pooler = await PgBouncer.before(server.url);
      url = `${pooler.url}?pgbouncer=true`;
      const timeouts = ['statement', 'lock', 'idle_in_transaction_session'];
      const parameters = timeouts.map((name) => `${name}_timeout`);
      lenient = await PgBouncer.before(server.url, parameters);
    }, 60_000);

    afterAll(async () => {
      await pooler.remove();
      await lenient.remove();
      await server.remove();
    });

    it('the built program serves', async () => {
      const serve = spawn(
        process.execPath,
        ['bin/userinfo.cjs', 'serve', '--port', '0', '--log-format', 'json'],
        { env: { ...process.env, DATABASE_URL: url } },
      );
      try {
        const [line] = await once(createInterface({ input: serve.stderr }), 'line');
        expect(await fetch(`${JSON.parse(line).url}/readyz`)).toMatchObject({ status: 200 });
      } finally {
        serve.kill('SIGKILL');
      }
    });

    it('the flag is named where the URL lacks it, whatever PgBouncer lets pass', async () => {
      using machine = new Machine();
      await machine.run(['admin', 'migrate', '--database', url]);
      for (const { url: database } of [pooler, lenient]) {
        // Each finds the statements that the one before prepared.
        const list = ['admin', 'app', 'list', '--database', database];
        const said = async () => (await machine.run(list)).stderr;
        await expect.poll(said).toContain('Add ?pgbouncer=true to the URL.');
      }
      expect(machine.printed).not.toContain('bug in userinfo');
    });

    it('two services answer all requests, which share its sessions', async () => {
      const services = [
        await createService({ database: url }),
        await createService({ database: url }),
      ];
      const [{ admin }] = services as [(typeof services)[0]];
      if (admin === undefined) throw new Error('no service');
      const keys = await createAppKeys({ admin }, tenant);
      const unionIds = Array.from({ length: 40 }, (_, i) => `u${i}`);
      await admin.putUsers(unionIds.map((id) => user(id)));
      const codes = await Promise.all(
        unionIds.map(
          async (unionId) => (await admin.issueCode({ tenantCode: tenant, unionId })).code,
        ),
      );
      const answers = await Promise.all(
        unionIds.flatMap((union_id, i) => {
          const serviceUrl = services[i % 2]?.url ?? '';
          return [
            send(serviceUrl, draftPassback(keys, { union_id, user_info: '{"a":"b"}' })),
            send(serviceUrl, draftRead(keys, codes[i] ?? '')),
          ];
        }),
      );
      expect(answers.map(({ envelope }) => envelope.code)).toEqual(answers.map(() => 200));
      for (const service of services) await service.close();
    });
  },
);
