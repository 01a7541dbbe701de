import { defineConfig } from 'vitest/config';

// Printed after a failure, to repeat the run.
process.env.USERINFO_TEST_SEED ??= String(Math.floor(Math.random() * 2 ** 31));

export default defineConfig({
  test: {
    // The closing lines of the test runner are the last.
    reporters: ['./test/support/closing-report.ts', 'default'],
    globalSetup: 'test/support/postgres/global-setup.ts',
    setupFiles: 'test/support/property-seed.ts',
    // A machine that is busy is not a fault of what is tested.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Most tests wait for programs that they started.
    maxWorkers: 4,
    // Files share the modules of a worker: loading them for each file is 15 % of the suite.
    isolate: false,
    // What a test makes is garbage at its end: with a larger young generation, less of it is copied before.
    execArgv: ['--max-semi-space-size=32'],
    expect: { poll: { timeout: 45_000 } },
    coverage: {
      include: ['src/{client,core,service}/**'],
      reporter: ['text-summary', 'text'],
      reportOnFailure: true,
    },
    // `test/support/store-contract.ts` runs on both databases; what uses a store, on PostgreSQL in test/world.
    projects: [
      {
        extends: true,
        test: {
          name: 'sqlite',
          include: ['test/**/*.test.ts', 'examples/*.test.ts'],
          exclude: ['test/package/**', 'test/docs/**', 'test/world/**'],
        },
      },
    ],
  },
});
