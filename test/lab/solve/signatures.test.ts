import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Sample, SignableRequest } from '../../../src/core/signing/request.js';
import { Secret } from '../../../src/core/signing/secret.js';
import { SampleError } from '../../../src/lab/samples/sample-error.js';
import { readSignature } from '../../../src/lab/solve/candidates/signature-reading.js';
import { solve } from '../../../src/lab/solve/solve.js';
import { tasksForAppSign, tasksForSign } from '../../../src/lab/solve/tasks.js';
import { readSample } from '../../support/read-sample.js';
import { searchUpTo } from '../../support/search-up-to.js';

const secret = new Secret('5up3r-53cr37-K3y');
const noPause = async () => {};

/** With as little in it as there can be, so that there is little to try. */
const small: SignableRequest = {
  method: 'GET',
  url: 'https://example.com/',
  params: [['timestamp', '1795283538']],
  body: null,
  extra: {},
};

const md5 = createHash('md5').update('x').digest();
const sha256 = createHash('sha256').update('x').digest();

/** The readings of a signature of `small`, without their costs. */
function readings(signature: string, params = small.params, key = secret) {
  const request = { ...small, params };
  return readSignature({ request, secret: key, signature }).map(
    ({ algorithm, digest, output, after }) => ({
      algorithm,
      digest,
      output,
      after,
    }),
  );
}

/** Another algorithm may have digests of that length, too. */
const ofSha256 = (signature: string) =>
  readings(signature).filter(({ algorithm }) => algorithm === 'sha256');

describe('a signature is parsed', () => {
  const whole = { algorithm: 'md5', digest: md5.toString('hex'), after: [] };

  it.each([
    [md5.toString('hex'), 'hex'],
    [md5.toString('hex').toUpperCase(), 'HEX'],
    [md5.toString('base64'), 'base64'],
    [md5.toString('base64url'), 'base64url'],
    [Buffer.from(md5.toString('hex')).toString('base64'), 'base64-of-hex'],
  ])('%s as %s', (signature, output) => {
    expect(readings(signature)).toContainEqual({ ...whole, output });
  });

  it('without padding or + and / as either base64', () => {
    expect(readings(Buffer.alloc(30, 7).toString('base64'))).toEqual([]);
    const sha384 = Buffer.alloc(48, 7).toString('base64');
    expect(readings(sha384).map(({ output }) => output)).toEqual(['base64', 'base64url']);
    const even = Buffer.alloc(32, 7).toString('base64url');
    expect(ofSha256(even)).toEqual([
      { algorithm: 'sha256', digest: '07'.repeat(32), output: 'base64url', after: [] },
    ]);
  });

  it.each(['0123456789abcdef', '0123456789ABCDEF'])(
    'of sixteen digits as a part of any digest: %s',
    (cut) => {
      const slices = readings(cut).map(({ algorithm, after }) => `${algorithm} ${after.join()}`);
      expect(slices).toEqual(
        expect.arrayContaining([
          'md5 slice:0:16',
          'md5 slice:8:24',
          'md5 slice:16:32',
          'sha256 slice:24:40',
        ]),
      );
      expect(readings(cut.slice(1))).toEqual([]);
    },
  );

  it('with surrounding text, parameters by name', () => {
    const digest = sha256.toString('hex');
    const steps = (signature: string, params = small.params) =>
      readings(signature, params).find(({ algorithm }) => algorithm === 'sha256')?.after;
    expect(steps(`v1=$${digest}`)).toEqual(['prepend:v1=$$']);
    expect(steps(`${digest},1795283538`)).toEqual([`append:,${'$'}{param:timestamp}`]);
    expect(steps(`v1 1795283538-${digest};12`)).toEqual([
      `prepend:v1 ${'$'}{param:timestamp}-`,
      'append:;12',
    ]);
    // No token can hold such a name, and so short a value may be there by accident.
    expect(steps(`${digest},1795283538`, [['{t}', '1795283538']])).toEqual(['append:,1795283538']);
    expect(steps(`${digest},176`, [['t', '176']])).toEqual(['append:,176']);
    expect(steps(`${digest},1762`, [['t', '1762']])).toEqual([`append:,${'$'}{param:t}`]);
  });

  it('in base64 behind a label, which may be a value of the request', () => {
    const digest = sha256.toString('base64');
    const stepsBehind = (signature: string) => ofSha256(signature).map((reading) => reading.after);
    expect(stepsBehind(`HMACSHA256=${digest}`)).toEqual([['prepend:HMACSHA256=']]);
    expect(stepsBehind(`1795283538:${digest}`)).toEqual([[`prepend:${'$'}{param:timestamp}:`]]);
    expect(stepsBehind(`key:${Buffer.alloc(32, 255).toString('base64url')}=`)).toEqual([
      ['append:=', 'prepend:key:'],
    ]);
  });

  it('in base64url with its padding, too', () => {
    const padded = `${Buffer.alloc(32, 255).toString('base64url')}=`;
    const read = { algorithm: 'sha256', digest: 'ff'.repeat(32) };
    expect(ofSha256(padded)).toEqual([{ ...read, output: 'base64url', after: ['append:='] }]);
    const [plain, url] = ofSha256(Buffer.alloc(32, 7).toString('base64'));
    expect(plain).toMatchObject({ output: 'base64', after: [] });
    expect(url).toMatchObject({ output: 'base64url', after: ['append:='] });
  });

  it('never with the secret in a step, even if it was sent beside the digest', () => {
    expect(readings(`${sha256.toString('hex')},${secret.reveal()}`)).toEqual([]);
    expect(readings(`${sha256.toString('hex')},pa$word`, [], new Secret('pa$word'))).toEqual([]);
  });

  it.each([
    ['of an RSA key', Buffer.alloc(256, 9).toString('base64')],
    ['that is too short', 'abc123'],
    ['of other characters', 'not a digest!'],
    ['of signs of both base64', 'a-b+c/d_'],
  ])('and one %s is refused with what can be found', async (_, signature) => {
    const task = { request: small, secret, signature, otherParams: [] };
    const none = solve([task], searchUpTo(0), noPause);
    await expect(none).rejects.toThrow(SampleError);
    await expect(none).rejects.toMatchObject({
      message: `a signature of ${signature.length} characters is not a digest that a recipe can write`,
      hint: expect.stringContaining('an RSA signature has no rule to find'),
    });
  });
});

describe('of captured requests', () => {
  const params = [
    ['app_key', 'k'],
    ['app_sign', 'a'.repeat(32)],
    ['n', '1'],
  ] as const;
  const captured: Sample = {
    ...small,
    params,
    headers: [],
    signature: 'b'.repeat(32),
    signParam: 'sign',
    secret: null,
  };
  const signed = (sample: Sample) => ({ ...sample, secret });

  it('offers the search the headers that applications set, and no others', () => {
    const sample = readSample(
      [
        `POST /v1/users?a=1&sign=${'b'.repeat(32)} HTTP/1.1`,
        'Host: api.example.com',
        'User-Agent: okhttp/4.9',
        'Accept: */*',
        'Content-Type: application/json',
        'Content-Length: 2',
        'Authorization: Bearer abc',
        'Cookie: s=1',
        'sec-fetch-mode: cors',
        'X-Forwarded-For: 10.0.0.1',
        'X-Timestamp: 17',
        'X-Nonce: n1',
        'Date: Mon, 23 Nov 2026 08:00:00 GMT',
        '',
        '{}',
      ].join('\r\n'),
    );
    const [task] = tasksForSign([signed(sample)]);
    expect(Object.keys(task?.request.extra ?? {})).toEqual([
      'Content-Type',
      'X-Timestamp',
      'X-Nonce',
      'Date',
    ]);
    const [read] = tasksForSign([signed(sample)], {
      headers: ['accept'],
      recipe: { message: [`${'$'}{extra:Authorization}?`] },
    });
    expect(Object.keys(read?.request.extra ?? {})).toEqual(
      expect.arrayContaining(['Accept', 'Authorization', 'X-Nonce']),
    );
    const many = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`X-Trace-${index}`, 'v']),
    );
    const crowded = { ...many, 'X-Timestamp': '17', 'App-Key': 'k' };
    const [bounded] = tasksForSign([
      signed({ ...captured, extra: crowded, headers: Object.keys(crowded) }),
    ]);
    expect(Object.keys(bounded?.request.extra ?? {})).toHaveLength(8);
    expect(bounded?.request.extra).toMatchObject({ 'X-Timestamp': '17', 'App-Key': 'k' });
    const [named] = tasksForSign([signed({ ...captured, extra: { 'user-agent': 'x', ...many } })]);
    expect(Object.keys(named?.request.extra ?? {})).toHaveLength(41);
  });

  it('each is solved for one signature, with the names of the others', () => {
    const other: Sample = { ...captured, params: [['z', '1']] };
    const [first, second] = tasksForSign([signed(captured), signed(other)]);
    expect(first).toMatchObject({ signature: 'b'.repeat(32), otherParams: [['z', '1']] });
    expect(second).toMatchObject({ otherParams: params });
  });

  it('one without a signature is refused', () => {
    expect(() => tasksForSign([signed({ ...captured, signature: null })])).toThrow(
      'the sample has no signature: there is no "sign" among its parameters',
    );
  });

  it('app_sign is solved as well where each has one, without itself', () => {
    const [task] = tasksForAppSign([signed(captured)]) ?? [];
    expect(task?.signature).toBe('a'.repeat(32));
    expect(task?.request.params.map(([name]) => name)).toEqual(['app_key', 'n']);
  });

  it.each<[string, Partial<Sample>]>([
    ['has no app_sign', { params: [['n', '1']] }],
    ['is signed by another parameter', { signParam: 'signature' }],
  ])('app_sign is no question where one %s', (_, change) => {
    expect(tasksForAppSign([signed(captured), signed({ ...captured, ...change })])).toBeNull();
  });

  it('app_sign is not searched if there is none', () => {
    expect(tasksForAppSign([])).toBeNull();
  });
});
