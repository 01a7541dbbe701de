import { decodePercent, encoders } from '../../signing/encodings.js';
import { type Param, queryWithout, type SignableRequest, withQueryValue } from '../../signing/request.js';
import type { Mistake, ReceivedSignature, Suspect } from './suspect.js';

/** The most parameters and headers that are changed one by one. */
const mostReadings = 200;

/** A value that is signed: a parameter, a header, the body. */
interface Reading {
  readonly name: string;
  readonly text: string;
  readonly isParam: boolean;
  /** The request with another text there; null for none at all. */
  with(text: string | null): SignableRequest;
}

/** Mistakes by which another request was signed than was sent: in each value that the recipe reads, and in the address. */
export function* requestSuspects(wrong: ReceivedSignature): Generator<Suspect> {
  const { request, recipe, unsent } = wrong;
  const { params } = request;
  const readings = readingsOf(wrong);
  const isPlain = recipe?.params.encode === 'none';
  for (const mistake of [...valueMistakes, ...jsonMistakes]) {
    // Where the recipe changes nothing, another recipe says it of all parameters.
    const isOther = isPlain && (mistake.id === 'encoded-once-more' || mistake.id === 'value-case');
    const changed = readings.filter(
      ({ text, isParam }) => mistake.change(text) !== text && !(isOther && isParam),
    );
    for (const { name, text, with: put } of changed) {
      yield { ...aboutName(mistake, name), change: { request: put(mistake.change(text)) } };
    }
    const names = new Set(changed.filter(({ isParam }) => isParam).map(({ name }) => name));
    if (names.size > 1 && mistake.id !== 'value-case') {
      const all = params.map(
        ([name, value]): Param => [name, names.has(name) ? mistake.change(value) : value],
      );
      yield { ...aboutName(mistake, [...names].join(', ')), change: { request: withParams(request, all) } };
    }
  }
  const filled = params.filter(([, value]) => value !== '');
  if (filled.length < params.length)
    yield { ...emptyLeftOut, change: { request: withParams(request, filled) } };
  for (const { name, text, with: put } of readings) {
    yield { ...leftOut(name), change: { request: put(null) } };
    if (text !== '') yield { ...leftOut(name, 'empty'), change: { request: put('') } };
  }
  const formNames = namesInForm(request);
  if (formNames.size > 0) {
    const query = params.filter(([name]) => !formNames.has(name));
    yield { ...formLeftOut, change: { request: withParams(request, query) } };
  }
  for (const [name, value] of unsent) {
    yield { ...notSent(name, value), change: { request: withParams(request, [...params, [name, value]]) } };
  }
  for (const [changed, words] of addressesLike(request)) {
    yield {
      id: 'address',
      says: `It was signed with ${words}.`,
      advice: 'Sign the method and the address exactly as the service receives them.',
      change: { request: { ...request, ...changed } },
    };
  }
}

/** The parameters, the headers that the recipe names (a module may read any), and the body. */
function readingsOf({ request, recipe }: ReceivedSignature): Reading[] {
  const { params, extra, body } = request;
  const written = recipe === null ? null : JSON.stringify(recipe).toLowerCase();
  const isRead = (name: string) => written === null || written.includes(`extra:${name.toLowerCase()}`);
  return [
    ...params.slice(0, mostReadings).map(
      ([name, text]): Reading => ({
        name,
        text,
        isParam: true,
        with: (changed) => withValue(request, name, changed),
      }),
    ),
    ...Object.entries(extra)
      .filter(([name]) => isRead(name))
      .slice(0, mostReadings)
      .map(
        ([name, text]): Reading => ({
          name,
          text,
          isParam: false,
          with: (changed) => ({ ...request, extra: { ...extra, [name]: changed ?? '' } }),
        }),
      ),
    ...(body === null
      ? []
      : [
          {
            name: 'the body',
            text: body,
            isParam: false,
            with: (changed: string | null) => ({ ...request, body: changed ?? '' }),
          },
        ]),
  ];
}

/** A request whose parameter has another value, in its query and its form, too; null leaves it out. */
function withValue(request: SignableRequest, name: string, value: string | null): SignableRequest {
  const { params, query, body } = request;
  const isForm = body !== null && namesInForm(request).has(name);
  const inText = (text: string) =>
    value === null ? queryWithout(text, [name]) : withQueryValue(text, name, value, false);
  return {
    ...request,
    params: params.flatMap(([known, old]): Param[] =>
      known !== name ? [[known, old]] : value === null ? [] : [[known, value]],
    ),
    ...(query !== undefined && { query: inText(query) }),
    body: isForm ? inText(body) : body,
  };
}

function withParams(request: SignableRequest, params: readonly Param[]): SignableRequest {
  const names = new Map(params);
  const query = request.query
    ?.split('&')
    .filter((pair) => names.has(decodePercent(pair.split('=', 1)[0] ?? '')))
    .join('&');
  return { ...request, params, ...(query !== undefined && { query }) };
}

/** The names of the form's fields, where the body is a form. */
function namesInForm({ params, body }: SignableRequest): ReadonlySet<string> {
  if (body === null || /^\s*[{[<]/.test(body)) return new Set();
  const names = new Set(params.map(([name]) => name));
  return new Set([...new URLSearchParams(body).keys()].filter((name) => names.has(name)));
}

const emptyLeftOut: Mistake = {
  id: 'empty-value',
  says: 'It was signed without the parameters that are empty.',
  advice: 'The recipe keeps empty values: sign them too, or do not send them.',
};

const formLeftOut: Mistake = {
  id: 'form-left-out',
  says: 'It was signed without the fields of the form.',
  advice: 'Sign the query parameters and the fields of the body together.',
};

function leftOut(name: string, how: 'empty' | 'absent' = 'absent'): Mistake {
  const isBody = name === 'the body';
  const what = isBody ? name : `the parameter or header ${name}`;
  return {
    id: 'left-out',
    says: how === 'empty' && !isBody ? `It was signed with ${name} empty.` : `It was signed without ${what}.`,
    advice: isBody
      ? 'Sign the body, byte for byte as it is sent: read it before it is parsed.'
      : `Sign it with ${name}; where the operator leaves it out, take it out of the recipe (params.exclude).`,
  };
}

function notSent(name: string, value: string): Mistake {
  return {
    id: 'not-sent',
    says: `It was signed with ${name}=${value}, which was not sent.`,
    advice: 'Sign the parameters that are sent, and no others.',
  };
}

/** A mistake that changes the text of a value. `NAME` in its sentences stands for the parameter's name. */
interface TextMistake extends Mistake {
  readonly change: (text: string) => string;
}

function aboutName({ id, says, advice }: TextMistake, name: string): Mistake {
  const insert = (sentence: string) => sentence.replaceAll('NAME', () => name);
  return { id, says: insert(says), advice: insert(advice) };
}

/** Texts as people spoil them, by how often it happens. */
const valueMistakes: readonly TextMistake[] = [
  textMistake(
    'time-unit',
    'with NAME in milliseconds, and sent in seconds',
    'Sign NAME exactly as it is sent: Unix time in seconds, 10 digits.',
    (value) => (/^1\d{9}$/.test(value) ? `${value}000` : value),
  ),
  textMistake(
    'time-unit',
    'with NAME in seconds, and sent in milliseconds',
    'Send NAME exactly as it is signed: Unix time in seconds, 10 digits.',
    (value) => (/^1\d{12}$/.test(value) ? value.slice(0, 10) : value),
  ),
  textMistake(
    'plus',
    'with + in NAME where the request, once decoded, has a space',
    'Sign the text before it is encoded; and send a + as %2B, a space as %20.',
    (value) => value.replaceAll(' ', '+'),
  ),
  textMistake(
    'plus',
    'with a space in NAME where the request has +',
    'Send a space as %20: the + that stands for one was encoded once more.',
    (value) => value.replaceAll('+', ' '),
  ),
  textMistake(
    'encoded-twice',
    'before NAME was encoded a first time, and sent encoded twice',
    'Encode NAME once: a library that builds the query does it already.',
    decodePercent,
  ),
  textMistake(
    'encoded-once-more',
    'with NAME percent-encoded once more',
    'Sign NAME as the recipe says: encode it once, or not at all.',
    encoders.rfc3986,
  ),
  textMistake(
    'encoded-once-more',
    'with NAME form-encoded once more',
    'Sign NAME as the recipe says: encode it once, or not at all.',
    encoders.form,
  ),
  textMistake(
    'value-space',
    'without the white space around the value of NAME',
    'Trim the value before it is signed and sent, or not at all.',
    (value) => value.trim(),
  ),
  textMistake(
    'line-end',
    'with a line break at the end of NAME',
    'Take the line break off: a command that prints a text, or an editor, adds it.',
    (value) => `${value}\n`,
  ),
  textMistake(
    'line-end',
    'with a line break (CR LF) at the end of NAME',
    'Take the line break off: a command that prints a text, or an editor, adds it.',
    (value) => `${value}\r\n`,
  ),
  textMistake(
    'line-end',
    'with LF in NAME where the request has CR LF',
    'Sign the bytes that are sent.',
    (value) => value.replaceAll('\r\n', '\n'),
  ),
  textMistake(
    'value-case',
    'with NAME in lower case',
    'Sign NAME in the letter case in which it is sent.',
    (value) => value.toLowerCase(),
  ),
  textMistake(
    'value-case',
    'with NAME in upper case',
    'Sign NAME in the letter case in which it is sent.',
    (value) => value.toUpperCase(),
  ),
  textMistake(
    'unicode-form',
    'with NAME in another Unicode normal form',
    'Sign the bytes that are sent: normalize before, or not at all.',
    (value) => value.normalize('NFD'),
  ),
  textMistake(
    'unicode-form',
    'with NAME in another Unicode normal form',
    'Sign the bytes that are sent: normalize before, or not at all.',
    (value) => value.normalize('NFC'),
  ),
];

function textMistake(id: string, how: string, advice: string, change: TextMistake['change']): TextMistake {
  return { id, says: `It was signed ${how}.`, advice, change };
}

/** The layouts of common JSON libraries; a text that is not a JSON object or list is unchanged. */
const jsonMistakes: readonly TextMistake[] = [
  jsonMistake('with its non-ASCII characters as \\u escapes', (_, text) => escapeUnicode(text)),
  jsonMistake('with its slashes escaped', (_, text) => escapeSlashes(text)),
  jsonMistake('with its non-ASCII characters and slashes escaped', (_, text) =>
    escapeSlashes(escapeUnicode(text)),
  ),
  jsonMistake('without the escapes that were sent in it', (value) => JSON.stringify(value)),
  jsonMistake('with its keys sorted', (value) => JSON.stringify(sortMembers(value))),
  jsonMistake('with its keys in the reverse order', (value) =>
    JSON.stringify(mapMembers(value, (members) => members.reverse())),
  ),
  jsonMistake('with spaces after its commas and colons', writeSpaced),
  jsonMistake('with its keys sorted and spaces after its commas and colons', (value) =>
    writeSpaced(sortMembers(value)),
  ),
  jsonMistake('with \\u escapes and spaces after its commas and colons', (value) =>
    escapeUnicode(writeSpaced(value)),
  ),
  jsonMistake('on several lines', (value) => JSON.stringify(value, null, 2)),
  jsonMistake('on several lines', (value) => JSON.stringify(value, null, 4)),
];
function jsonMistake(words: string, write: (value: object, text: string) => string): TextMistake {
  return {
    id: 'json-text',
    says: `It was signed with NAME ${words}.`,
    advice: 'Make the JSON text once, then sign and send that same text.',
    change(text) {
      if (!/^\s*[{[]/.test(text)) return text;
      try {
        return write(JSON.parse(text), text);
      } catch {
        return text;
      }
    },
  };
}

function escapeUnicode(text: string): string {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function escapeSlashes(text: string): string {
  return text.replaceAll('/', '\\/');
}

/** JSON with the members of each object sorted by name. */
export function sortMembers(value: unknown): unknown {
  return mapMembers(value, (members) => members.sort(([a], [b]) => (a < b ? -1 : 1)));
}

type Member = [name: string, value: unknown];

function mapMembers(value: unknown, change: (members: Member[]) => Member[]): unknown {
  if (Array.isArray(value)) return value.map((item) => mapMembers(item, change));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, inner]): Member => [name, mapMembers(inner, change)]);
  return Object.fromEntries(change(members));
}

/** As Python's json.dumps does by default. */
function writeSpaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeSpaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, inner]) => `${JSON.stringify(name)}: ${writeSpaced(inner)}`,
  );
  return `{${members.join(', ')}}`;
}

/** The address and method as a proxy or a careless client writes them. */
function addressesLike({ url, method }: SignableRequest): [Partial<SignableRequest>, string][] {
  const [, origin = '', path = url] = /^(\w+:\/\/[^/]*)(.*)$/s.exec(url) ?? [];
  const [, first = '', rest = ''] = /^(\/[^/]+)(\/.*)$/s.exec(path) ?? [];
  const slashed = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
  const paths: [string, string][] = [
    [slashed, 'a slash more or less at the end of the path'],
    [path.toLowerCase(), 'the path in lower case'],
    [decodePercent(path), 'the path decoded'],
    [encoders.rfc3986(path), 'the path percent-encoded'],
    [path.split('/').map(encoders.rfc3986).join('/'), 'the path percent-encoded'],
    ['', 'an empty path'],
    [path.replace(/^\//, ''), 'the path without the slash in front'],
    [rest, `the path without ${first}`],
  ];
  return [
    [{ url: url.replace(/^http:/, 'https:') }, 'https in the URL, which is http here'],
    [{ url: url.replace(/^https:/, 'http:') }, 'http in the URL, which is https here'],
    [{ url: url.replace(/^(\w+:\/\/[^/:]+):\d+/, '$1') }, 'the host without its port'],
    ...paths.map(([changed, words]): [Partial<SignableRequest>, string] => [
      { url: origin + changed },
      words,
    ]),
    [{ url: path }, 'the path alone in place of the URL'],
    [{ method: method.toLowerCase() }, 'the method in lower case'],
    [{ method: '' }, 'no method'],
    ...['GET', 'POST', 'PUT']
      .filter((other) => other !== method)
      .map((other): [Partial<SignableRequest>, string] => [{ method: other }, `${other} as the method`]),
  ];
}
