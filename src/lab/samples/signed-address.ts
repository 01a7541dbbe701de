import { type CapturedRequest, originOf, withQuery } from './captured-request.js';

/** Characters that end an address. */
const outside = /[\s"<>`|\\^{}]/;
/** Method and host are looked for this far from an address, in characters. */
const nearby = 1000;
const method = /\b(GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS)\b/;

/**
 * The requests whose address has the signature in its query; and forms that have it, such as
 * `body=a=1&sign=…`, whose address is near, or `elsewhere`.
 */
export function signedAddresses(
  given: string,
  signParam: string,
  elsewhere?: Target,
): CapturedRequest[] {
  const line = given
    .replace(/\\u0026/gi, '&')
    .replaceAll('\\/', '/')
    .replaceAll('&amp;', '&');
  const requests: CapturedRequest[] = [];
  let done = 0;
  for (let at = nextName(line, signParam, 0); at >= 0; at = nextName(line, signParam, at + 1)) {
    if (at < done) continue;
    let start = at;
    while (start > done && !outside.test(line[start - 1] ?? '')) start -= 1;
    let end = at;
    while (end < line.length && !outside.test(line[end] ?? '')) end += 1;
    const word = withoutEnd(line.slice(start, end));
    const around = line.slice(Math.max(0, start - nearby), end + nearby);
    const before = line.slice(Math.max(done, start - 12), start);
    const url = addressIn(word);
    // A log may have the query once more, by itself.
    const isAgain = requests.some(({ body }) => body === null);
    const form = url === null && !isAgain ? formIn(word) : null;
    if (url !== null) requests.push(requestTo(url, before, around));
    else if (form !== null) {
      const to = targetNear(around, elsewhere);
      if (/\bmethod\b.{0,4}\bGET\b/.test(around))
        requests.push({ ...to, url: withQuery(to.url, form) });
      else requests.push({ ...to, method: to.method === 'GET' ? 'POST' : to.method, body: form });
    }
    done = end;
  }
  return requests;
}

/** A method and an address; empty where they are not known. */
export interface Target {
  readonly method: string;
  readonly url: string;
}

/**
 * The method and the address that a text names, such as `POST /v1/x`, `method=POST uri=/v1/x`; else
 * those of `elsewhere`.
 */
export function targetNear(around: string, elsewhere?: Target): CapturedRequest {
  const [, verb, target] =
    /\b(GET|POST|PUT|PATCH|DELETE)[ "':,]{1,4}((?:https?:\/)?\/[^\s"',<>?]*[^\s"',<>?:])/.exec(
      around,
    ) ?? [];
  const named = /\b(?:ur[il]|path)["']? ?[=:] ?["']?((?:https?:\/)?\/[^\s"',<>?]*)/i.exec(
    around,
  )?.[1];
  const near = target ?? named ?? soleTarget(around).url;
  const url = near || (elsewhere?.url ?? '');
  return {
    ...requestTo(url, '', around),
    method: verb ?? methodNear(around, near === '' ? elsewhere : undefined),
  };
}

/**
 * Headers whose addresses are those of a program or of a page: `user-agent: got
 * (https://github.com/…)`.
 */
const ofOthers = /\b(?:user-agent|referer|origin)\b[^\r\n,]*/gi;

/** The address in a text that has one and no other, and the method that it names. */
export function soleTarget(text: string): Target {
  const start = text.slice(0, 100_000).replace(ofOthers, '');
  const [url = '', ...others] = new Set(
    start.match(/\bhttps?:\/\/[^\s"'<>,?\\/)]+\/[^\s"'<>,?\\)]*/g),
  );
  return others.length === 0 ? { url, method: methodNear(start) } : { url: '', method: '' };
}

function requestTo(url: string, before: string, around: string): CapturedRequest {
  const [, scheme] = /\bscheme["']? ?[=:] ?["']?(https?)\b/.exec(around) ?? [];
  const origin = url.startsWith('/') ? originNear(around, scheme) : null;
  return {
    method: method.exec(before)?.[1] ?? methodNear(around),
    url: `${origin ?? ''}${url}`,
    headers: [],
    body: null,
    isSchemeGuessed: origin !== null && scheme === undefined,
  };
}

/** The place of `?name=` or `&name=`, where the name begins. */
function nextName(line: string, name: string, from: number): number {
  for (let at = line.indexOf(`${name}=`, from); at >= 0; at = line.indexOf(`${name}=`, at + 1)) {
    if (at > 0 && /[?&]/.test(line[at - 1] ?? '')) return at;
  }
  return -1;
}

function withoutEnd(word: string): string {
  let end = word.length;
  while (end > 0 && /[)\].,;:!'’”]/.test(word[end - 1] ?? '')) end -= 1;
  return word.slice(0, end);
}

/** The address in a word, without what is around it: `url=https://…`. */
function addressIn(text: string): string | null {
  const query = text.indexOf('?');
  if (query < 0) return null;
  const head = text.slice(0, query);
  const start = Math.max(head.lastIndexOf('http://'), head.lastIndexOf('https://'));
  const from = start >= 0 ? start : head.indexOf('/');
  return from < 0 ? null : text.slice(from);
}

/** The form in a word, without the name of it and quotes before it: `body=a=1&b=2`, `'a=1&b=2`. */
function formIn(word: string): string | null {
  const [first = '', ...others] = word.split('&');
  const pair = first.slice(
    Math.max(first.lastIndexOf("'"), first.lastIndexOf('('), first.lastIndexOf('[')) + 1,
  );
  const named = /^[\w.-]{1,100}[=:](?=[\w.[\]%-]{1,200}=)/.exec(pair)?.[0] ?? '';
  const form = [pair.slice(named.length), ...others];
  return form.every((one) => /^[\w.[\]%+-]{1,500}=/.test(one)) ? form.join('&') : null;
}

/** The method that a text names, such as `method=POST`; else that of `elsewhere`, else GET. */
function methodNear(around: string, elsewhere?: Target): string {
  const named =
    /\bmethod["']? ?[=:]? ?["']?([A-Za-z]{3,7})\b/i.exec(around)?.[1]?.toUpperCase() ?? '';
  const called = /\.(get|post|put|patch|delete)\(/.exec(around)?.[1]?.toUpperCase();
  return method.exec(named)?.[1] ?? called ?? (elsewhere?.method || 'GET');
}

/** The origin of the host that a text names. */
function originNear(around: string, scheme?: string): string | null {
  const host = /\bhost["']? ?[=:] ?["']?([\w-]{1,63}(?:\.[\w-]{1,63}){1,10}(?::\d{1,5})?)/i.exec(
    around,
  )?.[1];
  return host === undefined ? null : originOf(host, scheme);
}
