import { existsSync, readdirSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

// Printed after a failure, to repeat the run.
process.env.USERINFO_TEST_SEED ??= String(Math.floor(Math.random() * 2 ** 31));

/** The programs of the distribution's newest PostgreSQL. */
const folder = '/usr/lib/postgresql';
const [newest] = existsSync(folder) ? readdirSync(folder).sort((a, b) => Number(b) - Number(a)) : [];
const programs = newest === undefined ? '' : `${folder}/${newest}/bin`;
process.env.USERINFO_TEST_POSTGRES_BIN = programs;

const onDistribution = { name: `PostgreSQL ${newest}`, env: { USERINFO_TEST_STORE: 'postgres' } };

// The other parts are met by the tests of docs, package and suite, once scripts/world.mjs has installed them.
export default defineConfig({
  test: {
    reporters: ['./test/support/closing-report.ts', 'default'],
    globalSetup: 'test/support/postgres/global-setup.ts',
    setupFiles: 'test/support/property-seed.ts',
    disableConsoleIntercept: true,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 4,
    isolate: false,
    expect: { poll: { timeout: 45_000 } },
    projects: [
      {
        extends: true,
        test: { name: 'world', include: ['test/world/alerts.test.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'PostgreSQL of npm',
          include: ['test/world/faults.test.ts'],
          env: { USERINFO_TEST_POSTGRES_BIN: '' },
        },
      },
      // Without one, what differs by the database has run on npm's already.
      ...(programs === ''
        ? []
        : [
            {
              extends: true as const,
              test: {
                ...onDistribution,
                include: [
                  'test/world/faults.test.ts',
                  'test/cli/migrate.test.ts',
                  'test/database/{migrations,postgres-*}.test.ts',
                  'test/service/{clocks,ended-backend,locked-rows,lost-database,pgbouncer,several-processes}.test.ts',
                  'test/service/admin/{audit,erasure,post-codes}.test.ts',
                  'test/service/http/{order-of-checks,passback,read}.test.ts',
                ],
              },
            },
          ]),
    ],
  },
});
