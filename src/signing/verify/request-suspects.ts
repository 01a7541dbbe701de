import { decodePercent } from '../encodings.js';
import type { Param, SignableRequest } from '../request.js';
import type { Mistake, ReceivedSignature, Suspect } from './suspect.js';

/** Mistakes by which another request was signed than was sent. */
export function requestSuspects({ request, unsent }: ReceivedSignature): Suspect[] {
  const { params, body } = request;
  const suspect = (changed: Partial<SignableRequest>, mistake: Mistake): Suspect => ({
    ...mistake,
    change: { request: { ...request, ...changed } },
  });
  const without = (isLeftOut: (param: Param) => boolean, mistake: Mistake): Suspect[] => {
    const kept = params.filter((param) => !isLeftOut(param));
    return kept.length === params.length ? [] : [suspect({ params: kept }, mistake)];
  };
  const formNames = namesInForm(request);
  return [
    ...[...valueMistakes, ...jsonMistakes].flatMap((mistake) =>
      namesToChange(params, mistake).map((names) =>
        suspect({ params: changeValues(params, names, mistake) }, aboutName(mistake, names.join(', '))),
      ),
    ),
    ...jsonMistakes
      .filter(({ change }) => body !== null && change(body) !== body)
      .map((mistake) => suspect({ body: body && mistake.change(body) }, aboutName(mistake, 'the body'))),
    ...without(([, value]) => value === '', {
      id: 'empty-value',
      says: 'It was signed without the parameters that are empty.',
      advice: 'The recipe keeps empty values: sign them too, or do not send them.',
    }),
    ...params.flatMap(([left]) =>
      without(([name]) => name === left, {
        id: 'left-out',
        says: `It was signed without the parameter ${left}.`,
        advice: `Sign it with ${left}; where the operator leaves it out, put it into params.exclude of the recipe.`,
      }),
    ),
    ...without(([name]) => formNames.has(name), {
      id: 'form-left-out',
      says: 'It was signed without the fields of the form.',
      advice: 'Sign the query parameters and the fields of the body together.',
    }),
    ...unsent.map(([name, value]) =>
      suspect(
        { params: [...params, [name, value]] },
        {
          id: 'not-sent',
          says: `It was signed with ${name}=${value}, which was not sent.`,
          advice: 'Sign the parameters that are sent, and no others.',
        },
      ),
    ),
    ...addressesLike(request).map(([changed, words]) =>
      suspect(changed, {
        id: 'address',
        says: `It was signed with ${words}.`,
        advice: 'Sign the method and the address exactly as the service receives them.',
      }),
    ),
  ];
}

/** The names of the form's fields, where the body is a form. */
function namesInForm({ params, body }: SignableRequest): ReadonlySet<string> {
  const names = new Set(params.map(([name]) => name));
  return new Set([...new URLSearchParams(body ?? '').keys()].filter((name) => names.has(name)));
}

/** Each parameter whose value may be wrong, then all of them. */
function namesToChange(params: readonly Param[], { change }: TextMistake): string[][] {
  const names = params.filter(([, value]) => change(value) !== value).map(([name]) => name);
  return [...names.map((name) => [name]), ...(names.length > 1 ? [names] : [])];
}

function changeValues(params: readonly Param[], names: readonly string[], { change }: TextMistake): Param[] {
  return params.map(([name, value]) => [name, names.includes(name) ? change(value) : value]);
}

/** A mistake that changes the text of a value. `NAME` in its sentences stands for the parameter's name. */
interface TextMistake extends Mistake {
  readonly change: (text: string) => string;
}

function aboutName({ id, says, advice }: TextMistake, name: string): Mistake {
  const insert = (sentence: string) => sentence.replaceAll('NAME', () => name);
  return { id, says: insert(says), advice: insert(advice) };
}

const unicodeForm = {
  id: 'unicode-form',
  says: 'It was signed with NAME in another Unicode normal form.',
  advice: 'Sign the bytes that are sent: normalize before, or not at all.',
};

const valueMistakes: readonly TextMistake[] = [
  {
    id: 'time-unit',
    says: 'It was signed with NAME in milliseconds, and sent in seconds.',
    advice: 'Sign NAME exactly as it is sent: Unix time in seconds, 10 digits.',
    change: (value) => (/^1\d{9}$/.test(value) ? `${value}000` : value),
  },
  {
    id: 'time-unit',
    says: 'It was signed with NAME in seconds, and sent in milliseconds.',
    advice: 'Send NAME exactly as it is signed: Unix time in seconds, 10 digits.',
    change: (value) => (/^1\d{12}$/.test(value) ? value.slice(0, 10) : value),
  },
  {
    id: 'plus',
    says: 'It was signed with + in NAME where the request, once decoded, has a space.',
    advice: 'Sign the text before it is encoded; and send a + as %2B, a space as %20.',
    change: (value) => value.replaceAll(' ', '+'),
  },
  {
    id: 'plus',
    says: 'It was signed with a space in NAME where the request has +.',
    advice: 'Send a space as %20: the + that stands for one was encoded once more.',
    change: (value) => value.replaceAll('+', ' '),
  },
  {
    id: 'encoded-twice',
    says: 'It was signed before NAME was encoded a first time, and sent encoded twice.',
    advice: 'Encode NAME once: a library that builds the query does it already.',
    change: decodePercent,
  },
  {
    id: 'value-space',
    says: 'It was signed without the white space around the value of NAME.',
    advice: 'Trim the value before it is signed and sent, or not at all.',
    change: (value) => value.trim(),
  },
  { ...unicodeForm, change: (value) => value.normalize('NFD') },
  { ...unicodeForm, change: (value) => value.normalize('NFC') },
];

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
  const slashed = url.endsWith('/') ? url.replace(/\/+$/, '') : `${url}/`;
  return [
    [{ url: url.replace(/^http:/, 'https:') }, 'https in the URL, which is http here'],
    [{ url: url.replace(/^https:/, 'http:') }, 'http in the URL, which is https here'],
    [{ url: url.replace(/^(\w+:\/\/[^/:]+):\d+/, '$1') }, 'the host without its port'],
    [{ url: slashed }, 'a slash more or less at the end of the path'],
    [{ method: method.toLowerCase() }, 'the method in lower case'],
    ...['GET', 'POST', 'PUT']
      .filter((other) => other !== method)
      .map((other): [Partial<SignableRequest>, string] => [{ method: other }, `${other} as the method`]),
  ];
}
