import { signedQuery } from './signature.mjs';

const query = { tenant_code: 'acme', app_key: 'app-1', code: 'c 1/2' };
for (const pair of signedQuery(
  { method: 'PUT', url: 'https://h/p', query, fields: { f: 1 } },
  's',
)) {
  process.stdout.write(`${pair.join('=')}\n`);
}
