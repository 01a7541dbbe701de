import { createSchema } from './postgres/test-schema.js';

/** An empty database, of the kind that the test project is for. */
export async function freshDatabase(): Promise<string> {
  return process.env.USERINFO_TEST_STORE === 'postgres' ? (await createSchema()).url : ':memory:';
}
