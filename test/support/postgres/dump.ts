import { query } from './test-schema.js';

/** All that the tables of a test schema hold, as text. */
export async function dump(url: string): Promise<string> {
  const tables = await query(
    url,
    "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = current_schema()",
  );
  let text = '';
  for (const { name } of tables) {
    const rows = await query(url, `SELECT CAST(one AS TEXT) AS row FROM ${name} one`);
    text += rows.map(({ row }) => `${row}\n`).join('');
  }
  return text;
}
