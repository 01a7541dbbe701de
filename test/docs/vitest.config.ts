import { defineConfig } from 'vitest/config';

// Printed after a failure, to repeat the run.
process.env.USERINFO_TEST_SEED ??= String(Math.floor(Math.random() * 2 ** 31));

// Apart from the other tests: the transcripts are run in a terminal, page by page, as a reader
// would.
export default defineConfig({
  test: {
    reporters: ['./test/support/closing-report.ts', 'default'],
    globalSetup: 'test/support/postgres/global-setup.ts',
    include: ['test/docs/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
