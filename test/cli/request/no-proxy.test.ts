import { describe, expect, it } from 'vitest';
import { proxyFor } from '../../../src/client/call/proxy.js';

const https = { HTTPS_PROXY: 'http://secure:1', HTTP_PROXY: 'http://plain:2' };

describe('the proxy of the environment', () => {
  it.each<[string, Record<string, string>, string | null]>([
    ['https://api.example.com', https, 'http://secure:1'],
    ['http://api.example.com', https, 'http://plain:2'],
    ['https://api.example.com', { HTTP_PROXY: 'http://plain:2' }, null],
    ['https://api.example.com', { ...https, https_proxy: 'http://small:3' }, 'http://small:3'],
    ['https://api.example.com', { ...https, https_proxy: '' }, 'http://secure:1'],
    ['https://api.example.com', { HTTPS_PROXY: '' }, null],
    ['https://api.example.com', {}, null],
  ])('of %s under %j is %s', (url, env, address) => {
    expect(proxyFor(url, env)?.address ?? null).toBe(address);
  });

  it.each([
    ['https://api.example.com', '*', true],
    ['https://api.example.com', 'api.example.com', true],
    ['https://api.example.com', 'other.com, API.example.COM', true],
    ['https://api.example.com', 'other.com api.example.com', true],
    ['https://api.example.com', 'example.com', true],
    ['https://api.example.com', '.example.com', true],
    ['https://api.example.com', '*.example.com', true],
    ['https://api.example.com', 'api.example.com:443', true],
    ['https://api.example.com:8443', 'api.example.com:8443', true],
    ['https://10.1.2.3', '10.1.2.3', true],
    ['https://[2001:db8::1]', '2001:db8::1', true],
    ['https://[2001:db8::1]:8443', '[2001:db8::1]:8443', true],
    ['https://10.255.0.1', '10.0.0.0/8', true],
    ['https://10.255.0.1', '10.9.9.9/8', true],
    ['https://10.255.0.1:8443', 'other.com,10.0.0.0/8', true],
    ['https://192.168.7.9', '192.168.7.8/31', true],
    ['https://8.8.8.8', '0.0.0.0/0', true],
    ['https://10.1.2.3', '10.1.2.3/32', true],
    ['https://[fd12::1]', 'fd00::/8', true],
    ['https://[fd12::1]', '[fd00::]/8', true],
    ['https://11.0.0.1', '10.0.0.0/8', false],
    ['https://192.168.7.10', '192.168.7.8/31', false],
    ['https://[fe80::1]', 'fd00::/8', false],
    ['https://[fd12::1]', '0.0.0.0/0', false],
    ['https://10.1.2.3.example.com', '10.0.0.0/8', false],
    ['https://10.1.2.3', '10.0.0.0/33', false],
    ['https://10.1.2.3', '10.0.0.0/', false],
    ['https://10.1.2.3', '10/8', false],
    ['https://api.example.com', 'example.com/8', false],
    ['https://api.example.com', 'api.example.com:8443', false],
    ['https://api.example.com', 'ample.com', false],
    ['https://api.example.com', 'api', false],
    ['https://api.example.com', '', false],
    ['https://api.example.com', ',, ,', false],
  ])('of %s under NO_PROXY %j is left out: %s', (url, NO_PROXY, leftOut) => {
    expect(proxyFor(url, { ...https, NO_PROXY }) === null).toBe(leftOut);
    expect(proxyFor(url, { ...https, no_proxy: NO_PROXY }) === null).toBe(leftOut);
  });
});
