import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { compileRecipes, signBoth } from '../../../src/core/signing/app-signatures.js';
import { defaultRecipes } from '../../../src/core/signing/presets.js';
import type { Param } from '../../../src/core/signing/request.js';
import { Secret } from '../../../src/core/signing/secret.js';
import { decodeText } from '../../../src/core/support/byte-order-mark.js';
import { SampleError } from '../../../src/lab/samples/captured-request.js';
import { sampleFormats } from '../../../src/lab/samples/formats.js';
import { readSamples } from '../../../src/lab/samples/read-sample.js';

const folder = new URL('./requests/', import.meta.url);
const signers = compileRecipes(defaultRecipes);
const secret = new Secret('throw-away');

const url = 'https://api.example.com/api/v1/server/user/user_info_for_third';
const path = '/api/v1/server/user/user_info_for_third';
const params: readonly Param[] = [
  ['tenant_code', 'acme'],
  ['app_key', 'app-1'],
  ['channel', 'web'],
  ['code', 'c-77/张三'],
  ['info_name', 'mobile,level'],
  ['random', 'jsLVnV+qNo=xLx'],
  ['timestamp', '1795283538'],
  ['app_sign', '34a75cc86fec5785272e1fbef8a50925'],
];

/** A file is taken, as what; `whole` where all of it is the request. */
interface Taken {
  readonly as: string;
  readonly method?: string;
  readonly url?: string;
}
const whole = '';

/** The same signed request as tools write it, and what is said of it. */
const files: Readonly<Record<string, Taken | { readonly refused: string }>> = {
  'url.txt': { as: whole },
  'url-quoted.txt': { as: whole },
  'url-brackets.txt': { as: whole },
  'url-curly.txt': { as: whole },
  'url-html.txt': { as: whole },
  'utf-16.txt': { as: whole },
  'path.txt': { as: 'a URL, a part of a URL', url: path },
  'query.txt': { as: 'a URL, a part of a URL', url: '' },
  'curl-ansi.txt': { as: whole },
  'curl-bare.txt': { as: whole },
  'curl-bom.txt': { as: whole },
  'curl-chrome.txt': { as: whole },
  'curl-comment.txt': { as: whole },
  'curl-curly.txt': { as: whole },
  'curl-fenced.md': { as: whole },
  'curl-firefox.txt': { as: whole },
  'curl-get-data.txt': { as: whole },
  'curl-get-urlencode.txt': { as: whole },
  'curl-path.txt': { as: whole },
  'curl-prompt.txt': { as: whole },
  'curl-proxy.txt': { as: whole },
  'curl-sentence.txt': { as: whole },
  'curl-sudo.txt': { as: whole },
  'curl-time.txt': { as: whole },
  'curl-url-query.txt': { as: whole },
  'curl-cmd.txt': { refused: 'the command is written for cmd.exe' },
  'curl-powershell.txt': { refused: 'the command is written for PowerShell' },
  'powershell.txt': { refused: 'the command is written for PowerShell' },
  'curl-form.txt': { refused: '--form is not a form in the curl command' },
  'curl-json.txt': { refused: '--json is not a form in the curl command' },
  'curl-variable.txt': { refused: 'the command holds $BASE, which only the shell can replace' },
  'chrome.har': { as: 'a HAR file, entry 3' },
  'firefox.har': { as: 'a HAR file, entry 1' },
  'charles.har': { as: 'a HAR file, entry 1' },
  'mitmproxy.har': { as: 'a HAR file, entry 1' },
  'insomnia.har': { as: 'a HAR file, entry 1', method: 'POST' },
  'postman.json': { as: 'a Postman collection, request "users / read"' },
  'http-lf.txt': { as: whole },
  'http-crlf.txt': { as: whole },
  'http-absolute.txt': { as: whole },
  'http-no-host.txt': { refused: 'the HTTP request has no Host header' },
  'fiddler.txt': { as: 'the text of an HTTP request, without its response' },
  'burp-post.txt': { as: 'the text of an HTTP request, without its response', method: 'POST' },
  'nginx.log': { as: 'a line of a log, line 2', url: path },
  'apache.log': { as: 'a line of a log, line 1', url: path },
  'message.log': { as: 'a line of a log, line 1' },
  'link.html': { as: 'a line of a log, line 1' },
  'pino.ndjson': { as: 'a line of a log, line 2, which does not say http or https' },
  'nginx-json.log': { as: 'a line of a log, line 1, which does not say http or https' },
  'logback.json': { as: 'a line of a log, line 1' },
  'several.log': { refused: 'the text has 2 requests' },
  'sample-file.json': { as: whole },
};

const textOf = (name: string) => decodeText(readFileSync(new URL(name, folder)));

describe('a request as people have it', () => {
  it('is in a file of the table', () => {
    expect(readdirSync(folder).sort()).toEqual(Object.keys(files).sort());
  });

  it.each(Object.entries(files))('%s', (name, expected) => {
    if ('refused' in expected) {
      expect(() => readSamples(textOf(name))).toThrow(expected.refused);
      return;
    }
    const { samples, taken } = readSamples(textOf(name));
    const { method = 'GET', as } = expected;
    expect(samples).toMatchObject([{ method, url: expected.url ?? url }]);
    expect(samples.map((sample) => textsOf(sample.params))).toEqual([params]);
    for (const sample of samples) {
      const { app_sign, sign } = signBoth(signers, sample, secret);
      expect([app_sign.digest, sign.digest]).toEqual([params.at(-1)?.[1], sample.signature]);
    }
    const shown = expected.url === '' ? 'of an unknown address' : (expected.url ?? url);
    expect(taken).toEqual(as === whole ? [] : [`${method} ${shown} (${as})`]);
  });
});

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const pairs = fc.array(fc.tuple(fc.stringMatching(/^[a-zA-Z_]{1,8}$/), text), { maxLength: 5 });
const encode = (value: string) =>
  encodeURIComponent(value).replace(/[!'()*]/g, (found) => `%${found.charCodeAt(0).toString(16)}`);
const encodePairs = (given: readonly Param[]) =>
  given.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
const textsOf = (read: readonly Param[]) => read.map(([name, value]) => [name, value] as const);
const named = (given: readonly Param[]) => given.map(([name, value]) => ({ name, value }));

/** Writes a request with these parameters as a tool does, in the query or in a form. */
const writers: Readonly<Record<string, (given: readonly Param[], query: string) => string>> = {
  'a HAR file with a form': (given, query) => {
    const postData = {
      mimeType: 'application/x-www-form-urlencoded',
      text: query,
      params: named(given),
    };
    const request = { method: 'POST', url: 'https://e.com/p', headers: [], postData };
    return JSON.stringify({ log: { entries: [{ request }] } }, null, 2);
  },
  'HTTP text with its response': (_, query) =>
    `POST /p HTTP/1.1\r\nHost: e.com\r\n\r\n${query}\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{"sign":"other"}`,
  'a HAR file with the fields of a form': (given) => {
    const postData = { mimeType: 'application/x-www-form-urlencoded', params: named(given) };
    const request = { method: 'POST', url: 'https://e.com/p', headers: [], postData };
    return JSON.stringify({ log: { entries: [{ request }] } });
  },
  'a Postman collection with a form': (given) => {
    const body = { mode: 'urlencoded', urlencoded: named(given) };
    const request = { method: 'PUT', url: 'https://e.com/p', body };
    return JSON.stringify({ info: {}, item: [{ request }] });
  },
  'a sample file': (given) => JSON.stringify({ params: given }),
};

test.each(Object.entries(writers))('%s has the parameters that were sent', (_, write) => {
  fc.assert(
    fc.property(pairs, (random) => {
      const unsigned = random.filter(([known]) => known !== 'sign');
      const given = [...unsigned, ['sign', 'a/b+c='] as const];
      const { samples } = readSamples(write(given, encodePairs(given)));
      expect(samples).toMatchObject([{ signature: 'a/b+c=' }]);
      expect(samples.map((sample) => textsOf(sample.params))).toEqual([given.slice(0, -1)]);
    }),
    { numRuns: 40 },
  );
});

/** What a message says; the values of the request are not in it, and it is safe on a terminal. */
function messageOf(given: string): string {
  try {
    return readSamples(given).taken.join('\n');
  } catch (error) {
    if (error instanceof SampleError) return `${error.message}\n${error.hint ?? ''}`;
    throw error;
  }
}

describe('any text', () => {
  const all = Object.keys(files).map(textOf);
  const values = [...params, ['sign', 'd10e99f2d4754eeae203af809e966d2c'] as const]
    .flatMap(([, value]) => [value, encodeURIComponent(value)])
    .filter((value) => value.length > 6);

  it('is taken or refused, with no value of the request in the words, wherever it is cut off', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...all),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (given, share) => {
          const message = messageOf(given.slice(0, Math.floor(given.length * share)));
          expect(values.filter((value) => message.includes(value))).toEqual([]);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('is taken or refused if parts of it are taken out, doubled or replaced', () => {
    const place = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(
        fc.constantFrom(...all),
        place,
        place,
        fc.string({ maxLength: 6 }),
        (given, a, b, between) => {
          const [from, to] = [Math.floor(given.length * a), Math.floor(given.length * b)];
          expect(messageOf(given.slice(0, from) + between + given.slice(to))).toEqual(
            expect.any(String),
          );
        },
      ),
      { numRuns: 100 },
    );
  });
});

it.each([
  ['a parameter', `https://a.example/?a=1&sign=${'0'.repeat(4097)}`, '"sign" has 4097 characters'],
  [
    'a field',
    JSON.stringify({ url: 'https://a.example/', params: {}, signature: '0'.repeat(4097) }),
    '"sign" has',
  ],
  [
    'the parameters',
    `https://a.example/?${'a=1&'.repeat(50_001)}sign=0`,
    'the request has 50002 parameters',
  ],
])('is refused where %s of it would take seconds', (_, given, says) => {
  expect(messageOf(given)).toContain(says);
});

it('is named in the hint for a text that is no request', () => {
  const message = messageOf('hello');
  for (const { name } of sampleFormats) expect(message).toContain(name);
});

describe('of several requests', () => {
  const log = textOf('several.log');

  it('the ones to choose from are listed with numbers, each once', () => {
    expect(messageOf(log)).toBe(
      [
        'the text has 2 requests',
        'Choose one with --pick N:',
        `1  GET ${path} (line 1)`,
        `2  POST ${path} (line 4)`,
      ].join('\n'),
    );
  });

  it('the picked ones are taken', () => {
    const { samples, taken } = readSamples(log, { pick: [2, 1] });
    expect(samples.map(({ signature }) => signature)).toEqual([
      '0'.repeat(32),
      expect.stringMatching(/^d10e/),
    ]);
    expect(taken).toEqual([
      `POST ${path} (a line of a log, line 4)`,
      `GET ${path} (a line of a log, line 1)`,
    ]);
    expect(() => readSamples(log, { pick: [3] })).toThrow('there is no request 3: the text has 2');
  });

  it('the credentials of an address are not shown', () => {
    const given = ['a', 'b']
      .map((name) => `curl 'https://user:pa55word@e.com/${name}?sign=1'`)
      .join('\n');
    expect(messageOf(given)).toContain('1  GET https://e.com/a (command 1)');
    expect(messageOf(given)).not.toContain('pa55word');
    const many = Array.from({ length: 22 }, (_, n) => `curl 'https://e.com/${n}?sign=1'`).join(
      '\n',
    );
    expect(messageOf(many)).toMatch(/\n20 {2}GET .*\nand 2 more$/);
  });

  it('none of which is signed, the message says so', () => {
    expect(messageOf("curl 'https://e.com/a?x=1'\ncurl 'https://e.com/b?x=1'")).toContain(
      'the text has 2 requests, none of them with "sign"',
    );
  });
});
