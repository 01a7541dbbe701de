// HEADER
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as signature from './signature.mjs';

function check(title, signed, expected) {
  test(title, () => assert.equal(signed, expected));
}

// CASES
check(
  'plain',
  signature.sign(
    { method: 'GET', url: '/', params: [['a', '1']], body: null, extra: { 'x-nonce': '' } },
    'key',
  ),
  '9b0a5be1f9cd3cd7ee05b3c6b0c8a70d',
);
// END
