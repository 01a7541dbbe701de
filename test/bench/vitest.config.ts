import { defineConfig } from 'vitest/config';

// One after the other: each is to have the machine to itself.
export default defineConfig({
  test: {
    include: ['test/bench/**/*.bench.ts'],
    fileParallelism: false,
    disableConsoleIntercept: true,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
