import { type CapturedRequest, type Header, SampleError, withScheme, withType } from './captured-request.js';
import {
  asObject,
  asObjects,
  asText,
  joinPairs,
  namedValues,
  replaceVariables,
  type UnknownObject,
  type VariableValues,
} from './json-value.js';
import type { FoundRequest, SampleFormat } from './sample-format.js';

const hint =
  'A collection has no values of environments and scripts. In Postman take "Code snippet", cURL: it has the values.';

/** Folders below folders are followed this deep. */
const mostFolders = 20;

/** A collection of Postman, format 2: requests in folders, with variables. */
export const postman: SampleFormat = {
  name: 'a Postman collection',
  from: 'Postman, export as v2.0 or v2.1',
  find({ json }) {
    const collection = asObject(json);
    if (collection === null || !Array.isArray(collection.item)) return [];
    const requests: FoundRequest[] = [];
    const open: Node[] = [{ item: collection, folders: [], variables: new Map<string, string>() }];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      const { item, folders } = node;
      const variables = within(node.variables, namedValues(item.variable));
      const request = typeof item.request === 'string' ? { url: item.request } : asObject(item.request);
      if (request !== null) {
        requests.push({
          place: `request ${JSON.stringify(folders.join(' / '))}`,
          read: () => readRequest(request, (text) => replaceVariables(text, variables, hint)),
        });
      }
      const below = folders.length < mostFolders ? asObjects(item.item) : [];
      const named = below.map((inner) => ({
        item: inner,
        folders: [...folders, asText(inner.name) ?? ''],
        variables,
      }));
      open.push(...named.reverse());
    }
    return requests;
  },
};

/** A collection, a folder or a request. */
interface Node {
  readonly item: UnknownObject;
  /** Names from the collection down. */
  readonly folders: readonly string[];
  /** The variables of the folders around it. */
  readonly variables: VariableValues;
}

/** The variables of a folder, and those of the folders around it. */
function within(outer: VariableValues, own: readonly Header[]): VariableValues {
  if (own.length === 0) return outer;
  const inner = new Map(own);
  return { get: (name) => inner.get(name) ?? outer.get(name) };
}

function readRequest(request: UnknownObject, replace: (text: string) => string): CapturedRequest {
  const { type, text } = bodyOf(asObject(request.body), replace);
  return {
    method: asText(request.method) ?? 'GET',
    url: withScheme(replace(urlOf(request.url))),
    headers: withType(type, namedValues(request.header, replace)),
    body: text,
  };
}

/** `:name` in a path is a variable of the URL alone. */
function urlOf(given: unknown): string {
  const url = typeof given === 'string' ? { raw: given } : asObject(given);
  const raw = asText(url?.raw);
  if (url === null || raw === null) throw new SampleError('the Postman request has no URL');
  const path = new Map(namedValues('variable' in url ? url.variable : []));
  return raw.replace(/\/:([\w-]+)/g, (whole, name: string) => {
    const value = path.get(name);
    return value === undefined ? whole : `/${value}`;
  });
}

interface Body {
  readonly type: string | null;
  readonly text: string | null;
}

function bodyOf(body: UnknownObject | null, replace: (text: string) => string): Body {
  if (body === null) return { type: null, text: null };
  switch (body.mode) {
    case undefined:
    case 'none':
      return { type: null, text: null };
    case 'raw': {
      const { language } = asObject(asObject(body.options)?.raw) ?? {};
      return {
        type: language === 'json' ? 'application/json' : null,
        text: replace(asText(body.raw) ?? '') || null,
      };
    }
    case 'urlencoded':
      return {
        type: 'application/x-www-form-urlencoded',
        text: joinPairs(namedValues(body.urlencoded, replace)),
      };
    default:
      throw new SampleError(
        `the body of the Postman request is of the kind ${JSON.stringify(String(body.mode).slice(0, 20))}`,
        'Bodies of several parts and files cannot be read. Write the request as a sample file.',
      );
  }
}
