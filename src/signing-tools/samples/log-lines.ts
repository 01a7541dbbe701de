import type { Param } from '../../signing/request.js';
import { type CapturedRequest, originOf } from './captured-request.js';
import { httpIn } from './http-text.js';
import { asObject, joinPairs, requestsInJson } from './json-requests.js';
import { constantOf, jsonPairs, jsonValueOf, pairsOf, plainValue } from './literal.js';
import type { FoundRequest, SampleFormat } from './sample-format.js';
import { methodNear, originNear, signedAddresses, soleAddress } from './signed-address.js';

/** Lines of any text that have a signed address, a signed form, or the parameters of a signed request. */
export const logLines: SampleFormat = {
  name: 'lines of a log',
  from: 'nginx, CloudFront, applications; a URL in a sentence or in HTML',
  find({ text, signParam }) {
    // PowerShell writes characters beyond ASCII as $([char]24352).
    if (!text.includes(signParam) || /^Invoke-(?:Web|Rest)/m.test(text)) return [];
    const { taken } = httpIn(text);
    const elsewhere = soleAddress(text);
    let columns: readonly string[] | null = null;
    return text.split(/\r?\n/).flatMap((line, index): FoundRequest[] => {
      if (line.startsWith('#Fields:')) columns = line.slice(8).trim().split(/\s+/, mostColumns);
      // A response has a signature of its own.
      if (taken.has(index) || !line.includes(signParam)) return [];
      const place = `line ${index + 1}`;
      const found =
        columns === null ? inLine(line, signParam, elsewhere) : inColumns(line, columns, signParam);
      return found.map(({ read }) => ({ place, read }));
    });
  },
};

const mostColumns = 500;

const asFound = (request: CapturedRequest): FoundRequest => ({ place: null, read: () => request });

function inLine(line: string, signParam: string, elsewhere: string): FoundRequest[] {
  const json = jsonIn(line);
  const inJson = json === undefined ? [] : requestsInJson(json, signParam);
  if (inJson.length > 0) return inJson;
  const addresses = signedAddresses(line, signParam, elsewhere);
  if (addresses.length > 0) return addresses.map(asFound);
  const params = jsonPairs(objectIn(line)).length > 0 ? [] : mapIn(line, signParam);
  if (params.length === 0) return [];
  const origin = originNear(line) ?? '';
  return [
    asFound({ method: methodNear(line), url: `${origin}?${joinPairs(params)}`, headers: [], body: null }),
  ];
}

function objectIn(line: string): string {
  return line.slice(line.indexOf('{'), line.lastIndexOf('}') + 1);
}

function jsonIn(line: string): unknown {
  const object = objectIn(line);
  if (object === '') return undefined;
  const json = jsonValueOf(object);
  if (json !== undefined || object.length > 100_000) return json;
  const literal = constantOf(object);
  return literal && plainValue(literal);
}

/** A line under `#Fields:`, as of CloudFront and IIS. */
function inColumns(line: string, columns: readonly string[], signParam: string): FoundRequest[] {
  const cells = line.split(line.includes('\t') ? '\t' : ' ');
  const record = Object.fromEntries(
    columns.map((name, index) => [name, cells[index] === '-' ? '' : cells[index]]),
  );
  return requestsInJson(record, signParam);
}

/** The pairs of a map as Java and Go print it: `{a=1, b=2}`, `map[a:1 b:2]`, each value perhaps in brackets. */
function mapIn(line: string, signParam: string): Param[] {
  for (const [open, close, between, mark] of [
    ['{', '}', /, (?=[\w.-]{1,100}=)/, '='],
    ['map[', ']', / (?=[\w.-]{1,100}:)/, ':'],
  ] as const) {
    const start = line.indexOf(open);
    const end = line.lastIndexOf(close);
    if (start < 0 || end < start) continue;
    const params = line
      .slice(start + open.length, end)
      .split(between)
      .map((pair): Param => {
        const at = pair.indexOf(mark);
        return [pair.slice(0, Math.max(0, at)), pair.slice(at + 1).replace(/^\[([^[\]]*)\]$/, '$1')];
      });
    if (params.every(([name]) => name !== '') && params.some(([name]) => name === signParam)) return params;
  }
  return [];
}

/** The parameters alone, as an application or a browser shows them. */
export const parametersAlone: SampleFormat = {
  name: 'the parameters alone',
  from: 'JSON, a constant of Python, JavaScript, PHP or Ruby; one a line',
  find({ text, json, signParam }) {
    if (text.length > 1_000_000) return [];
    const params = membersOf(text, json) ?? pairsByLine(text);
    if (!params.some(([name]) => name === signParam)) return [];
    const request = { method: 'GET', url: `?${joinPairs(params)}`, headers: [], body: null };
    return [{ place: 'without method, host and path', read: () => request }];
  },
};

function membersOf(text: string, json: unknown): Param[] | null {
  const start = /^[\w.$ ]{0,60}=? ?(?=[[{(])/.exec(text)?.[0].length;
  if (start === undefined) return null;
  if (json !== undefined) return asObject(json) === null ? null : jsonPairs(text);
  const literal = constantOf(text.slice(start));
  return literal?.kind === 'object' ? pairsOf(literal) : null;
}

/** `name: value`, `name<tab>value`, `name=value` or `[name] => value`, one a line. */
function pairsByLine(text: string): Param[] {
  const lines = text.split(/\r?\n/).filter((line) => !/^\s*(?:$|[()[\]{}]$|Array$)/.test(line));
  if (lines.length < 2 || lines.length > 2000) return [];
  const pairs = lines.map((line): Param | null => {
    const [, name, mark] = /^[ \t]{0,20}\[?["']?([\w.-]{1,200})["']?\]?(\t| ?=> ?| ?[:=] ?)/.exec(line) ?? [];
    if (name === undefined || mark === undefined) return null;
    const value = line.slice(line.indexOf(mark, line.indexOf(name) + name.length) + mark.length).trim();
    return [name, value.replace(/^["'](.*)["'],?$/s, '$1')];
  });
  return pairs.every((pair) => pair !== null) ? pairs : [];
}

/** Characters that people put around an address: quotes of any kind, angle brackets. */
const marks = /^["'`<“”„‘’«]|["'`>“”‘’»]$/g;

export const address: SampleFormat = {
  name: 'a URL',
  from: 'whole, a path with its query, or the query alone',
  find({ text }) {
    const line = text.trim().replace(marks, '').trim();
    const url = urlOf(line);
    if (url === null) return [];
    const read = () => ({ method: 'GET', url, headers: [], body: null });
    return [{ place: /^\w+:\/\//.test(line) ? null : 'a part of a URL', read }];
  },
};

/** A URL, also without its scheme or its host; a query of raw text may have spaces. */
function urlOf(line: string): string | null {
  if (line.length === 0 || /[\r\n]/.test(line)) return null;
  if (/^[a-z][a-z\d+.-]*:\/\/\S+$/i.test(line) || /^\/[^\s?]*\?\S+$/.test(line)) return line;
  if (/^[\w-]+\.[\w.-]+(?::\d+)?\/[^\s?]*\?\S+$/.test(line)) return originOf(line);
  const query = line.replace(/^\?/, '');
  const pairs = query.split('&');
  return pairs.length > 1 && pairs.every((pair) => /^[\w.[\]%-]+=/.test(pair)) ? `?${query}` : null;
}
