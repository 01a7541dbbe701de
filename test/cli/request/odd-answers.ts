// Answers of an odd or a hostile server, and what each means for a read and for a passback.
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import type { OperationName } from '../../../src/core/contract/endpoints.js';

/**
 * What an answer means: a success; a refusal of the request, or of the caller; refused unread; a
 * fault of the service, which may have carried the request out; no envelope, or none of a success,
 * which leaves it open; an answer of something before the service, which the service most likely
 * never saw.
 */
export type Meaning =
  | 'ok'
  | 'refused'
  | 'caller refused'
  | 'unread'
  | 'fault'
  | 'open'
  | 'elsewhere';

export interface Expected {
  readonly meaning: Meaning;
  /** The warnings of a success; else a part of the message. */
  readonly said: string | readonly string[];
  /** What `--json` prints; `null` for nothing. */
  readonly stdout: string | Buffer | null;
}

export interface OddAnswer extends Readonly<Record<OperationName, Expected>> {
  readonly name: string;
  readonly bytes: Buffer;
}

interface Http {
  readonly status?: string;
  readonly headers?: readonly string[];
}

type Bytes = string | Buffer;

function http(body: Bytes, { status = '200 OK', headers = [] }: Http = {}): Buffer {
  const bytes = Buffer.from(body);
  const lines = [
    `HTTP/1.1 ${status}`,
    ...headers,
    'Connection: close',
    `Content-Length: ${bytes.length}`,
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), bytes]);
}

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const both = (expected: Expected) => ({ read: expected, passback: expected });
const html = (status: string, text = status) =>
  http(`<title>${text}</title>`, { status, headers: ['Content-Type: text/html'] });
const page = (status: string, text = status) => `{"body":"<title>${text}</title>"}`;
const inBase64 = (body: Buffer) => `{"body":"${body.toString('base64')}","body_encoding":"base64"}`;
const asText = (body: string) => JSON.stringify({ body });
const coded = (coding: string): Http => ({ headers: [`Content-Encoding: ${coding}`] });
const typed = (charset: string): Http => ({
  headers: [`Content-Type: application/json; charset=${charset}`],
});

/** A success for u1, with more in `data`. */
const success = (more = '') => `{"code":200,"msg":"ok","data":{"union_id":"u1"${more}}}`;
const refusal = (code: number | string, msg = 'no', data = '{}') =>
  `{"code":${code},"msg":"${msg}","data":${data}}`;

/** A success that a passback takes without a warning; a read may have some. */
function ok(
  name: string,
  body: Bytes,
  given: Http | Buffer = {},
  read: readonly string[] = [],
): OddAnswer {
  return okBoth(name, body, given, [], read);
}

/** A success with warnings about its envelope. */
function okBoth(
  name: string,
  body: Bytes,
  given: Http | Buffer,
  envelope: readonly string[],
  read: readonly string[] = [],
): OddAnswer {
  const bytes = Buffer.isBuffer(given) ? given : http(body, given);
  const expected = { meaning: 'ok', stdout: Buffer.from(body), said: envelope } as const;
  return { name, bytes, passback: expected, read: { ...expected, said: [...envelope, ...read] } };
}

/** An answer that is an envelope, but of no success: it is said with its code. */
const refused =
  (meaning: Exclude<Meaning, 'ok'>) =>
  (name: string, body: Bytes, given: Http | Buffer = {}, said?: string): OddAnswer => {
    const [, code] = /"code":"?(-?\d+)/.exec(body.toString()) ?? [];
    const stdout = Buffer.from(body);
    const bytes = Buffer.isBuffer(given) ? given : http(body, given);
    return {
      name,
      bytes,
      ...both({ meaning, stdout, said: said ?? `the service answered ${code}` }),
    };
  };
const no = refused('refused');
const unread = refused('unread');
const fault = refused('fault');

/** An answer that is not an envelope. */
const strange =
  (meaning: 'open' | 'elsewhere' | 'unread') =>
  (name: string, said: string, bytes: Buffer, stdout: string | Buffer | null): OddAnswer => ({
    name,
    bytes,
    ...both({ meaning, said, stdout }),
  });
const open = strange('open');
const elsewhere = strange('elsewhere');
const openText = (name: string, said: string, body: string, given: Http = {}) =>
  open(name, said, http(body, given), asText(body.trim()));
const openBytes = (name: string, said: string, body: Buffer, given: Http = {}) =>
  open(name, said, http(body, given), inBase64(body));

/** 张 in GBK, whose bytes are not UTF-8. */
const zhang = '\xd5\xc5';
const bomb = (compress: (bytes: Buffer) => Buffer) => compress(Buffer.alloc(64 * 1024 * 1024, ' '));
const cut = (bytes: Buffer) => inBase64(bytes.subarray(0, 6144));
const chunked = (body: string, trailer = '') =>
  Buffer.from(
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n${trailer}\r\n`,
  );
const rounded = (path: string) =>
  `"${path}" is a number that JavaScript cannot hold exactly: read it as text`;
const nested = (levels: number) =>
  success(`,"deep":${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}`);

const gzippedGbk = { headers: ['Content-Encoding: gzip', 'Content-Type: text/plain; charset=gbk'] };

const successes: readonly OddAnswer[] = [
  ok('an envelope', success()),
  ok('an envelope as text/html', success(), { headers: ['Content-Type: text/html'] }),
  ok('white space around it', `\r\n ${success()} \n`),
  ok('a byte-order mark', `\ufeff${success()}`),
  okBoth('a code as text', success().replace('200', '"200"'), {}, [
    '"code" is text, not an integer',
  ]),
  ok('a code with an exponent', success().replace('200', '2.0e2')),
  okBoth('no msg', success().replace('"msg":"ok",', ''), {}, ['"msg" is missing']),
  okBoth('a msg of null', success().replace('"ok"', 'null'), {}, ['"msg" is null, not text']),
  okBoth('a msg "failed"', success().replace('"ok"', '"failed"'), {}, ['"msg" is not "ok"']),
  okBoth('a msg "OK"', success().replace('"ok"', '"OK"'), {}, ['"msg" is not "ok"']),
  ok('more members', success().replace('{', '{"request_id":12345678901234567890,"version":1,')),
  ok('a key twice in data', success(',"city":"a","city":"b"')),
  ok('HTTP 500', success(), { status: '500 Internal Server Error' }),
  ok('HTTP 404', success(), { status: '404 Not Found' }),
  ok('HTTP 201', success(), { status: '201 Created' }),
  ok('HTTP 799', success(), { status: '799 Whatever' }),
  ok('chunks', success(), chunked(success())),
  ok('chunks and a trailer', success(), chunked(success(), 'X-Sum: 1\r\n')),
  ok('HTTP/1.0', success(), latin1(`HTTP/1.0 200 OK\r\n\r\n${success()}`)),
  ok(
    'early hints',
    success(),
    Buffer.concat([latin1('HTTP/1.1 103 Early Hints\r\n\r\n'), http(success())]),
  ),
  ok('a header twice', success(), { headers: ['X-A: 1', 'X-A: 2'] }),
  ok('gzip', success(), http(gzipSync(success()), coded('gzip'))),
  ok('x-gzip', success(), http(gzipSync(success()), coded('x-gzip'))),
  ok('deflate', success(), http(deflateSync(success()), coded('deflate'))),
  ok('deflate without a header', success(), http(deflateRawSync(success()), coded('deflate'))),
  ok('brotli', success(), http(brotliCompressSync(success()), coded('br'))),
  ok('brotli of gzip', success(), http(brotliCompressSync(gzipSync(success())), coded('gzip, br'))),
  ok('identity', success(), coded('Identity')),
  ok(
    'gzip of GBK',
    success(',"a":"张"'),
    http(gzipSync(latin1(success(`,"a":"${zhang}"`))), gzippedGbk),
  ),
  ok(
    'GBK that is named',
    success(',"a":"张"'),
    http(latin1(success(`,"a":"${zhang}"`)), typed('gbk')),
  ),
  ok('UTF-16 that is named', success(), http(Buffer.from(success(), 'utf16le'), typed('utf-16le'))),
  ok('UTF-8 that is named ISO 8859-1', success(',"a":"张"'), typed('iso-8859-1')),
  okBoth('a msg in GBK that is not named', latin1(success().replace('ok', zhang)), {}, [
    '"msg" is not "ok"',
    'the answer is not in the charset that it names, or UTF-8',
  ]),
  okBoth('an 18-digit number', success(',"id_card":110101199003074532'), {}, [rounded('id_card')]),
  okBoth('a long number deep down', success(',"a":[{"b":-9007199254740993}]'), {}, [
    rounded('a[].b'),
  ]),
  okBoth('a decimal of 23 digits', success(',"a":0.30000000000000004000001'), {}, [rounded('a')]),
  okBoth('a number beyond all', success(',"a":1e400'), {}, [rounded('a')]),
  ok('numbers that JavaScript has', success(',"a":[9007199254740991,0.1,1.0,1e3,-0]')),
  ok('a hundred levels', nested(100)),
  ok('brackets in a text', success(`,"a":"${'[{\\"'.repeat(10_000)}"`)),
  ok('a megabyte', success(`,"a":"${'a'.repeat(1_000_000)}"`)),
  ok('__proto__ in data', success(',"__proto__":{"union_id":"u2"}')),
  ok('U+FFFD in UTF-8', success(',"a":"\ufffd"')),
  ok('device_info of words', success(',"device_info":["xx"]'), {}, [
    '"device_info" is an array with text in it that is not a JSON object',
  ]),
  ok('device_info of objects', success(',"device_info":[{"brand":"a"}]'), {}, [
    '"device_info" is an array with an object in it, not text',
  ]),
  ok('basic_info of PHP', success(',"basic_info":[]'), {}, [
    '"basic_info" is an array, not an object',
  ]),
];

const refusals: readonly OddAnswer[] = [
  no(
    'a refusal',
    refusal(40106),
    { status: '401 Unauthorized' },
    'the service answered 40106 "no"',
  ),
  no('a refusal under HTTP 200', refusal(40401), {}, 'the service answered 40401 "no"'),
  no('a code as text, refused', refusal('"40401"')),
  no('a code below zero', refusal(-6)),
  no('a code that nobody knows', refusal(71234)),
  no('code 0 without a user', refusal(0)),
  no('a refusal without a msg', '{"code":40401}', {}, 'the service answered 40401 without a msg'),
  no('another msg', '{"code":40401,"message":"gone"}', {}, 'answered 40401 "gone"'),
  no('data of null', refusal(40401, 'no', 'null')),
  no('data of a list', refusal(40401, 'no', '[]')),
  no('escapes', refusal(40401, '\\u001b[2J'), {}, '40401 "\\u001b[2J"'),
  no('a long msg', refusal(40401, 'x'.repeat(100_000)), {}, 'answered 40401 "xxx'),
  no('a refusal with a byte-order mark', `\ufeff${refusal(40401)}`),
  no('a refusal in gzip', refusal(40401), http(gzipSync(refusal(40401)), coded('gzip'))),
  no(
    'a refusal in GBK',
    refusal(40401, '张'),
    http(latin1(refusal(40401, zhang)), typed('gbk')),
    'the service answered 40401 "张"',
  ),
  no('a refusal in GBK that is not named', latin1(refusal(40401, zhang))),
  no('a refusal in GBK that is named UTF-8', latin1(refusal(40401, zhang)), typed('utf-8')),
  no('a refusal in ISO 8859-1', latin1(refusal(40401, '\xe9'))),
  ...[40101, 40102, 40103, 40104, 40301].map((code) =>
    refused('caller refused')(`${code}`, refusal(code)),
  ),
];

const throttles: readonly OddAnswer[] = [
  unread('42901', refusal(42901), { status: '429 Too Many Requests' }),
  unread('42901 under HTTP 200', refusal(42901)),
  unread('42901 under HTTP 503', refusal(42901), { status: '503 Busy' }),
  unread('42901 with a pause', refusal(42901), { headers: ['Retry-After: 0'] }),
  unread('another code under HTTP 429', refusal(7), { status: '429 No' }),
  unread('40801', refusal(40801), { status: '408 Timeout' }),
  strange('unread')('a page with HTTP 429', 'HTTP 429', html('429 Busy'), page('429 Busy')),
  strange('unread')(
    'HTTP 429 without a body',
    'HTTP 429',
    http('', { status: '429 Busy' }),
    '{"body":""}',
  ),
];

const faults: readonly OddAnswer[] = [
  fault('50001', refusal(50001), { status: '500 Internal Server Error' }),
  fault('50001 under HTTP 200', refusal(50001)),
  fault('50001 as text', refusal('"50001"')),
  fault('50301', refusal(50301), { status: '503 Unavailable' }),
  fault('another code under HTTP 500', refusal(999), { status: '500 No' }),
  fault('another code under HTTP 502', refusal(999), { status: '502 No' }),
  fault('40401 under HTTP 500', refusal(40401), { status: '500 No' }),
  fault('50001 in gzip', refusal(50001), http(gzipSync(refusal(50001)), coded('gzip'))),
  fault('50001 in GBK that is not named', latin1(refusal(50001, zhang))),
];

const gbkSuccess = latin1(success(`,"a":"${zhang}"`));
const gzipped = gzipSync(success());

const strangeAnswers: readonly OddAnswer[] = [
  ...['500 No', '502 Bad Gateway', '503 Busy', '504 Late'].map((status) =>
    open(`a page with HTTP ${status}`, `HTTP ${status.slice(0, 3)}`, html(status), page(status)),
  ),
  open(
    'a page with HTTP 200',
    'titled "Log in"',
    html('200 OK', 'Log in'),
    page('200 OK', 'Log in'),
  ),
  openText('no body', 'an empty body', ''),
  open(
    'HTTP 204',
    'an empty body',
    latin1('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n'),
    '{"body":""}',
  ),
  openText('white space', 'an empty body', ' \r\n'),
  openText('half an envelope', 'a body that is not JSON', success().slice(0, 30)),
  open('an envelope cut off', 'before its answer was', http(success()).subarray(0, -5), null),
  open('headers cut off', 'before its answer was', latin1('HTTP/1.1 200 OK\r\nContent-'), null),
  open('nothing', 'before its answer was', Buffer.alloc(0), null),
  openText('two envelopes', 'a body that is not JSON', success() + success()),
  openText('NDJSON', 'a body that is not JSON', `${success()}\n${success()}`),
  openText('JSONP', 'a body that is not JSON', `callback(${success()})`),
  openText('a warning of PHP', 'a body that is not JSON', `<br />\nNotice: x\n${success()}`),
  openText('XML', 'a body that is not JSON', '<code>200</code>'),
  openText('NaN', 'a body that is not JSON', success().replace('200', 'NaN')),
  openText('a list', 'JSON that is not an object', `[${success()}]`),
  openText('no code', 'without an integer "code"', '{"msg":"ok","data":{}}'),
  openText('a code of null', 'without an integer "code"', refusal('null')),
  openText('a code with a fraction', 'without an integer "code"', refusal('200.5')),
  openText('a code beyond all', 'without an integer "code"', refusal('1e400')),
  openText('a code beyond 2^53', 'without an integer "code"', refusal('12345678901234567890')),
  openText('a success without data', 'without an object "data"', '{"code":200,"msg":"ok"}'),
  openText('a success with a list', 'without an object "data"', refusal(200, 'ok', '[]')),
  openText('code twice', 'duplicate "code"', success().replace('{', '{"code":40103,')),
  openText('union_id twice', 'duplicate "union_id"', success(',"union\\u005fid":"u2"')),
  openText('a hundred and one levels', 'deeper than 100 levels', nested(101)),
  openBytes(
    'a success in GBK that is not named',
    'a success in a body that is not UTF-8',
    gbkSuccess,
  ),
  openBytes('an image', 'a body that is not UTF-8', Buffer.from('89504e470d0a1a0a', 'hex')),
  openBytes(
    'zstd',
    'encoded as "zstd", which is not gzip, deflate or br',
    Buffer.from('28b52ffd00', 'hex'),
    coded('zstd'),
  ),
  openText('gzip that is none', 'a body that is not "gzip", as it says', success(), coded('gzip')),
  openBytes(
    'gzip cut off',
    'a body that is not "gzip", as it says',
    gzipped.subarray(0, 30),
    coded('gzip'),
  ),
  openBytes('gzip that does not say so', 'a body that is not UTF-8', gzipped),
  ...(
    [
      ['gzip', bomb(gzipSync)],
      ['deflate', bomb(deflateSync)],
      ['br', bomb(brotliCompressSync)],
    ] as const
  ).map(([coding, body]) =>
    open(
      `a bomb of ${coding}`,
      'more than 2097152 bytes once it is decompressed',
      http(body, coded(coding)),
      cut(body),
    ),
  ),
  openBytes('six codings', 'encoded 6 times', gzipped, coded('gzip,gzip,gzip,gzip,gzip,gzip')),
  open('3 MiB', 'more than 2097152 bytes', http(' '.repeat(3 * 1024 * 1024)), null),
];

/** An envelope of a success for nobody, or of somebody else's success. */
const wrongData = (name: string, said: string, body: string): OddAnswer =>
  open(name, said, http(body), Buffer.from(body));
const wrongSuccesses: readonly OddAnswer[] = [
  wrongData('a success for nobody', 'without the union_id', refusal(200, 'ok')),
  wrongData('an empty union_id', 'without the union_id', success().replace('u1', '')),
  wrongData('a union_id with a fraction', 'without the union_id', success().replace('"u1"', '7.5')),
  wrongData(
    'a union_id of 22 decimals',
    'without the union_id',
    success().replace('"u1"', '0.1000000000000000000001'),
  ),
  wrongData('code 0 with a user', 'but it names the user', success().replace('200', '0')),
  openText(
    '"SUCCESS" with a user',
    'without an integer "code"',
    success().replace('200', '"SUCCESS"'),
  ),
  {
    name: 'a success for another user',
    bytes: http(success().replace('u1', '12345678901234567890')),
    read: {
      meaning: 'ok',
      said: [],
      stdout: Buffer.from(success().replace('u1', '12345678901234567890')),
    },
    passback: {
      meaning: 'open',
      said: 'for another user',
      stdout: Buffer.from(success().replace('u1', '12345678901234567890')),
    },
  },
];

const others: readonly OddAnswer[] = [
  ...['301 Moved', '302 Found', '307 Temporary Redirect'].map((status) =>
    elsewhere(
      `HTTP ${status}`,
      'pointing to "https://other.example/x"',
      http('', { status, headers: ['Location: https://other.example/x?sign=abc'] }),
      '{"body":""}',
    ),
  ),
  ...['400 Bad Request', '401 No', '403 Forbidden', '404 Not Found'].map((status) =>
    elsewhere(
      `a page with HTTP ${status}`,
      `HTTP ${status.slice(0, 3)}`,
      html(status),
      page(status),
    ),
  ),
  elsewhere('a banner of SSH', 'not HTTP', latin1('SSH-2.0-OpenSSH_9.6\r\n'), null),
];

export const oddAnswers: readonly OddAnswer[] = [
  ...successes,
  ...refusals,
  ...throttles,
  ...faults,
  ...strangeAnswers,
  ...wrongSuccesses,
  ...others,
];
