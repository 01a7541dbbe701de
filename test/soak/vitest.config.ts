import { defineConfig } from 'vitest/config';

// As long as told: `SOAK_MINUTES=60 npm run soak`.
export default defineConfig({
  test: {
    include: ['test/soak/*.soak.ts'],
    disableConsoleIntercept: true,
    fileParallelism: false,
    testTimeout: 24 * 3_600_000,
  },
});
