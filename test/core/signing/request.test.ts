import { expect, test } from 'vitest';
import { hostOf, pathOf } from '../../../src/core/signing/request.js';

test.each([
  ['https://api.example.com:8443/a/b', 'api.example.com:8443', '/a/b'],
  ['HTTP://h/%2f/..', 'h', '/%2f/..'],
  ['https://h', 'h', '/'],
  ['/only/a/path', '', '/only/a/path'],
  ['param2/1', '', 'param2/1'],
])('%s has the host %s and the path %s', (url, host, path) => {
  expect(hostOf(url)).toBe(host);
  expect(pathOf(url)).toBe(path);
});
