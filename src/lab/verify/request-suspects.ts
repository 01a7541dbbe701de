import { encoders, folds } from '../../core/signing/encodings.js';
import type { Recipe } from '../../core/signing/recipe.js';
import type { Source } from '../../core/signing/recipe-language.js';
import { partsOf } from '../../core/signing/recipe-parts.js';
import {
  isInForm,
  type Param,
  queryWithout,
  type SignableRequest,
  withoutParams,
  withQueryValue,
  withText,
} from '../../core/signing/request.js';
import { jsonValueOf } from '../../core/support/json.js';
import { decodePercent } from '../../core/support/percent-encoding.js';
import {
  pasted,
  type ReceivedSignature,
  type Suspect,
  type SuspectRow,
  suspects,
} from './suspect.js';

/** The most parameters that are changed one by one: many times what an operation has. */
const maxReadings = 30;

/** A value that is signed: a parameter, the query or the form as it was sent. */
interface Reading {
  readonly name: string;
  readonly text: string;
  readonly isParam: boolean;
  /** The request with another text there; null for none at all. */
  with(text: string | null): SignableRequest;
}

/**
 * Mistakes by which another request was signed than was sent: in each value that the recipe reads,
 * in which parameters are signed, and in the address.
 */
export function* requestSuspects(wrong: ReceivedSignature): Generator<Suspect> {
  const readings = readingsOf(wrong);
  yield* valueSuspects(wrong, readings);
  yield* parameterSuspects(wrong);
  for (const reading of readings) yield* leftOut(reading);
  for (const reading of readings) yield* rewritten(reading);
  yield* suspects(
    'address',
    'Sign the method and the address exactly as the service receives them.',
    addressesLike(wrong.request).map(([how, changed]) => [
      `with ${how}`,
      { request: { ...wrong.request, ...changed } },
    ]),
  );
}

function* valueSuspects(
  { request, recipe }: ReceivedSignature,
  readings: readonly Reading[],
): Generator<Suspect> {
  const { params } = request;
  const isPlain = recipe !== null && signsParamsAsTheyAre(recipe);
  for (const mistake of [...valueMistakes, ...jsonMistakes]) {
    const changed = readings.filter(({ text }) => mistake.change(text) !== text);
    const names = new Set(changed.filter(({ isParam }) => isParam).map(({ name }) => name));
    // Where the recipe changes nothing, another recipe says it of all parameters.
    const isOtherRecipe = isPlain && isMistakeOfRecipe(mistake, params);
    for (const { name, text, isParam, with: requestWith } of changed) {
      const isSaidByRecipe = isOtherRecipe && isParam && names.size === 1;
      if (!isSaidByRecipe) yield* madeIn(mistake, name, requestWith(mistake.change(text)));
    }
    if (names.size > 1 && !isOtherRecipe && mistake.id !== 'value-case') {
      const all = params.map((param) =>
        names.has(param[0]) ? withText(param, mistake.change(param[1])) : param,
      );
      yield* madeIn(mistake, [...names].join(', '), withParams(request, all));
    }
  }
}

/** Whether the text to sign has the parameters without any encoding, and with none added. */
function signsParamsAsTheyAre(recipe: Recipe): boolean {
  const { encode, add } = recipe.params;
  return encode === 'none' && Object.keys(add).length === 0 && reads(recipe, 'params');
}

/** Whether a mistake in all values is the same as another recipe. */
function isMistakeOfRecipe({ id, change }: TextMistake, params: readonly Param[]): boolean {
  if (id === 'encoded-once-more') return true;
  return id === 'value-case' && params.every(([name]) => name === change(name));
}

function madeIn({ id, advice, how }: TextMistake, name: string, request: SignableRequest) {
  const named = (sentence: string) => sentence.replaceAll('NAME', () => name);
  return suspects(id, named(advice), [[named(how), { request }]]);
}

function leftOut({ name, text, isParam, with: requestWith }: Reading): Suspect[] {
  if (!isParam) {
    return suspects('left-out', `Sign ${name}, byte for byte as it is sent.`, [
      [`without ${name}`, { request: requestWith(null) }],
    ]);
  }
  const rows: SuspectRow[] = [[`without the parameter ${name}`, { request: requestWith(null) }]];
  if (text !== '') rows.push([`with ${name} empty`, { request: requestWith('') }]);
  return suspects(
    'left-out',
    `Sign it with ${name}; ` +
      'where the operator leaves it out, take it out of the recipe (params.exclude).',
    rows,
  );
}

/** The query or the form as other programs write the same pairs. */
function rewritten({ name, text, isParam, with: requestWith }: Reading): Suspect[] {
  if (isParam) return [];
  const pairs = text.split('&');
  const texts: readonly (readonly [how: string, text: string])[] = [
    ['sorted by name', pairs.toSorted().join('&')],
    ['with its parameters in the reverse order', pairs.toReversed().join('&')],
    ['with + for a space', text.replaceAll('%20', '+')],
    ['with %20 for a space', text.replaceAll('+', '%20')],
    ['with escapes in lower case', text.replace(/%[\da-f]{2}/gi, folds.lower)],
  ];
  return suspects(
    'text-as-sent',
    `Sign ${name}, byte for byte as it is sent.`,
    texts.map(([how, changed]) => [`with ${name} ${how}`, { request: requestWith(changed) }]),
  );
}

/** Others than the right parameters, or in another order. */
function* parameterSuspects({ request, recipe, unsent }: ReceivedSignature): Generator<Suspect> {
  const { params } = request;
  const filled = params.filter(([, value]) => value !== '');
  if (filled.length < params.length) {
    yield* suspects(
      'empty-value',
      'The recipe keeps empty values: sign them too, or do not send them.',
      [['without the parameters that are empty', { request: withParams(request, filled) }]],
    );
  }
  const query = params.filter((param) => !isInForm(param));
  const form = params.filter(isInForm);
  if (form.length > 0) {
    yield* suspects('place', 'Sign the query parameters and the fields of the form together.', [
      ['with the parameters of the query alone', { request: withParams(request, query) }],
    ]);
  }
  const members = params.flatMap((param) => {
    const [name, text] = param;
    if (name === 'user_info') return membersOf(text);
    return [param];
  });
  if (members.length !== params.length) {
    yield* suspects('user-info', 'Sign user_info as the one text that it is in the form.', [
      [
        'with the members of user_info as parameters of their own',
        { request: { ...request, params: members } },
      ],
    ]);
  }
  if (recipe === null || recipe.params.order === 'sent') {
    yield* suspects('order', 'Sign them in the order in which they are sent.', [
      [
        'with the parameters in the reverse order',
        { request: { ...request, params: params.toReversed() } },
      ],
      ['with the form before the query', { request: { ...request, params: [...form, ...query] } }],
    ]);
  }
  yield* suspects(
    'not-sent',
    'Sign the parameters that are sent, and no others.',
    [['sign', ''] as const, ...unsent].map(([name, value]) => [
      `with ${name}=${value}, which was not sent`,
      { request: withParams(request, [...params, [name, value]]) },
    ]),
  );
}

/** The members of a JSON object, as fields of a form; none for any other text. */
function membersOf(text: string): Param[] {
  const value = jsonValueOf(text);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).map(([name, member]): Param => [name, memberText(member), 'form']);
}

function memberText(member: unknown): string {
  if (typeof member === 'string') return member;
  return JSON.stringify(member);
}

function reads(recipe: Recipe, ...sources: readonly Source[]): boolean {
  return partsOf(recipe).allTokens.some(({ source }) => sources.includes(source));
}

/** The parameters; and, where the recipe signs them as they were sent, the query and the form. */
function readingsOf({ request, recipe }: ReceivedSignature): Reading[] {
  const { params, query = '', body } = request;
  const readings = params.slice(0, maxReadings).map(([name, text]): Reading => {
    return { name, text, isParam: true, with: (changed) => withValue(request, name, changed) };
  });
  if (recipe !== null && reads(recipe, 'query')) {
    const requestWith = (changed: string | null) => ({ ...request, query: changed ?? '' });
    readings.push({ name: 'the query', text: query, isParam: false, with: requestWith });
  }
  if (body !== null && (recipe === null || reads(recipe, 'body'))) {
    const requestWith = (changed: string | null) => ({ ...request, body: changed ?? '' });
    readings.push({ name: 'the form', text: body, isParam: false, with: requestWith });
  }
  return readings;
}

/**
 * A request whose parameter has another value, in its query and its form, too. Null leaves the
 * parameter out.
 */
function withValue(request: SignableRequest, name: string, value: string | null): SignableRequest {
  const { params, query, body } = request;
  const isForm = params.some((param) => param[0] === name && isInForm(param));
  const changedParams = params.flatMap((param): Param[] => {
    if (param[0] !== name) return [param];
    if (value === null) return [];
    return [withText(param, value)];
  });
  const changedText = (text: string) => {
    if (value === null) return queryWithout(text, [name]);
    return withQueryValue(text, name, value, false);
  };
  const changed = { ...request, params: changedParams };
  if (isForm && body !== null) return { ...changed, body: changedText(body) };
  if (!isForm && query !== undefined) return { ...changed, query: changedText(query) };
  return changed;
}

function withParams(request: SignableRequest, params: readonly Param[]): SignableRequest {
  const kept = new Set(params.map(([name]) => name));
  const dropped = request.params.map(([name]) => name).filter((name) => !kept.has(name));
  return { ...withoutParams(request, dropped), params };
}

/** A mistake in the text of a value; the name of the value stands at `NAME` in its sentences. */
interface TextMistake {
  readonly id: string;
  readonly how: string;
  readonly advice: string;
  readonly change: (text: string) => string;
}

function textMistakes(
  id: string,
  advice: string,
  rows: readonly (readonly [how: string, change: TextMistake['change']])[],
): TextMistake[] {
  return rows.map(([how, change]) => ({ id, advice, how, change }));
}

/** Texts as people spoil them, by how often it happens. */
const valueMistakes: readonly TextMistake[] = [
  ...textMistakes(
    'time-unit',
    'Sign and send NAME as the same text: Unix time in seconds, 10 digits.',
    [
      [
        'with NAME in milliseconds, and sent in seconds',
        (text) => (/^1\d{9}$/.test(text) ? `${text}000` : text),
      ],
      [
        'with NAME in seconds, and sent in milliseconds',
        (text) => (/^1\d{12}$/.test(text) ? text.slice(0, 10) : text),
      ],
    ],
  ),
  ...textMistakes(
    'plus',
    'Sign the text before it is encoded; send a + as %2B, and a space as %20.',
    [
      [
        'with + in NAME where the request, once decoded, has a space',
        (text) => text.replaceAll(' ', '+'),
      ],
      ['with a space in NAME where the request has +', (text) => text.replaceAll('+', ' ')],
    ],
  ),
  ...textMistakes(
    'encoded-twice',
    'Encode NAME once: a library that builds the query does it already.',
    [
      ['before NAME was encoded a first time, and sent encoded twice', decodePercent],
      ['with NAME decoded as a form', (text) => decodePercent(text.replaceAll('+', ' '))],
    ],
  ),
  ...textMistakes(
    'encoded-once-more',
    'Sign NAME as the recipe says: encode it once, or not at all.',
    [
      ['with NAME percent-encoded once more', encoders.rfc3986],
      ['with NAME form-encoded once more', encoders.form],
    ],
  ),
  ...textMistakes('value-space', 'Clean the value before it is signed and sent, or not at all.', [
    ['without the white space around the value of NAME', (text) => text.trim()],
    ['with a space behind the value of NAME', (text) => `${text} `],
    ['with a space before the value of NAME', (text) => ` ${text}`],
    ['without the quotes or invisible characters in NAME', (text) => text.replace(pasted, '')],
    [
      'with ASCII in NAME where the request has full-width characters',
      (text) => text.normalize('NFKC'),
    ],
  ]),
  ...textMistakes(
    'line-end',
    'Sign the bytes that are sent: a command that prints a text, or an editor, adds a line break.',
    [
      ['with a line break at the end of NAME', (text) => `${text}\n`],
      ['with a line break (CR LF) at the end of NAME', (text) => `${text}\r\n`],
      ['with LF in NAME where the request has CR LF', (text) => text.replaceAll('\r\n', '\n')],
    ],
  ),
  ...textMistakes('empty-word', 'Sign an empty value as it is sent: empty.', [
    ['with the word null for NAME, which is empty', (text) => text || 'null'],
    ['with the word None for NAME, which is empty', (text) => text || 'None'],
    ['with the word undefined for NAME, which is empty', (text) => text || 'undefined'],
  ]),
  ...textMistakes('value-case', 'Sign NAME in the letter case in which it is sent.', [
    ['with NAME in lower case', folds.lower],
    ['with NAME in upper case', folds.upper],
  ]),
  ...textMistakes(
    'unicode-form',
    'Sign the bytes that are sent: normalize before, or not at all.',
    [
      ['with NAME in another Unicode normal form', (text) => text.normalize('NFD')],
      ['with NAME in another Unicode normal form', (text) => text.normalize('NFC')],
    ],
  ),
];

/** The layouts of common JSON libraries; a text that is not a JSON object or list is unchanged. */
const jsonLayouts: readonly (readonly [
  how: string,
  write: (value: object, text: string) => string,
])[] = [
  ['with its non-ASCII characters as \\u escapes', (_, text) => escapeUnicode(text)],
  ['with its slashes escaped', (_, text) => escapeSlashes(text)],
  [
    'with its non-ASCII characters and slashes escaped',
    (_, text) => escapeSlashes(escapeUnicode(text)),
  ],
  ['without the escapes that were sent in it', (value) => JSON.stringify(value)],
  ['with its keys sorted', (value) => JSON.stringify(sortMembers(value))],
  [
    'with its keys in the reverse order',
    (value) => JSON.stringify(mapMembers(value, (members) => members.reverse())),
  ],
  ['with spaces after its commas and colons', writeSpaced],
  [
    'with its keys sorted and spaces after its commas and colons',
    (value) => writeSpaced(sortMembers(value)),
  ],
  [
    'with \\u escapes and spaces after its commas and colons',
    (value) => escapeUnicode(writeSpaced(value)),
  ],
  ['on several lines', (value) => JSON.stringify(value, null, 2)],
  ['on several lines', (value) => JSON.stringify(value, null, 4)],
];

const jsonMistakes = textMistakes(
  'json-text',
  'Make the JSON text once, then sign and send that same text.',
  jsonLayouts.map(([how, write]) => [
    `with NAME ${how}`,
    (text) => {
      if (!/^\s*[{[]/.test(text)) return text;
      try {
        return write(JSON.parse(text), text);
      } catch {
        return text;
      }
    },
  ]),
);

function escapeUnicode(text: string): string {
  return text.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function escapeSlashes(text: string): string {
  return text.replaceAll('/', '\\/');
}

/** JSON with the members of each object sorted by name. */
function sortMembers(value: unknown): unknown {
  return mapMembers(value, (members) => members.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A path with a slash at its end where it has none, without it where it has one. */
function withSlashChanged(path: string): string {
  if (path.endsWith('/')) return path.slice(0, -1);
  return `${path}/`;
}

type Member = [name: string, value: unknown];

function mapMembers(value: unknown, change: (members: Member[]) => Member[]): unknown {
  if (Array.isArray(value)) return value.map((item) => mapMembers(item, change));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(
    ([name, inner]): Member => [name, mapMembers(inner, change)],
  );
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
function addressesLike({
  url,
  method,
}: SignableRequest): [how: string, change: Partial<SignableRequest>][] {
  const [, origin = '', path = url] = /^(\w+:\/\/[^/]*)(.*)$/s.exec(url) ?? [];
  const [, first = '', rest = ''] = /^(\/[^/]+)(\/.*)$/s.exec(path) ?? [];
  const urls: [how: string, url: string][] = [
    ['https in the URL, which is http here', url.replace(/^http:/, 'https:')],
    ['http in the URL, which is https here', url.replace(/^https:/, 'http:')],
    ['the host without its port', url.replace(/^(\w+:\/\/[^/:]+):\d+/, '$1')],
    ['a slash more or less at the end of the path', origin + withSlashChanged(path)],
    ['one more slash at the end of the path', `${origin}${path}/`],
    ['the path in lower case', origin + path.toLowerCase()],
    ['the path decoded', origin + decodePercent(path)],
    ['the path percent-encoded', origin + encoders.rfc3986(path)],
    ['the path percent-encoded', origin + path.split('/').map(encoders.rfc3986).join('/')],
    ['an empty path', origin],
    ['the path without the slash in front', origin + path.replace(/^\//, '')],
    [`the path without ${first}`, origin + rest],
    ['the path alone in place of the URL', path],
  ];
  const otherMethods = ['GET', 'POST', 'PUT'].filter((name) => name !== method);
  return [
    ...urls.map(([how, changed]): [string, Partial<SignableRequest>] => [how, { url: changed }]),
    ['the method in lower case', { method: method.toLowerCase() }],
    ['no method', { method: '' }],
    ...otherMethods.map((name): [string, Partial<SignableRequest>] => [
      `${name} as the method`,
      { method: name },
    ]),
  ];
}
