import { describe, expect, it } from 'vitest';
import {
  parseBaseUrl,
  refusePlainHttp,
  sameDeployment,
} from '../../../src/core/contract/base-url.js';
import { InvalidInputError } from '../../../src/core/contract/errors.js';

describe('parseBaseUrl', () => {
  it.each([
    ['https://api.example.com', 'https://api.example.com'],
    ['https://api.example.com/', 'https://api.example.com'],
    ['HTTPS://API.Example.com:443/open//', 'https://api.example.com/open'],
    [' http://127.0.0.1:8787\n', 'http://127.0.0.1:8787'],
    ['http://[::1]:8787/v2/', 'http://[::1]:8787/v2'],
  ])('takes %j as %s', (text, normalized) => {
    expect(parseBaseUrl(text)).toBe(normalized);
  });

  it.each([
    ['api.example.com', 'is not an absolute'],
    ['/open', 'is not an absolute'],
    ['', 'is not an absolute'],
    ['https:api.example.com', 'is not an absolute'],
    ['https://', 'is not an absolute'],
    ['https://exa mple.com', 'is not an absolute'],
    ['ftp://api.example.com', 'is not an absolute'],
    ['https://api.example.com?', 'a query or a fragment'],
    ['https://api.example.com/#top', 'a query or a fragment'],
    ['https://api.example.com,', 'has "," in its host'],
    ['https://$HOST/', 'in its host'],
    ['https://user@api.example.com', 'a user name or a password'],
    ['https://:hunter2@api.example.com', 'a user name or a password'],
    ['https://user:hunter2@api.example.com', 'a user name or a password'],
  ])('refuses %j, and does not repeat a password', (text, fault) => {
    const refused = expect(() => parseBaseUrl(text, '--base-url'));
    refused.toThrow(InvalidInputError);
    refused.toThrow(new RegExp(`^--base-url (?!.*hunter2).*${fault}`));
  });
});

describe('sameDeployment', () => {
  it.each([
    ['https://api.example.com', 'https://api.example.com', true],
    ['https://api.example.com', 'http://api.example.com', true],
    ['https://api.example.com', 'https://api.example.com.', true],
    ['https://api.example.com', 'HTTP://API.example.com:80', true],
    ['https://api.example.com', 'http://api.example.com:443', true],
    ['https://api.example.com/open', 'https://api.example.com//open/', true],
    ['https://api.example.com/open', 'https://api.example.com/x/../%6fPEN', true],
    ['https://api.example.com', 'https://api。example．com', true],
    ['https://b\u00fccher.example', 'https://xn--bcher-kva.example', true],
    ['http://127.0.0.1:8787', 'http://127.1:8787', true],
    ['http://127.0.0.1:8787', 'http://0x7f000001:8787', true],
    ['http://127.0.0.1:8787', 'http://localhost:8787', true],
    ['http://127.0.0.1:8787', 'http://0.0.0.0:8787', true],
    ['http://127.0.0.1:8787', 'http://[::]:8787', true],
    ['http://127.0.0.1:8787', 'http://[::ffff:127.0.0.1]:8787', true],
    ['http://[::1]:8787', 'http://[0:0:0:0:0:0:0:1]:8787', true],
    ['http://10.0.0.1', 'http://[::ffff:10.0.0.1]', true],
    ['http://10.0.0.1', 'http://10.0.0.2', false],
    ['http://127.0.0.1:8787', 'http://127.0.0.1:8788', false],
    ['https://api.example.com/open', 'https://api.example.com', false],
    ['https://api.example.com', 'https://api.example.com:8443', false],
    ['https://api.example.com', 'https://test.example.com', false],
  ])('%s and %s: %s', (one, other, same) => {
    expect(sameDeployment(one, other)).toBe(same);
    expect(sameDeployment(other, one)).toBe(same);
  });
});

describe('refusePlainHttp', () => {
  const here =
    '127.0.0.1:8787 127.255.255.255 2130706433 [::1] [::ffff:127.0.0.1] localhost api.localhost.';
  it.each(['https://api.example.com', ...here.split(' ').map((host) => `http://${host}`)])(
    'lets %s pass',
    (url) => expect(() => refusePlainHttp(parseBaseUrl(url), false, '--allow-http')).not.toThrow(),
  );

  const elsewhere =
    'api.example.com 128.0.0.1 0.0.0.0 [::] [::2] [::ffff:10.0.0.1] localhost.example.com 127.0.0.1.example.com';
  it.each([...elsewhere.split(' '), 'mylocalhost'])(
    'refuses http://%s, unless it is allowed',
    (host) => {
      const url = parseBaseUrl(`http://${host}`);
      expect(() => refusePlainHttp(url, false, '--allow-http')).toThrow(InvalidInputError);
      expect(() => refusePlainHttp(url, true, '--allow-http')).not.toThrow();
    },
  );
});
