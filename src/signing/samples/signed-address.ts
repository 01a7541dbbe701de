import type { CapturedRequest } from './captured-request.js';

/** Characters that end an address. */
const outside = /[\s"<>`|\\^{}]/;
/** Method and host are looked for this far from an address, in characters. */
const nearby = 1000;
const method = /\b(GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS)\b/;

/** The requests whose address has the signature in its query. */
export function signedAddresses(given: string, signParam: string): CapturedRequest[] {
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
    const url = addressIn(line.slice(start, end));
    const around = line.slice(Math.max(0, start - nearby), end + nearby);
    if (url !== null) {
      const before = line.slice(Math.max(done, start - 12), start);
      requests.push({
        method: methodOf(before, around),
        url: withHost(url, around),
        headers: [],
        body: null,
      });
    }
    done = end;
  }
  return requests;
}

/** The place of `?name=` or `&name=`, where the name begins. */
function nextName(line: string, name: string, from: number): number {
  for (let at = line.indexOf(`${name}=`, from); at >= 0; at = line.indexOf(`${name}=`, at + 1)) {
    if (at > 0 && /[?&]/.test(line[at - 1] ?? '')) return at;
  }
  return -1;
}

/** The address in a word, without what is around it: `url=https://…,`. */
function addressIn(word: string): string | null {
  let end = word.length;
  while (end > 0 && /[)\].,;:!'’”]/.test(word[end - 1] ?? '')) end -= 1;
  const text = word.slice(0, end);
  const query = text.indexOf('?');
  if (query < 0) return null;
  const head = text.slice(0, query);
  const start = Math.max(head.lastIndexOf('http://'), head.lastIndexOf('https://'));
  const from = start >= 0 ? start : head.indexOf('/');
  return from < 0 ? null : text.slice(from);
}

/** The method before an address, else one that the line names. */
function methodOf(before: string, around: string): string {
  const named = /\bmethod["']?\s*[=:]\s*["']?([A-Za-z]{3,7})\b/i.exec(around)?.[1]?.toUpperCase() ?? '';
  return method.exec(before)?.[1] ?? method.exec(named)?.[1] ?? 'GET';
}

/** A path with the host that the line names. */
function withHost(url: string, around: string): string {
  if (!url.startsWith('/')) return url;
  const host = /\bhost["']?\s*[=:]\s*["']?([\w-]+(?:\.[\w-]+)+(?::\d+)?)/i.exec(around)?.[1];
  return host === undefined ? url : `https://${host}${url}`;
}
