import { encodePairs } from '../../core/support/percent-encoding.js';
import { type CapturedRequest, type Header, withQuery } from './captured-request.js';
import { asObject, asObjects, asText, namedValues, type UnknownObject } from './json-members.js';
import { SampleError } from './sample-error.js';
import type { FoundRequest, SampleFormat } from './sample-format.js';
import { Variables } from './variables.js';

export const postman: SampleFormat = {
  name: 'a Postman collection',
  from: 'an export, version 2.1; variables have the values of the collection and its folders',
  find({ json }) {
    const collection = asObject(asObject(json)?.collection) ?? asObject(json);
    if (collection === null || asObject(collection.info) === null) return [];
    return requestsIn(collection, new Variables(), [], 0);
  },
};

/** Maximum depth of folders. */
const maxDepth = 50;

/** The requests of a collection or a folder, in their order. */
function requestsIn(
  folder: UnknownObject,
  outer: Variables,
  path: readonly string[],
  depth: number,
): FoundRequest[] {
  const own = namedValues(folder.variable);
  const variables = own.length === 0 ? outer : new Variables(new Map(own), outer);
  return asObjects(folder.item).flatMap((item, index): FoundRequest[] => {
    const place = [...path, asText(item.name)?.slice(0, 60) ?? `${index + 1}`];
    if (item.request === undefined) {
      return depth < maxDepth ? requestsIn(item, variables, place, depth + 1) : [];
    }
    const sent = asText(item.request) === null ? asObject(item.request) : { url: item.request };
    if (sent === null) return [];
    return [
      {
        place: `request ${JSON.stringify(place.join(' / '))}`,
        read: () => requestOf(sent, variables),
      },
    ];
  });
}

/** @throws SampleError for a variable without a value, and for a body that is no form */
function requestOf(sent: UnknownObject, variables: Variables): CapturedRequest {
  const fill = (text: string) => variables.fill(text);
  return {
    method: fill(asText(sent.method) ?? 'GET').toUpperCase(),
    url: urlOf(sent.url, fill),
    headers: headersOf(sent.header, variables),
    body: bodyOf(asObject(sent.body), fill),
  };
}

/** A URL as a text, or in parts; its path may have variables of its own: `/:operation`. */
function urlOf(url: unknown, fill: (text: string) => string): string {
  const parts = asObject(url);
  const [base = '', ...query] = (asText(url) ?? asText(parts?.raw) ?? joinedParts(parts)).split(
    '?',
  );
  const segments = new Map(namedValues(parts?.variable));
  const address = fill(
    base.replace(/\/:([\w-]+)/g, (whole, name: string) => {
      const value = segments.get(name);
      return value === undefined ? whole : `/${value}`;
    }),
  );
  const whole = /^\w+:\/\//.test(address) ? address : `http://${address}`;
  if (!Array.isArray(parts?.query)) return withQuery(whole, fill(query.join('?')));
  const pairs = namedValues(parts.query).map(
    ([name, value]) => `${inQuery(fill(name)).replaceAll('=', '%3D')}=${inQuery(fill(value))}`,
  );
  return withQuery(whole, pairs.join('&'));
}

/** An address of parts: some programs that write collections leave out the whole. */
function joinedParts(parts: UnknownObject | null): string {
  const textOf = (list: unknown, mark: string) =>
    Array.isArray(list) ? list.map(String).join(mark) : (asText(list) ?? '');
  const { protocol, host, port, path } = parts ?? {};
  const scheme = asText(protocol) === null ? '' : `${protocol}://`;
  const colon = asText(port) === null ? '' : `:${port}`;
  return `${scheme}${textOf(host, '.')}${colon}/${textOf(path, '/')}`;
}

/** Postman sends a name or a value of the query as it stands, but for the marks that end it. */
function inQuery(text: string): string {
  return text.replaceAll('&', '%26').replaceAll('#', '%23');
}

/** Headers are not signed: one with a variable that has no value is left out. */
function headersOf(list: unknown, variables: Variables): Header[] {
  return namedValues(list)
    .filter((header) => header.every((text) => variables.has(text)))
    .map(([name, value]): Header => [variables.fill(name), variables.fill(value)]);
}

function bodyOf(body: UnknownObject | null, fill: (text: string) => string): string | null {
  const mode = asText(body?.mode);
  if (body === null || mode === null) return null;
  if (mode === 'raw') return fill(asText(body.raw) ?? '') || null;
  if (mode === 'urlencoded') {
    const fields = namedValues(body.urlencoded);
    return fields.length === 0
      ? null
      : encodePairs(fields.map(([name, value]) => [fill(name), fill(value)] as const));
  }
  throw new SampleError(
    `a body of the mode ${JSON.stringify(mode)} cannot be read`,
    'A passback sends a form (§4.2).',
  );
}
