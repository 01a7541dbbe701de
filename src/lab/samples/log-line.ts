import { endpoints, formNames } from '../../core/contract/endpoints.js';
import { type CapturedRequest, dataSignature, methodOf, originOf } from './captured-request.js';
import type { FoundRequest, SampleFormat } from './sample-format.js';

/** Lines of any text that have a signed address. */
export const logLine: SampleFormat = {
  name: 'a line of a log',
  from: 'any line with a signed address, or with a path of the contract and a signed query',
  find({ text }) {
    if (!text.includes(`${dataSignature}=`)) return [];
    return text
      .split('\n')
      .flatMap((line, index): FoundRequest[] =>
        requestsIn(line).map((request) => ({ location: `line ${index + 1}`, read: () => request })),
      );
  },
};

/** What else belongs to a request is looked for this far from its address, in characters. */
const nearby = 1000;
/** What a log writes for a character: nginx for quotes, JSON for `/` and `&`, HTML for `&`. */
const escapes = [
  { escaped: /\\x22|\\"/g, character: '"' },
  { escaped: /\\u0026/gi, character: '&' },
  { escaped: /&amp;/g, character: '&' },
  { escaped: /\\\//g, character: '/' },
];
/** Words between what ends an address. */
const words = /[^\s"<>`|\\^{}]+/g;
const signed = new RegExp(`[?&]${dataSignature}=`);

function requestsIn(line: string): CapturedRequest[] {
  if (!line.includes(`${dataSignature}=`)) return [];
  const plain = escapes.reduce(
    (text, { escaped, character }) => text.replace(escaped, character),
    line,
  );
  const addresses = [...plain.matchAll(words)].filter(([word]) => signed.test(word));
  const form = addresses.length === 1 ? formIn(plain) : null;
  return addresses.map(({ 0: word, index }) => {
    const before = plain.slice(Math.max(0, index - nearby), index);
    const after = plain.slice(index + word.length, index + word.length + nearby);
    return { ...requestAt(withoutEnd(word), before, after), body: form };
  });
}

/** The request of an address, and what a log says before and after it; without its form. */
function requestAt(word: string, before: string, after: string): CapturedRequest {
  const around = `${before} ${after}`;
  const target = addressIn(word) ?? `${pathIn(around)}?${queryIn(word)}`;
  const { origin, isSchemeGuessed } = originOfTarget(target, around);
  const url = `${origin}${target}`;
  return {
    method: methodIn(before, around) ?? methodOf(url),
    url,
    headers: [],
    body: null,
    isSchemeGuessed,
  };
}

/** The method directly before an address, or in a member of the log that has this name. */
function methodIn(before: string, around: string): string | undefined {
  const [, verb] = /\b(GET|POST|PUT|PATCH|DELETE)[ "':,]{1,4}$/.exec(before.slice(-20)) ?? [];
  if (verb !== undefined) return verb;
  const [, member] = /method["']? ?[=:] ?["']?(GET|POST|PUT|PATCH|DELETE)\b/i.exec(around) ?? [];
  return member?.toUpperCase();
}

/** Without what ends a sentence or a quotation. */
function withoutEnd(word: string): string {
  let end = word.length;
  while (end > 0 && /[)\].,;:!'’”]/.test(word[end - 1] ?? '')) end -= 1;
  return word.slice(0, end);
}

/** The address in a word, without what is around it: `url=https://…`. */
function addressIn(word: string): string | null {
  const query = word.indexOf('?');
  if (query < 0) return null;
  const head = word.slice(0, query);
  const start = Math.max(head.lastIndexOf('http://'), head.lastIndexOf('https://'));
  if (start >= 0) return word.slice(start);
  const slash = head.indexOf('/');
  if (slash >= 0) return word.slice(slash);
  return null;
}

/** The path of the contract that a text has; nothing where it has none. */
function pathIn(text: string): string {
  const path = endpoints.find((endpoint) => text.includes(endpoint.path))?.path;
  if (path === undefined) return '';
  const end = text.indexOf(path) + path.length;
  return /[^\s"'=<>]*$/.exec(text.slice(Math.max(0, end - nearby), end))?.[0] ?? path;
}

/** The query in a word, without the name that it has in the log: `args=a=1&sign=…`. */
function queryIn(word: string): string {
  return word.replace(/^.*\?/, '').replace(/^[\w.-]{1,100}[=:](?=[\w.-]{1,100}=)/, '');
}

const unknownOrigin = { origin: '', isSchemeGuessed: false };

/** The origin of the host that a log names beside a path; nothing for a whole address. */
function originOfTarget(target: string, around: string): typeof unknownOrigin {
  if (!target.startsWith('/')) return unknownOrigin;
  const [, host] =
    /\bhost["']? ?[=:] ?["']?([\w-]{1,63}(?:\.[\w-]{1,63}){1,10}(?::\d{1,5})?)/i.exec(around) ?? [];
  if (host === undefined) return unknownOrigin;
  const [, scheme] = /\bscheme["']? ?[=:] ?["']?(https?)\b/.exec(around) ?? [];
  return { origin: originOf(host, scheme), isSchemeGuessed: scheme === undefined };
}

const formPattern = new RegExp(`(?<![\\w?&])(?:${[...formNames].join('|')})=[^\\s"'<>|]*`, 'g');

/** The form of a passback that a text has. */
function formIn(text: string): string | null {
  const forms = text.match(formPattern) ?? [];
  const form = forms.find((candidate) => /(?:^|&)user_info=%7B/i.test(candidate));
  if (form === undefined) return null;
  return withoutEnd(form);
}
