import { describe, expect, it } from 'vitest';
import { compileRecipe } from '../../../src/core/signing/compile-recipe.js';
import { completeRecipe, type RecipeJson } from '../../../src/core/signing/recipe.js';
import type { SignableRequest } from '../../../src/core/signing/request.js';
import { Secret } from '../../../src/core/signing/secret.js';
import { fittingRecipes } from '../../../src/lab/solve/fitting-recipes.js';
import { Search } from '../../../src/lab/solve/search/search.js';
import { maxBits, type Share, ShareQueue } from '../../../src/lab/solve/search/shares.js';
import { searchUpTo } from '../../support/search-up-to.js';

const secret = new Secret('5up3r+53cr37+K3y');

const small: SignableRequest = {
  method: 'GET',
  url: 'https://example.com/',
  params: [['t', '17']],
  body: null,
  extra: {},
};

describe('the shares of a search', () => {
  it('are every part of every cost up to the maxBits, each once', () => {
    const queue = new ShareQueue();
    const taken: Share[] = [];
    for (let share = queue.take(); share !== null; share = queue.take()) {
      taken.push(share);
      queue.note(share, { tried: share.from === 0 ? 100_000 : 17_000, hit: null, isCut: false });
      // What is heard late, when others are being handed out, parts nothing.
      if (share.from > 0)
        queue.note({ ...share, from: 0 }, { tried: 1e9, hit: null, isCut: false });
      expect(share.from).toBe(queue.from);
    }
    expect(taken.some(({ parts }) => parts > 1)).toBe(true);
    expect(queue.take()).toBeNull();
    expect(queue.end).toMatchObject({ bits: maxBits, isComplete: true });
    const bands = taken.filter(({ part }) => part === 0);
    expect(bands.map(({ from }) => from)).toEqual([0, ...bands.slice(0, -1).map(({ to }) => to)]);
    expect(bands.at(-1)?.to).toBeGreaterThanOrEqual(maxBits);
    for (const { from, parts } of bands) {
      const parted = taken.filter((share) => share.from === from).map(({ part }) => part);
      expect(parted).toEqual(Array.from({ length: parts }, (_, part) => part));
    }
  });

  it('are small enough for many threads, even if a band is fully claimed before any part of it is done', () => {
    const queue = new ShareQueue();
    for (let share = queue.take(); share !== null; share = queue.take()) {
      if (share.from === 0) queue.note(share, { tried: 100_000, hit: null, isCut: false });
      if (share.from >= 20) expect(share.parts).toBeGreaterThan(1);
      if (share.from >= 24) break;
    }
    expect(queue.from).toBeGreaterThanOrEqual(24);
  });

  it('count as searched up to the cheapest that is still under way', () => {
    const queue = new ShareQueue();
    const cheapest = queue.take();
    for (let share = queue.take(); share !== null; share = queue.take())
      queue.note(share, { tried: 1, hit: null, isCut: false });
    expect(queue.end).toMatchObject({ bits: 0, isComplete: false });
    if (cheapest !== null) queue.note(cheapest, { tried: 1, hit: null, isCut: false });
    expect(queue.end).toMatchObject({ bits: maxBits, isComplete: true });
  });

  it('end where too many candidates would follow', () => {
    const queue = new ShareQueue(1000);
    for (let share = queue.take(); share !== null; share = queue.take())
      queue.note(share, { tried: 100, hit: null, isCut: false });
    expect(queue.end.tried).toBeLessThan(1000);
    expect(queue.end).toMatchObject({ isComplete: true });
    expect(queue.end.bits).toBeLessThan(maxBits);
  });

  it('together equal a search by one', () => {
    const search = new Search({
      request: small,
      secret,
      signature: '0'.repeat(32),
      otherParams: [],
    });
    const whole = { from: 9, to: 13, part: 0, parts: 1 };
    const parts = [9, 11].flatMap((from) =>
      [0, 1, 2, 3].map((part) => search.run({ from, to: from + 2, part, parts: 4 }).tried),
    );
    expect(parts.reduce((sum, count) => sum + count, 0)).toBe(search.run(whole).tried);
    expect(Math.min(...parts)).toBeGreaterThan(0);
  });
});

const query = (text: string) => [...new URLSearchParams(text)];

describe('the rule is found', () => {
  it.each<[string, Partial<SignableRequest>, RecipeJson]>([
    [
      'of a body behind parameters whose names no token can hold, in base64',
      {
        method: 'POST',
        params: query('{t}=1795283538'),
        body: '{"a":1}',
        extra: { 'X-Nonce': 'n-4711', '{odd}': 'x' },
      },
      { message: ['$params', '$body', '$secret'], steps: ['md5'], output: 'base64' },
    ],
    [
      'with the secret under a name like that of a parameter',
      { params: [['SHOPID', '77']] },
      { message: ['$params', '&SHOPKEY=', '$secret'], steps: ['md5'] },
    ],
    [
      'of headers, in any order, in front of the parameters',
      {
        params: query('b=2&a=1'),
        extra: { 'X-Key': 'k-0001', 'X-Time': '1795283538', 'X-Nonce': 'n-4711' },
      },
      {
        message: ['$extra:X-Time', '$extra:X-Key', '$extra:X-Nonce', '$params', '$secret'],
        steps: ['md5'],
      },
    ],
    [
      'of the headers of the app, the time and a nonce, among others',
      {
        method: 'POST',
        params: [],
        body: '{"a":1}',
        extra: {
          'X-App-Id': 'app-01',
          'X-Nonce': 'n-4711',
          'X-Timestamp': '1795283538',
          'X-Request-Id': 'r-778812',
          'X-Version': '2.1',
          'Content-Type': 'application/json',
        },
      },
      {
        message: ['$extra:X-App-Id', '$extra:X-Timestamp', '$extra:X-Nonce', '$body', '$secret'],
        steps: ['md5'],
      },
    ],
    [
      'of lines: method, path, digest of the body, header',
      {
        method: 'POST',
        params: [],
        body: '{"a":1}',
        extra: { KEY: 'k-0001', Timestamp: '1795283538' },
      },
      {
        message: ['$method', '$path', '$body.sha512', '$extra:Timestamp'],
        join: '\n',
        steps: ['hmac-sha512'],
      },
    ],
    [
      'of headers between the path and the body',
      {
        method: 'POST',
        url: 'https://example.com/v1/devices',
        params: [],
        body: '{"a":1}',
        extra: { appId: 'app-01', clientId: 'c-8', timestamp: '1795283538' },
      },
      { message: ['$path', '$extra:timestamp', '$body', '$extra:appId'], steps: ['hmac-md5'] },
    ],
    [
      'of headers with their names',
      { params: [], extra: { 'X-App-Id': 'app-01', 'X-Time': '1795283538' } },
      {
        message: ['x-app-id:$extra:X-App-Id', 'x-time:$extra:X-Time'],
        join: '\n',
        steps: ['hmac-sha256'],
      },
    ],
    [
      'of a header among the sorted parameters',
      { params: query('b=2&z=26'), extra: { 'X-Time': '1795283538' } },
      {
        params: { add: { time: '$extra:X-Time' } },
        message: ['$params', '$secret'],
        steps: ['md5'],
      },
    ],
    [
      'with a separator after every pair',
      { params: query('b=2&a=1') },
      { params: { pairSep: '', pairEnd: '|' }, message: ['$params', '$secret'], steps: ['md5'] },
    ],
    [
      'whose key is the digest of the secret, as bytes',
      {},
      {
        message: ['$params'],
        steps: ['hmac-sha256'],
        key: { tokens: ['$secret.sha256'], decode: 'hex' },
      },
    ],
    [
      'of the last part of a deep path',
      { url: 'https://example.com/a/b/c/detail', params: [['t', '17']] },
      { basePath: '/a/b/c/', message: ['$path', '$param:t', '$secret'], steps: ['md5'] },
    ],
    [
      'of parameters in base64, by a digest of the bytes of an HMAC',
      { params: query('b=2&a=1') },
      { encode: { block: 'base64' }, message: ['$params'], steps: ['hmac-sha256:raw', 'md5'] },
    ],
    [
      'whose base64 has a label',
      {},
      { message: ['$params'], steps: ['hmac-sha256', 'prepend:HMACSHA256='], output: 'base64' },
    ],
    [
      'whose base64url has its padding',
      {},
      { message: ['$params', '$secret'], steps: ['sha256', 'append:='], output: 'base64url' },
    ],
    [
      'whose label is in the message too',
      { method: 'POST', params: [], body: '{"a":1}', extra: { 'X-Time': '1531420618' } },
      {
        message: ['v0', '$extra:X-Time', '$body'],
        join: ':',
        steps: ['hmac-sha256', 'prepend:v0='],
      },
    ],
    [
      'whose digest precedes a parameter',
      { params: [['t', '1795283538']] },
      { message: ['$params', '$secret'], steps: ['md5', 'append:,$param:t'] },
    ],
    [
      'with a digest of its own inside',
      { params: query('t=17&k=app_ef24') },
      {
        message: ['$sub:k', '$param:t'],
        sub: { k: { message: ['$param:k', '$secret'], steps: ['md5'] } },
        steps: ['md5'],
      },
    ],
    [
      'whose message is empty, with the time in the key',
      {},
      {
        message: [''],
        steps: ['hmac-sha256'],
        key: { tokens: ['$param:t', '\n', '$secret'] },
        output: 'base64',
      },
    ],
  ])('%s', async (_, change, json) => {
    const request = { ...small, ...change };
    const rule = compileRecipe(completeRecipe(json));
    const task = { request, secret, signature: rule.sign(request, secret).digest, otherParams: [] };
    const { hit } = await searchUpTo(500_000)(task);
    if (hit === null) throw new Error('nothing was found');
    const { fits } = await fittingRecipes({ task, hit, slack: 5, pause: async () => {} }, [task]);
    const params = request.params.map(([name, value]) => [name, `${value}9`] as const);
    const extra = Object.fromEntries(
      Object.entries(request.extra).map(([name, value]) => [name, `${value}9`]),
    );
    const later = { ...request, params, extra, body: request.body && '{"b":2}' };
    const { digest } = rule.sign(later, secret);
    expect(fits.map(({ recipe }) => compileRecipe(recipe).sign(later, secret).digest)).toContain(
      digest,
    );
  });
});
