import { encodePairs } from '../../core/support/percent-encoding.js';
import {
  type CapturedRequest,
  type Header,
  SampleError,
  withQuery,
  withScheme,
} from './captured-request.js';
import { asObject, asObjects, asText, namedValues, type UnknownObject } from './json-members.js';
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
  if (depth > maxDepth) return [];
  const variables = variablesOf(folder, outer);
  return asObjects(folder.item).flatMap((item, index): FoundRequest[] => {
    const itemPath = [...path, asText(item.name)?.slice(0, 60) ?? `${index + 1}`];
    if (item.request === undefined) return requestsIn(item, variables, itemPath, depth + 1);
    const sent = sentBy(item.request);
    if (sent === null) return [];
    return [
      {
        location: `request ${JSON.stringify(itemPath.join(' / '))}`,
        read: () => requestOf(sent, variables),
      },
    ];
  });
}

function variablesOf(folder: UnknownObject, outer: Variables): Variables {
  const values = namedValues(folder.variable);
  if (values.length === 0) return outer;
  return new Variables(new Map(values), outer);
}

/** The members of a request; a text is its URL. */
function sentBy(request: unknown): UnknownObject | null {
  if (typeof request === 'string') return { url: request };
  return asObject(request);
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
  const parts = asObject(url) ?? {};
  const written = asText(url) ?? asText(parts.raw) ?? joinedParts(parts);
  const [base = '', ...query] = written.split('?');
  const address = withScheme(fill(withSegments(base, parts)));
  if (!Array.isArray(parts.query)) return withQuery(address, fill(query.join('?')));
  const pairs = namedValues(parts.query).map(
    ([name, value]) => `${inQuery(fill(name)).replaceAll('=', '%3D')}=${inQuery(fill(value))}`,
  );
  return withQuery(address, pairs.join('&'));
}

/** An address with the values of the variables in its path; one without a value stays. */
function withSegments(address: string, { variable }: UnknownObject): string {
  const segments = new Map(namedValues(variable));
  return address.replace(/\/:([\w-]+)/g, (segment, name: string) => {
    const value = segments.get(name);
    if (value === undefined) return segment;
    return `/${value}`;
  });
}

/** An address of parts: some programs that write collections leave out the whole. */
function joinedParts({ protocol, host, port, path }: UnknownObject): string {
  let origin = joined(host, '.');
  if (asText(protocol) !== null) origin = `${protocol}://${origin}`;
  if (asText(port) !== null) origin = `${origin}:${port}`;
  return `${origin}/${joined(path, '/')}`;
}

/** A part of an address: a text, or a list of its pieces. */
function joined(part: unknown, mark: string): string {
  if (Array.isArray(part)) return part.map(String).join(mark);
  return asText(part) ?? '';
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

/** @throws SampleError for a body that is no form */
function bodyOf(body: UnknownObject | null, fill: (text: string) => string): string | null {
  const mode = asText(body?.mode);
  if (body === null || mode === null) return null;
  if (mode === 'raw') return fill(asText(body.raw) ?? '') || null;
  if (mode === 'urlencoded') {
    const fields = namedValues(body.urlencoded);
    if (fields.length === 0) return null;
    return encodePairs(fields.map(([name, value]) => [fill(name), fill(value)]));
  }
  throw new SampleError(
    `a body of the mode ${JSON.stringify(mode)} cannot be read`,
    'A passback sends a form (§4.2).',
  );
}
