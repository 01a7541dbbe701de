// HEADER
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as signature from './signature.mjs';

function check(title, signed, expected) {
  test(title, () => assert.equal(signed, expected));
}

// REQUESTS
function checkRequest(title, request, method, url, body) {
  test(title, () => assert.deepEqual(request, { method, url, body }));
}

// END REQUESTS
// CASES
checkRequest('request', { method: 'GET', url: '/', body: null }, 'GET', '/', null);
check(
  'plain',
  signature.sign({ method: 'GET', url: '/', params: [['a', '1']], body: null }, 'key'),
  '2b96185094ec3caf0ef9e7f88a69f428a4f9d82b612e9c260eeb039ad9d54055',
);
// END
