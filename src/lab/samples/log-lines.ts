import type { Param } from '../../core/signing/request.js';
import { type CapturedRequest, originOf } from './captured-request.js';
import { httpIn } from './http-text.js';
import { asObject, requestsInJson } from './json-requests.js';
import { constantAt, constantOf, paramsOf, plainValue, unescapeText } from './literal.js';
import type { FoundRequest, SampleFormat } from './sample-format.js';
import { signedAddresses, soleTarget, type Target, targetNear } from './signed-address.js';

/**
 * Lines of any text that have a signed address, a signed form, or the parameters of a signed
 * request.
 */
export const logLines: SampleFormat = {
  name: 'lines of a log',
  from: 'nginx, CloudFront, applications; a URL in a sentence or in HTML; "Copy as fetch", axios and requests in code',
  find({ text, signParam }) {
    // PowerShell writes characters beyond ASCII as $([char]24352).
    if (!text.includes(signParam) || text.includes('$([char]')) return [];
    const { taken } = httpIn(text);
    const elsewhere = soleTarget(text);
    let columns: readonly string[] | null = null;
    let budget = maxCharacters;
    let next = -1;
    /** The end of the last constant, and of the line. */
    let [read, end] = [0, -1];
    let before = '';
    const requests = text.split('\n').flatMap((raw, index): LineRequest[] => {
      const start = end + 1;
      end = start + raw.length;
      // nginx writes quotes as \x22.
      const line = raw.includes('\\x22') ? unescapeText(raw) : raw;
      if (line.startsWith('#Fields:')) columns = line.slice(8).trim().split(/\s+/, maxColumns);
      const above = before;
      before = /\b[A-Z]{3,7} +\S+\s*$/.test(line) ? line : '';
      // A response has a signature of its own.
      if (taken.has(index) || start < read) return [];
      const found = (): LineRequest[] => {
        if (columns !== null)
          return line.includes(signParam) ? inColumns(line, columns, signParam) : [];
        if (next < start) next = text.indexOf(signParam, start);
        const isOpen = line === raw && constantStart.test(line) && next < start + maxOfConstant;
        const whole = isOpen ? text.slice(start, start + maxOfConstant) : line;
        if (budget < 0 || next < 0 || !(isOpen || line.includes(signParam))) return [];
        const [constant, size] = inConstant(whole, above, signParam, elsewhere);
        budget -= size;
        if (constant.length > 0) read = start + size;
        if (constant.length > 0 || !line.includes(signParam)) return constant;
        const addresses = signedAddresses(line, signParam, elsewhere);
        return addresses.length > 0 ? addresses.map(asFound) : inMap(line, signParam, elsewhere);
      };
      return found().map((one) => ({ ...one, place: `line ${index + 1}` }));
    });
    // Parameters by themselves, behind a request, are those of its answer.
    const isTold = requests.some(({ isAlone = false }) => !isAlone);
    return isTold ? requests.filter(({ isAlone = false }) => !isAlone) : requests;
  },
};

interface LineRequest extends FoundRequest {
  /** Whether nothing around it says where it was sent. */
  readonly isAlone?: boolean;
}

/** An object, or a list of pairs. */
const constantStart = /\{|[[(]\s{0,9}[[(]\s{0,9}["']/;

/** Characters that are read of one constant, and of all together. */
const maxOfConstant = 1_000_000;
const maxCharacters = 50_000_000;
const maxColumns = 500;

const asFound = (request: CapturedRequest): FoundRequest => ({ place: null, read: () => request });

/** Words before what is printed of a response. */
const isAnswer = /\b(?:res(?:p|ponse|ult)?|answer|reply|received)\b[^{]{0,40}$/i;
/** Headers of any request, which parameters are not called. */
const isHeaders = /^(?:host|user-agent|content-length|content-type|accept)$/i;

/** What stands before the options of a call, such as `fetch("https://api.example.com/x", `. */
const isCall = /[\w.]\(\s*["'`][^"'`]*["'`]\s*,\s*(?:\w+ ?= ?)?$/;

/**
 * The request that the first constant of a text is: an object that describes one, or its
 * parameters; what it does not say is in front of it. Behind a signed address it is the answer, or
 * the options of a call. Also the number of characters that were read.
 */
function inConstant(
  text: string,
  above: string,
  signParam: string,
  elsewhere: Target,
): [found: LineRequest[], size: number] {
  const start = text.search(constantStart);
  const prefix = text.slice(Math.max(0, start - 1000), Math.max(0, start));
  const [signed] = signedAddresses(prefix, signParam);
  const called = isCall.test(prefix);
  if (start < 0 || isAnswer.test(prefix) || (signed !== undefined && !called)) return [[], 0];
  const { value: literal, error, end } = constantAt(text, start);
  if (error !== undefined && called) {
    const read = () => {
      throw error;
    };
    return [[{ place: null, read }], end];
  }
  if (literal?.kind !== 'object' || !(signed !== undefined || literal.source.includes(signParam)))
    return [[], end - start];
  // Printed alone, it may follow a line with the target.
  const target = targetNear(/\S{8}/.test(prefix) ? prefix : `${above}\n${prefix}`, elsewhere);
  const names = literal.members.map(([name]) => name);
  if (names.some((name) => isHeaders.test(name))) return [[], end];
  if (names.includes(signParam)) {
    // The argument of a function is not a request, that of a type is printed with its name.
    if (/\b[a-z_]\w{0,99}\($/.test(prefix) && target.url === '') return [[], end];
    const isAlone = targetNear(`${above}\n${prefix}`).url === '';
    return [[{ ...asFound({ ...target, params: paramsOf(literal) }), isAlone }], end];
  }
  const { method } = target;
  const url = signed?.url ?? target.url;
  const told = { ...(url !== '' && { url }), ...(method !== 'GET' && { method }) };
  const object = asObject(plainValue(literal)) ?? {};
  return [requestsInJson({ ...told, ...object }, signParam), end];
}

/** A line under `#Fields:`, as of CloudFront and IIS. */
function inColumns(line: string, columns: readonly string[], signParam: string): FoundRequest[] {
  const cells = line.trimEnd().split(line.includes('\t') ? '\t' : ' ');
  const record = Object.fromEntries(
    columns.map((name, index) => [name, cells[index] === '-' ? '' : cells[index]]),
  );
  return requestsInJson(record, signParam);
}

/**
 * The pairs of a map as Java and Go print it: `{a=1, b=2}`, `map[a:1 b:2]`, each value perhaps in
 * brackets.
 */
function inMap(line: string, signParam: string, elsewhere: Target): FoundRequest[] {
  for (const [open, close, between, mark] of [
    ['{', '}', /, (?=[\w.-]{1,100}=)/, '='],
    ['map[', ']', / (?=[\w.-]{1,100}:)/, ':'],
  ] as const) {
    const start = line.indexOf(open);
    const end = line.lastIndexOf(close);
    if (start < 0 || end < start || isAnswer.test(line.slice(0, start))) continue;
    const params = line
      .slice(start + open.length, end)
      .split(between)
      .map((pair): Param => {
        const at = pair.indexOf(mark);
        return [
          pair.slice(0, Math.max(0, at)),
          pair.slice(at + 1).replace(/^\[([^[\]]*)\]$/, '$1'),
        ];
      });
    if (params.every(([name]) => name !== '') && params.some(([name]) => name === signParam))
      return [asFound({ ...targetNear(line.slice(0, start), elsewhere), params })];
  }
  return [];
}

/**
 * The parameters alone, as an application or a browser shows them; the line before them may have
 * the target.
 */
export const parametersAlone: SampleFormat = {
  name: 'the parameters alone',
  from: 'JSON, a constant of Python, JavaScript, PHP or Ruby; one a line',
  find({ text, signParam }) {
    if (text.length > 1_000_000) return [];
    const [head = ''] = /^[A-Z]{3,7} \S+\r?\n/.exec(text) ?? [];
    const rest = text.slice(head.length);
    const start = /^[\w.$ ]{0,60}=? ?(?=[[{(])/.exec(rest)?.[0].length;
    const literal = start === undefined ? undefined : constantOf(rest.slice(start));
    const params = literal?.kind === 'object' ? paramsOf(literal) : pairsByLine(rest);
    if (
      !params.some(([name]) => name === signParam) ||
      params.some(([name]) => isHeaders.test(name))
    )
      return [];
    const request = { ...targetNear(head), params };
    return [{ place: head === '' ? 'without method, host and path' : null, read: () => request }];
  },
};

/** `name: value`, `name<tab>value`, `name=value` or `[name] => value`, one a line. */
function pairsByLine(text: string): Param[] {
  const lines = text.split(/\r?\n/).filter((line) => !/^\s*(?:$|[()[\]{}]$|Array$)/.test(line));
  if (lines.length < 2 || lines.length > 2000) return [];
  const pairs = lines.map((line): Param | null => {
    const [, name, mark] =
      /^[ \t]{0,20}\[?["']?([\w.-]{1,200})["']?\]?(\t| ?=> ?| ?[:=] ?)/.exec(line) ?? [];
    if (name === undefined || mark === undefined) return null;
    const value = line
      .slice(line.indexOf(mark, line.indexOf(name) + name.length) + mark.length)
      .trim();
    if (/[[({]$/.test(value)) return null;
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
  const isQuery = pairs.every((pair) => /^[\w.[\]%-]+=(?![^&]* [\w.-]{1,100}=)/.test(pair));
  return pairs.length > 1 && isQuery ? `?${query}` : null;
}
