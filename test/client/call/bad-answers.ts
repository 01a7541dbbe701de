import { brotliCompressSync, gzipSync } from 'node:zlib';
import {
  answerOf,
  changedAndClosed,
  dripping,
  endless,
  type Fault,
  instead,
  insteadAndClosed,
  toBytes,
} from '../../support/fault-proxy.js';

export const ok = '{"code":200,"msg":"ok","data":{"union_id":"u1"}}';

/** An envelope of so many levels, itself and its data among them. */
const nestedTo = (levels: number) =>
  ok.replace('"u1"', `"u1","deep":${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}`);

const chunkedHead = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

function chunked(text: string): string {
  return `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
}

const after = (bytes: number) =>
  (async ({ client, forward }) => {
    const answer = toBytes(await forward());
    client.write(answer.subarray(0, bytes), () => setTimeout(() => client.resetAndDestroy(), 10));
  }) satisfies Fault;

const half = changedAndClosed(({ head, body }) => head + body.toString().slice(0, 20));
const body = (text: string | Buffer, ...headers: string[]) => instead(answerOf(text, headers));
const encoded = (name: string, bytes: Buffer) => body(bytes, `Content-Encoding: ${name}`);
const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024));
/** An envelope that was compressed so many times. */
const gzipped = (times: number): Buffer =>
  times === 0 ? Buffer.from(ok) : gzipSync(gzipped(times - 1));
const raw = (text: string) => insteadAndClosed(Buffer.from(text, 'latin1'));
const envelope = (members: string) => body(`{${members}}`);

type NamedFault = readonly [name: string, fault: Fault];

/**
 * What a service, or what stands before it, may do to a request, by the reason that the client
 * should give.
 */
export const faults: Readonly<
  Record<'reset' | 'timeout' | 'not-envelope' | 'wrong-data' | 'any', readonly NamedFault[]>
> = {
  reset: [
    ['a reset before the request was passed on', ({ client }) => client.resetAndDestroy()],
    ['a reset once the service has acted', after(0)],
    ['a reset in the status line', after(8)],
    ['a reset in the headers', after(60)],
    ['a reset in the body', after(-5)],
    ['a close before the request was passed on', ({ client }) => client.end()],
    ['a close once the service has acted', changedAndClosed(() => '')],
    ['headers cut off', changedAndClosed(({ head }) => head.slice(0, 40))],
    ['a body cut off', half],
    ['a chunked body cut off', raw(`${chunkedHead}40\r\n${ok}`)],
    ['a chunked body without its last chunk', raw(chunked(ok).slice(0, -5))],
  ],
  timeout: [
    ['silence', () => {}],
    ['silence once the service has acted', async ({ forward }) => forward()],
    ['one byte at a time', dripping(1, 40)],
    ['headers, then silence', instead('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n')],
    ['half a header, then silence', instead('HTTP/1.1 200 OK\r\nContent-')],
    ['a status line without end', endless('HTTP/1.1 200 ', 'a'.repeat(65_536))],
    ['a chunked body that stops', instead(`${chunkedHead}5\r\n{"c`)],
  ],
  'not-envelope': [
    ['a gzip bomb in gzip', encoded('gzip, gzip', gzipSync(bomb))],
    ['the codings in the wrong order', encoded('br, gzip', brotliCompressSync(gzipSync(ok)))],
    ['an encoding that nobody knows', encoded('x-\u00e9', Buffer.from(ok))],
    ['304', instead('HTTP/1.1 304 Not Modified\r\n\r\n')],
    ['an envelope and more', body(`${ok}\n<!-- served by b -->`)],
    ['an anti-hijacking prefix', body(`)]}',\n${ok}`)],
    ['a form', body('code=200&msg=ok&data=')],
    ...['[]', 'null', 'true', '200', '"ok"', `[${ok}]`].map(
      (json) => [`JSON ${json}`, body(json)] as const,
    ),
    ['Infinity', envelope('"code":Infinity,"msg":"ok","data":{}')],
    ['names in capitals', envelope('"Code":200,"Msg":"ok","Data":{}')],
    ['data that is text', envelope('"code":200,"msg":"ok","data":"{}"')],
    ['data of null', envelope('"code":200,"msg":"ok","data":null')],
    ['code twice, one escaped', envelope('"code":40103,"msg":"ok","data":{},"c\\u006fde":200')],
    ['data twice', envelope('"code":200,"data":{"union_id":"a"},"data":{"union_id":"b"}')],
    ['all of it in __proto__', envelope(`"__proto__":${ok}`)],
    ['single quotes', body("{'code':200,'msg':'ok','data':{}}")],
    ['a comma too many', envelope('"code":200,"msg":"ok","data":{},')],
    ['a comment', envelope('"code":200,/* */"msg":"ok","data":{}')],
    ['a line break in a text', envelope('"code":200,"msg":"o\nk","data":{}')],
    ['a list without end', body('['.repeat(200_000))],
    ['lists in lists as long as an answer may be', body('['.repeat(2 * 1024 * 1024))],
    ['data a million levels deep', body(nestedTo(1e6))],
    ['a refusal ten thousand levels deep', body(nestedTo(1e4).replace('200', '40401'))],
    [
      'UTF-8 cut off',
      body(Buffer.concat([Buffer.from('{"code":200,"msg":"'), Buffer.from([0xe5, 0xbc])])),
    ],
    ['an overlong slash', body(Buffer.from('{"code":200,"msg":"\xc0\xaf"}', 'latin1'))],
    ['half a surrogate pair', body(Buffer.from('{"code":200,"msg":"\xed\xa0\x80"}', 'latin1'))],
    ['UTF-16', body(Buffer.from(`\ufeff${ok}`, 'utf16le'))],
    ['a length of 100 MiB', raw('HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n{')],
    ['an alert of TLS', raw('\x15\x03\x01\x00\x02\x02\x46')],
    ['HTTP/0.9', raw(ok)],
    ['HTTP/2', raw('HTTP/2 200 OK\r\nContent-Length: 0\r\n\r\n')],
    ['a status of words', raw(`HTTP/1.1 OK OK\r\n\r\n${ok}`)],
    ['a header without a colon', raw(`HTTP/1.1 200 OK\r\nServer\r\n\r\n${ok}`)],
    ['a blank before a colon', raw(`HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n${ok}`)],
    ['U+0000 in a header', raw(`HTTP/1.1 200 OK\r\nServer: a\0b\r\n\r\n${ok}`)],
    ['a length of words', raw(`HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n${ok}`)],
    ['a length below zero', raw(`HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n${ok}`)],
    ['a chunk of no size', raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n')],
    ['a chunk beyond all', raw(`${chunkedHead}ffffffffffffffffff\r\n`)],
    ['headers without end', endless('HTTP/1.1 200 OK\r\n', `X: ${'a'.repeat(1_000)}\r\n`)],
    ['one header without end', endless('HTTP/1.1 200 OK\r\nX: ', 'a'.repeat(65_536))],
    ['a body without end', endless('HTTP/1.1 200 OK\r\n\r\n', Buffer.alloc(65_536, '{'))],
    [
      'chunks without end',
      endless(
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
        `10000\r\n${'['.repeat(65_536)}\r\n`,
      ),
    ],
  ],
  'wrong-data': [
    ['a union_id deeper down', body(ok.replace(/"data":.*/, '"data":{"a":{"union_id":"u1"}}}'))],
  ],
  /**
   * undici decides which it is: of what is without end it counts some, and leaves others to the
   * deadline.
   */
  any: [
    [
      'a length beyond all',
      raw(`HTTP/1.1 200 OK\r\nContent-Length: ${'9'.repeat(20)}\r\n\r\n${ok}`),
    ],
    ['two lengths', raw(`HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 48\r\n\r\n${ok}`)],
    ['a length and chunks', raw(chunked(ok).replace('\r\n', '\r\nContent-Length: 5\r\n'))],
    [
      'another protocol',
      raw('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    ],
    ['a size of a chunk without end', endless(chunkedHead, '0'.repeat(65_536))],
    ['an extension of a chunk without end', endless(`${chunkedHead}1;`, 'a'.repeat(65_536))],
    ['trailers without end', endless(`${chunkedHead}0\r\n`, `X: ${'a'.repeat(1_000)}\r\n`)],
    ['early hints without end', endless('', 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n')],
    ['nothing but continue', endless('', 'HTTP/1.1 100 Continue\r\n\r\n')],
  ],
};

const twoCodings = ['Content-Encoding: gzip', 'Content-Encoding: br'];

/** What is unusual, and an envelope all the same. */
export const oddities: readonly NamedFault[] = [
  ['a msg that is no text', body(ok.replace('"ok"', '0'))],
  ['another charset by its content type', body(ok, 'Content-Type: application/json; charset=gbk')],
  ['the same name deeper down', body(ok.replace('"u1"', '"u1","code":1,"data":{"msg":"x"}'))],
  ['no words behind the status', raw(`HTTP/1.1 200\r\nContent-Length: ${ok.length}\r\n\r\n${ok}`)],
  ['HTTP/1.1 that ends by closing', raw(`HTTP/1.1 200 OK\r\n\r\n${ok}`)],
  ['a hundred headers', body(ok, ...Array.from({ length: 100 }, (_, index) => `X-${index}: a`))],
  ['a few bytes at a time', dripping(7, 0)],
  ['brotli of gzip, in two headers', body(brotliCompressSync(gzipSync(ok)), ...twoCodings)],
  ['gzip five times', encoded(Array(5).fill('gzip').join(), gzipped(5))],
];
