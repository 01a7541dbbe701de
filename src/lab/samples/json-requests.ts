import { decodePercent } from '../../core/support/percent-encoding.js';
import {
  type CapturedRequest,
  type Header,
  headerValue,
  originOf,
  withQuery,
  withScheme,
  withType,
} from './captured-request.js';
import { SampleError } from './sample-error.js';
import type { FoundRequest, SampleFormat } from './sample-format.js';
import { signedAddresses } from './signed-address.js';
import { Variables } from './variables.js';

/** A JSON object, or null: what a text from outside has at a place is not known. */
export type UnknownObject = Readonly<Record<string, unknown>>;

export function asObject(value: unknown): UnknownObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as UnknownObject)
    : null;
}

function asObjects(value: unknown): UnknownObject[] {
  return Array.isArray(value) ? value.map(asObject).filter((item) => item !== null) : [];
}

export function asText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** A value as text: nothing for null and for what is missing. */
export function scalarText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Pairs as the text of a query or a form. */
export function joinPairs(pairs: readonly Header[]): string {
  return pairs
    .map((pair) => pair.map((text) => encodeURIComponent(text.toWellFormed())).join('='))
    .join('&');
}

/**
 * Values as an object, whose values may be lists, or as a list of `{name, value}` or `{key,
 * value}`.
 */
export function namedValues(value: unknown): Header[] {
  if (!Array.isArray(value)) {
    const object = asObject(value) ?? {};
    if (Array.isArray(object.headers)) return namedValues(object.headers);
    return Object.entries(object).map(([name, text]) => [
      name,
      scalarText(Array.isArray(text) && text.length === 1 ? text[0] : text),
    ]);
  }
  return asObjects(value).flatMap((item): Header[] => {
    const name = asText(item.name) ?? asText(item.key);
    return name === null || name === '' || item.disabled === true
      ? []
      : [[name, scalarText(item.value)]];
  });
}

/** Maximum number of values that are looked at, and their depth. */
const maxValues = 200_000;
const maxDepth = 50;

/** Names of members, without letter case, separators and brackets. */
const names = {
  target:
    'url uri requesturi requesturl originalurl original fullurl full path rawpath target csuristem request requestline',
  query:
    'query querystring args search csuriquery rawquerystring params parameters requestparams form',
  method: 'method requestmethod httpmethod verb csmethod',
  host: 'host httphost authority domain cshost xhostheader',
  scheme: 'scheme protocol csprotocol',
  headers: 'headers requestheaders header',
  body: 'body requestbody payload postdata data',
};

/**
 * Members with an answer, where what is signed is not the request, and with headers, which are no
 * parameters.
 */
const apart =
  /^(?:res|resp|response|answer|reply|result|body_?response|response[_ ]?body|(?:request[_ ]?)?headers)$/i;

interface Node {
  readonly value: unknown;
  readonly outer: UnknownObject | null;
  readonly variables: Variables;
  readonly depth: number;
  /** Names of the folders and of the request, or its number. */
  readonly place: readonly string[];
}

/**
 * The requests in a JSON value, in their order: objects that describe one, signed or not; signed
 * parameters; texts that have a signed address.
 */
export function requestsInJson(json: unknown, signParam: string): FoundRequest[] {
  const requests: FoundRequest[] = [];
  const open: Node[] = [
    { value: json, outer: null, variables: new Variables(), depth: 0, place: [] },
  ];
  for (
    let node = open.pop(), count = 0;
    node !== undefined && count < maxValues;
    node = open.pop(), count++
  ) {
    const { value, outer, depth, place } = node;
    const words = wordsOf(place);
    if (typeof value === 'string') {
      requests.push(
        ...signedAddresses(value, signParam).map((request) => ({
          place: words,
          read: () => request,
        })),
      );
    }
    if (typeof value !== 'object' || value === null || depth > maxDepth) continue;
    const object = asObject(value);
    const variables = object === null ? node.variables : withVariables(node.variables, object);
    const read = object && requestIn(object, outer, signParam, variables);
    if (read) requests.push({ place: words, read, status: statusOf(value) });
    else {
      const around = object ?? outer;
      const inner = Object.entries(value).filter(([name]) => !apart.test(name));
      for (const [name, below] of inner.reverse()) {
        const next = Array.isArray(value) ? placeOf(below, Number(name)) : [];
        open.push({
          value: below,
          outer: around,
          variables,
          depth: depth + 1,
          place: [...place.slice(-20), ...next],
        });
      }
    }
  }
  return requests;
}

function statusOf(object: unknown): number | undefined {
  const { response, res } = asObject(object) ?? {};
  const found = [object, response, res].map((one) =>
    membersOf(asObject(one) ?? {})('status statuscode'),
  );
  return found.find((status) => typeof status === 'number');
}

/** A number alone, names in quotes. */
function wordsOf(place: readonly string[]): string | null {
  const words = place.join(' / ');
  return words === ''
    ? null
    : place.every((part) => /^\d+$/.test(part))
      ? words
      : JSON.stringify(words);
}

function placeOf(value: unknown, index: number): string[] {
  const name = asText(asObject(value)?.name);
  return [name === null ? `${index + 1}` : name.slice(0, 60)];
}

/**
 * Postman has `variable` on folders, Insomnia a flat list of resources with environments among
 * them.
 */
function withVariables(outer: Variables, { variable, resources }: UnknownObject): Variables {
  const own = [
    ...namedValues(Array.isArray(variable) ? variable : []),
    ...asObjects(resources).flatMap(({ _type, data }) =>
      _type === 'environment' ? namedValues(data) : [],
    ),
  ];
  return own.length === 0 ? outer : new Variables(new Map(own), outer);
}

type Members = (wanted: string) => unknown;

/** Computes once for an object, around however many others it is. */
function once<T>(compute: (object: UnknownObject) => T): (object: UnknownObject) => T {
  const known = new WeakMap<UnknownObject, { readonly result: T }>();
  return (object) => {
    const kept = known.get(object) ?? { result: compute(object) };
    known.set(object, kept);
    return kept.result;
  };
}

const membersOf = once((object): Members => {
  const members = new Map(
    Object.entries(object).map(([name, value]) => [
      name.toLowerCase().replace(/[ _()-]/g, ''),
      value,
    ]),
  );
  return (wanted) =>
    wanted
      .split(' ')
      .map((name) => members.get(name))
      .find((value) => value !== undefined && value !== null && value !== '');
});

const maxHeaders = 500;

/** Headers of a request, or of what is around many. */
const headersIn = once((headers) => namedValues(headers).slice(0, maxHeaders));

/**
 * Reads the request that an object describes; null where it describes none. What it lacks may be in
 * the object around it, or in its `request`.
 */
function requestIn(
  object: UnknownObject,
  outer: UnknownObject | null,
  signParam: string,
  variables: Variables,
): (() => CapturedRequest) | null {
  const look = (one: UnknownObject | null): Members =>
    one === null ? () => undefined : membersOf(one);
  const [own, inner, around] = [look(object), look(asObject(object.request)), look(outer)];
  const isBare = typeof object[signParam] === 'string' && addressOf(own(names.target)) === null;
  const members: Members = (wanted) => (isBare ? undefined : (own(wanted) ?? inner(wanted)));
  const anywhere: Members = (wanted) => members(wanted) ?? around(wanted);
  const targets = (isBare ? [around] : [own, inner]).map((find) => find(names.target));
  const target = targets.find((one) => addressOf(one) !== null);
  const address = addressOf(target);
  if (address === null && !isBare) return null;
  const given = anywhere(names.headers);
  const headers =
    typeof given === 'object' && given !== null ? headersIn(given as UnknownObject) : [];
  const query = isBare ? object : members(names.query);
  const pairs = (asText(query) ?? joinPairs(namedValues(query))).replace(/^\?/, '');
  const sent = members(names.body);
  const isEncoded = members('isbase64encoded') === true && typeof sent === 'string';
  const { body, shown, type, isApart } = bodyOf(
    isEncoded ? Buffer.from(sent, 'base64').toString() : sent,
  );
  const method = asText(anywhere(names.method)) ?? methodIn(target);
  const isTold = method !== null && asObject(members(names.headers)) !== null;
  const isSigned =
    isBare ||
    hasParam(address ?? '', signParam) ||
    hasParam(pairs, signParam) ||
    headerValue(headers, signParam) !== undefined ||
    (body?.includes(signParam) ?? false) ||
    shown.some(([name]) => name === signParam);
  const isRequest = isTold || (method !== null && /^(?:https?:|\{\{)/.test(address ?? ''));
  if (!isSigned && !isRequest) return null;
  return () => {
    if (isApart) {
      throw new SampleError(
        'a body of several parts, or from a file, cannot be read',
        'Write the request as a sample file, with the text of its parameters.',
      );
    }
    const fill = (text: string) => variables.fill(text);
    const filled = fill(address ?? '');
    const whole = /^(?:\/|$)/.test(filled) ? filled : withScheme(filled);
    const url = whole.includes('?') && !isBare ? whole : withQuery(whole, fill(pairs));
    const host = asText(anywhere(names.host)) ?? headerValue(headers, 'host');
    const scheme = /^(?:https?)$/i.exec(asText(members(names.scheme)) ?? '')?.[0];
    const port = scheme !== undefined && typeof object.port === 'number' ? `:${object.port}` : '';
    const isPath = url.startsWith('/') && host;
    return {
      method: /^[A-Za-z]{3,7}$/.test(method ?? '')
        ? (method ?? '').toUpperCase()
        : body === null && shown.length === 0
          ? 'GET'
          : 'POST',
      url: isPath ? `${originOf(`${host}${port}`, scheme)}${url}` : url,
      headers: withType(type, headers).map(([name, value]): Header => [name, fill(value)]),
      body: body && fill(body),
      params: shown,
      isSchemeGuessed: Boolean(isPath && scheme === undefined),
    };
  };
}

function hasParam(text: string, name: string): boolean {
  return text.split(/[?&]/).some((pair) => pair.startsWith(`${name}=`));
}

/**
 * An address, a path, or that of a request line; Postman has a URL in parts, with variables of its
 * own.
 */
function addressOf(value: unknown): string | null {
  const url = asObject(value);
  if (url !== null) {
    const { raw, protocol, host, port, path, query, variable } = url;
    if (asText(raw) === null && !Array.isArray(host)) return null;
    const parts = (list: unknown, mark: string) =>
      Array.isArray(list) ? list.map(scalarText).join(mark) : scalarText(list);
    const built = `${protocol ? `${protocol}://` : ''}${parts(host, '.')}${port ? `:${port}` : ''}/${parts(path, '/')}`;
    const own = new Map(namedValues(Array.isArray(variable) ? variable : []));
    const pairs = namedValues(query ?? []).map((pair) => pair.join('='));
    const whole = asText(raw) ?? withQuery(built, pairs.join('&'));
    return whole.replace(/\/:([\w-]+)/g, (found, name: string) =>
      own.has(name) ? `/${own.get(name)}` : found,
    );
  }
  const text = asText(value)?.slice(0, 100_000) ?? '';
  return (
    /^(?:[A-Z]{3,7} )?((?:https?:\/\/|\/|\{\{[^{}]*\}\})\S*)(?: HTTP\/[\d.]+)?$/.exec(text)?.[1] ??
    null
  );
}

function methodIn(target: unknown): string | null {
  return /^[A-Z]{3,7}(?= \S)/.exec(asText(target) ?? '')?.[0] ?? null;
}

/**
 * A body as text, or as tools have it: its text, or the fields of a form; `shown` are the members
 * of one that was parsed.
 */
function bodyOf(value: unknown) {
  const {
    mimeType,
    mode,
    text,
    raw,
    params,
    urlencoded,
    form: listed,
    options,
  } = asObject(value) ?? {};
  const whole = [value, text, raw].map(asText).find(Boolean) ?? null;
  const fields = namedValues(params ?? urlencoded ?? (Array.isArray(listed) ? listed : []));
  const isShaped = [mimeType, mode, text, raw, params, urlencoded].some(
    (member) => member !== undefined,
  );
  const isJson = asObject(asObject(options)?.raw)?.language === 'json';
  const form = urlencoded === undefined ? null : 'application/x-www-form-urlencoded';
  return {
    body:
      whole ??
      (fields.length === 0
        ? null
        : joinPairs(fields.map((pair) => [decode(pair[0]), decode(pair[1])]))),
    shown: isShaped || Array.isArray(value) ? [] : namedValues(value),
    type: asText(mimeType) ?? (isJson ? 'application/json' : form),
    isApart: mode === 'formdata' || mode === 'file' || mimeType === 'multipart/form-data',
  };
}

/** Chrome saves fields as they are sent, others decoded. */
function decode(text: string): string {
  return /%[\da-f]{2}/i.test(text) ? decodePercent(text.replaceAll('+', ' ')) : text;
}

/**
 * JSON of any tool: what it has of a request is recognized by the names of members, not by the
 * tool.
 */
export const jsonRequests: SampleFormat = {
  name: 'JSON of a HAR file, a tool or a log',
  from: 'browsers, proxies, Postman and its SDK (v2.0, v2.1), Insomnia; nginx, pino, logback, load balancers; axios errors',
  find: ({ json, signParam }) =>
    (json === undefined ? [] : requestsInJson(json, signParam)).map((request) => ({
      ...request,
      place: request.place === null ? 'a request' : `request ${request.place}`,
    })),
};
