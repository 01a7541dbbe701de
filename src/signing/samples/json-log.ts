import { type CapturedRequest, type Header, headerValue } from './captured-request.js';
import { asObject, asText, joinPairs, namedValues, scalarText, type UnknownObject } from './json-value.js';
import type { SampleFormat } from './sample-format.js';
import { signedAddresses } from './signed-address.js';

/** Records of a log as JSON: one, a list, or one a line. */
export const jsonLog: SampleFormat = {
  name: 'records of a JSON log',
  from: 'nginx, pino, Winston, logback, Elastic, cloud load balancers',
  find({ json, signParam }) {
    const records = Array.isArray(json) ? json : [json];
    return records.flatMap((record, index) => {
      const place = records.length === 1 ? 'a record' : `record ${index + 1}`;
      return requestsInJson(record, signParam).map((request) => ({ place, read: () => request }));
    });
  },
};

/** Maximum number of values that are looked at. */
const mostValues = 200_000;

/** Names of members, without letter case and separators. */
const names = {
  target: 'url uri requesturi requesturl originalurl original fullurl full path target request requestline',
  query: 'query querystring args search rawquerystring params parameters requestparams form',
  method: 'method requestmethod httpmethod verb',
  host: 'host httphost authority domain',
  headers: 'headers requestheaders header',
  body: 'body requestbody payload postdata',
};

/**
 * The signed requests in a JSON value: objects that describe one, or have its parameters; texts that have its address.
 */
export function requestsInJson(json: unknown, signParam: string): CapturedRequest[] {
  const requests: CapturedRequest[] = [];
  const open: { readonly value: unknown; readonly outer: UnknownObject | null }[] = [
    { value: json, outer: null },
  ];
  for (
    let node = open.pop(), count = 0;
    node !== undefined && count < mostValues;
    node = open.pop(), count++
  ) {
    const { value, outer } = node;
    if (typeof value === 'string') requests.push(...signedAddresses(value, signParam));
    const object = asObject(value);
    const request = object && requestOf(object, outer, signParam);
    if (request !== null && request !== undefined) requests.push(request);
    else if (typeof value === 'object' && value !== null) {
      for (const inner of Object.values(value).reverse()) open.push({ value: inner, outer: object ?? outer });
    }
  }
  return requests;
}

/** The request that an object describes, if it is signed; what it lacks may be in the object around it. */
function requestOf(
  object: UnknownObject,
  outer: UnknownObject | null,
  signParam: string,
): CapturedRequest | null {
  const members = membersOf(object);
  const around = membersOf(outer ?? {});
  const first = (map: ReadonlyMap<string, unknown>, wanted: string) =>
    wanted
      .split(' ')
      .map((name) => map.get(name))
      .find((value) => value !== undefined && value !== null && value !== '');
  const either = (wanted: string) => first(members, wanted) ?? first(around, wanted);

  const headers = headersOf(either(names.headers));
  const body = asText(first(members, names.body));
  const isBare = typeof object[signParam] === 'string';
  const query = isBare ? object : first(members, names.query);
  const target = targetOf(isBare ? first(around, names.target) : first(members, names.target));
  const pairs = queryOf(query);
  if (!isBare && target === null) return null;
  const address =
    target === null || pairs === '' || target.includes('?') ? (target ?? `?${pairs}`) : `${target}?${pairs}`;
  const isSigned =
    address.split(/[?&]/).some((pair) => pair.startsWith(`${signParam}=`)) ||
    headerValue(headers, signParam) !== undefined ||
    (body?.includes(signParam) ?? false);
  if (!isSigned) return null;
  const host = asText(either(names.host)) ?? headerValue(headers, 'host');
  const method =
    asText(either(names.method)) ?? /^[A-Z]{3,7}(?= \S)/.exec(asText(object.request) ?? '')?.[0] ?? '';
  return {
    method: /^[A-Za-z]{3,7}$/.test(method) ? method.toUpperCase() : body === null ? 'GET' : 'POST',
    url: address.startsWith('/') && host ? `https://${host}${address}` : address,
    headers,
    body,
  };
}

function membersOf(object: UnknownObject): Map<string, unknown> {
  return new Map(
    Object.entries(object).map(([name, value]) => [name.toLowerCase().replace(/[_-]/g, ''), value]),
  );
}

/** An address, a path, or that of a request line. */
function targetOf(value: unknown): string | null {
  return /^(?:[A-Z]{3,7} )?((?:https?:\/\/|\/)\S*)(?: HTTP\/[\d.]+)?$/.exec(asText(value) ?? '')?.[1] ?? null;
}

function queryOf(value: unknown): string {
  if (typeof value === 'string') return value.replace(/^\?/, '');
  return joinPairs(Object.entries(asObject(value) ?? {}).map(([name, text]) => [name, scalarText(text)]));
}

/** Headers as an object, whose values may be lists, or as a list of `{name, value}`. */
function headersOf(value: unknown): Header[] {
  if (Array.isArray(value)) return namedValues(value);
  return Object.entries(asObject(value) ?? {}).map(([name, text]) => [
    name,
    scalarText(Array.isArray(text) ? text[0] : text),
  ]);
}
