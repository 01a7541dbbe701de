import { defineConfig } from 'vitest/config';

// Apart from the other tests: installing the tarball takes a package registry.
export default defineConfig({
  test: {
    reporters: ['./test/support/closing-report.ts', 'default'],
    include: ['test/package/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 240_000,
  },
});
