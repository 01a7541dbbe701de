import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: 'test/support/postgres/global-setup.ts',
    testTimeout: 20_000,
    hookTimeout: 20_000,
    projects: [
      {
        extends: true,
        test: { name: 'sqlite', include: ['test/**/*.test.ts'], exclude: ['test/package/**'] },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: [
            'test/service/admin/*.test.ts',
            'test/service/http/{order-of-checks,passback,read}.test.ts',
          ],
          env: { USERINFO_TEST_STORE: 'postgres' },
        },
      },
    ],
  },
});
