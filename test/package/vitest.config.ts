import { defineConfig } from 'vitest/config';

// Printed after a failure, to repeat the run.
process.env.USERINFO_TEST_SEED ??= String(Math.floor(Math.random() * 2 ** 31));

/**
 * Package managers, runtimes and frameworks: `.ci/run` leaves them out where nothing that they
 * depend on has changed.
 */
const matrices = ['frameworks', 'package-managers', 'projects', 'undici'];
const isWithout = process.env.USERINFO_TEST_MATRICES === '0';

// Apart from the other tests: installing the tarball takes a package registry.
export default defineConfig({
  test: {
    reporters: ['./test/support/closing-report.ts', 'default'],
    globalSetup: 'test/package/tarball.ts',
    include: ['test/package/*.test.ts'],
    exclude: isWithout ? matrices.map((name) => `test/package/${name}.test.ts`) : [],
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
});
