import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

/** An empty schema in the PostgreSQL of the test run, as the URL of a database of its own. */
export interface TestSchema {
  readonly url: string;
  remove(): Promise<void>;
}

export async function createSchema(): Promise<TestSchema> {
  const server = await serverUrl();
  const name = `test_${randomBytes(8).toString('hex')}`;
  await execute(server, `CREATE SCHEMA ${name}`);
  return {
    url: `${server}?options=${encodeURIComponent(`-c search_path=${name}`)}`,
    remove: () => execute(server, `DROP SCHEMA ${name} CASCADE`),
  };
}

/** Runs statements beside what is tested. */
export async function execute(url: string, statements: string): Promise<void> {
  await query(url, statements);
}

/** The rows of a statement that is run beside what is tested. */
export async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new Client(url);
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

async function serverUrl(): Promise<string> {
  const answer = await fetch(process.env.USERINFO_TEST_POSTGRES ?? '');
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}
