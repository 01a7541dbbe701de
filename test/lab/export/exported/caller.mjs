import { signedRequest } from './signature.mjs';

const query = { tenant_code: 'acme', app_key: 'app-1' };
const given = { operation: 'passback', baseUrl: 'https://h/p', query, fields: { f: 'c 1/2' } };
const { method, url, body } = signedRequest(given, 's');
process.stdout.write(`SENT ${method} ${url} ${body}\n`);
