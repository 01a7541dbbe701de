import { existsSync, readdirSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

// Printed after a failure, to repeat the run.
process.env.USERINFO_TEST_SEED ??= String(Math.floor(Math.random() * 2 ** 31));

/** The programs of the distribution's newest PostgreSQL. */
const folder = '/usr/lib/postgresql';
const [newest] = existsSync(folder)
  ? readdirSync(folder).sort((a, b) => Number(b) - Number(a))
  : [];
const programs = newest === undefined ? '' : `${folder}/${newest}/bin`;
process.env.USERINFO_TEST_POSTGRES_BIN = programs;

// The other parts are met by the tests of docs, package and suite, once scripts/world.mjs has
// installed them.
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
    // The suite runs on SQLite and npm's PostgreSQL. Here the contract runs on PostgreSQL, and so
    // does what differs by its version: on the distribution's, which is older.
    env: { USERINFO_TEST_STORE: 'postgres' },
    include: [
      'test/world/*.test.ts',
      'test/service/database/{migrations,postgres-*}.test.ts',
      'test/service/administration/{audit,erasure,post-codes}.test.ts',
      'test/service/http/{order-of-checks,passback,read}.test.ts',
    ],
  },
});
