import { type CapturedRequest, originOf } from './captured-request.js';

/** Characters that end an address. */
const outside = /[\s"<>`|\\^{}]/;
/** Method and host are looked for this far from an address, in characters. */
const nearby = 1000;
const method = /\b(GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS)\b/;

/**
 * The requests whose address has the signature in its query; and forms that have it, such as `body=a=1&sign=…`, whose
 * address is near, or `elsewhere`.
 */
export function signedAddresses(given: string, signParam: string, elsewhere = ''): CapturedRequest[] {
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
    if (url !== null) requests.push(requestTo(url, before, around));
    else {
      const form = formIn(word);
      const target =
        /\b(?:POST|PUT|PATCH|DELETE)[ "':,]{1,4}((?:https?:\/)?\/[^\s"',<>]*)/.exec(around)?.[1] ??
        (soleAddress(around) || elsewhere);
      if (form !== null) {
        const { method: verb, ...to } = requestTo(target, before, around);
        requests.push({ ...to, method: verb === 'GET' ? 'POST' : verb, body: form });
      }
    }
    done = end;
  }
  return requests;
}

/** The address in a text that has one and no other; empty where there is none. */
export function soleAddress(text: string): string {
  const [url = '', ...others] = new Set(text.slice(0, 100_000).match(/\bhttps?:\/\/[^\s"'<>,?\\]+/g));
  return others.length === 0 ? url : '';
}

function requestTo(url: string, before: string, around: string): CapturedRequest {
  const origin = url.startsWith('/') ? originNear(around) : null;
  return {
    method: method.exec(before)?.[1] ?? methodNear(around),
    url: `${origin ?? ''}${url}`,
    headers: [],
    body: null,
    isSchemeGuessed: origin !== null,
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

/** The method that a text names, such as `method=POST`; GET where it names none. */
export function methodNear(around: string): string {
  const named = /\bmethod["']? ?[=:] ?["']?([A-Za-z]{3,7})\b/i.exec(around)?.[1]?.toUpperCase() ?? '';
  return method.exec(named)?.[1] ?? 'GET';
}

/** The origin of the host that a text names. */
export function originNear(around: string): string | null {
  const host = /\bhost["']? ?[=:] ?["']?([\w-]{1,63}(?:\.[\w-]{1,63}){1,10}(?::\d{1,5})?)/i.exec(around)?.[1];
  return host === undefined ? null : originOf(host);
}
