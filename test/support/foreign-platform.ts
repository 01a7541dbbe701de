import type { IncomingHttpHeaders } from 'node:http';
import { httpServer } from './raw-server.js';

/** A body as bytes, with the `Content-Type` that it is sent with. */
type Reply = readonly [body: string | Buffer, contentType?: string];

const success = (data: string) => [`{"code":200,"msg":"ok","data":${data}}`] as const;

/** The answers to a read by its code. The service of this project gives none of them. */
const replies: Readonly<Record<string, Reply>> = {
  // PHP writes an empty object as a list.
  empty: success('{"union_id":"u1","basic_info":[],"extension_info":[],"login_device_info":[]}'),
  // Java and Go write what is not there as null.
  nulls: success(
    '{"union_id":"u1","basic_info":null,"extension_info":null,"login_device_info":null}',
  ),
  numbered: success('{"union_id":90071992547409931,"name":"Ming"}'),
  named: success(
    '{"union_id":"u1","mobile":null,"level":3,"vip":true,"tags":["a"],"more":{"a":1},"name":"Ming"}',
  ),
  devices: success('{"union_id":"u1","device_info":[{"brand":"acme"}],"location_info":""}'),
  table: success('{"union_id":"u1","login_device_info":{"brand":"acme"},"extension_info":"x"}'),
  numbers: success(
    '{"union_id":"u1","basic_info":{"mobile":13800138000,"chat_sex":1,"id_card":null},"extension_info":{"age":28},' +
      '"login_device_info":[{"brand":"acme","os_version":14,"uuid":null},"x"]}',
  ),
  exact: success(
    '{"union_id":12345678901234567890,"id_card":110101199003074532,"n":{"order":9007199254740993,"list":[1,' +
      '-9007199254740993,{"half":0.30000000000000004000001}]},"same":[9007199254740991,0.1,1.0,1.50,1e5,-0],"huge":1E400}',
  ),
  'many-exact': success(
    `{"union_id":"u1","orders":{"13800138000":1e999,${Array.from({ length: 20 }, (_, n) => `"o${n}":1e999`)}}}`,
  ),
  // Gateways before a platform have envelopes of their own.
  gateway: ['{"code":40001,"message":"bad sign \\u001b[31m","request_id":"r-18"}'],
  telling: [
    '{"code":40106,"msg":"no user 13800138000 of ming@mail.example, /x?code=secret-code&sign=0123456789"}',
  ],
  unexplained: ['{"code":1001,"msg":null,"data":[]}'],
  digits: ['{"code":"40106","msg":"code expired"}'],
  // Successes with another code.
  zero: ['{"code":0,"msg":"success","data":{"union_id":"u1","mobile":"13800138000"}}'],
  bare: ['{"union_id":"u1","city":"Lhasa","mobile":"13800138000"}'],
  errcode: ['{"errcode":40001,"errmsg":"invalid credential of 13800138000","nickname":"Ming"}'],
  record: ['{"code":"A001","msg":"no user","mobile":"13800138000","hometown":"Lhasa"}'],
  letters: [
    '{"code":"A001","message":"bad sign","error":"SIGN_INVALID","details":{"mobile":"13800138000"}}',
  ],
  nested: ['{"error":{"code":4011,"message":"no route"},"trace_id":"t-1"}'],
  page: [
    '<html><body>Not here: /x?code=secret-code&amp;sign=0123456789&mobile=13800138000</body>\u001b[31m',
    'text/html',
  ],
  // 陆 is C2 BD, which is valid in UTF-8 too.
  gbk: [
    Buffer.concat([
      Buffer.from('{"code":200,"msg":"ok","data":{"union_id":"u1","basic_info":{"chat_nickname":"'),
      Buffer.from('c2bd', 'hex'),
      Buffer.from('"}}}'),
    ]),
    'application/json; charset="GBK"',
  ],
  'utf8-as-gbk': [
    Buffer.from(
      '{"code":200,"msg":"ok","data":{"union_id":"u1","basic_info":{"chat_nickname":"张三丰"}}}',
    ),
    'application/json;charset=gbk',
  ],
  blanks: success(
    '{"union_id":"u1","basic_info":{"chat_nickname":"  e\u0301 ","chat_sex":"a b\u3000"}}',
  ),
  unreadable: [
    Buffer.from('{"code":1,"msg":"\xff\xff"}', 'latin1'),
    'application/json; charset=gbk',
  ],
  traced: [
    '{"code":1001,"msg":"bad sign","data":"expected sign over a=1","request_id":"r-18","ts":1.50}',
  ],
};

/** A request as the platform received it. */
interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly parameters: URLSearchParams;
}

/**
 * A platform that has its own ideas of the contract: HTTP 200 for everything, result codes of its
 * own, `[]`, `null` and numbers in its data. A read is answered by its code; a passback always
 * succeeds.
 */
export async function foreignPlatform() {
  const requests: Received[] = [];
  const server = await httpServer(({ method, query, body: form, headers }, response) => {
    const parameters = new URLSearchParams(`${query}&${form}`);
    requests.push({ headers, parameters });
    const code = parameters.get('code') ?? '';
    const [written] = success(`{"union_id":"${parameters.get('union_id') ?? 'u1'}"}`);
    const [body, type = 'application/json'] =
      method === 'PUT' ? [written] : (replies[code] ?? ['']);
    response.writeHead(200, { 'content-type': type }).end(body);
  });
  return { ...server, requests };
}
