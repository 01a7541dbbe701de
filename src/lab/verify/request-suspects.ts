import { encoders, folds } from '../../core/signing/encodings.js';
import type { Recipe } from '../../core/signing/recipe.js';
import type { Source } from '../../core/signing/recipe-language.js';
import { parseRecipeParts } from '../../core/signing/recipe-parts.js';
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
import { type ReceivedSignature, type Suspect, type SuspectRow, suspects } from './suspect.js';
import { type TextMistake, valueMistakes } from './value-mistakes.js';

/** The most parameters that are changed one by one: many times what an operation has. */
const maxReadings = 30;

/** A value that is signed: a parameter, the query or the form as it was sent. */
interface Reading {
  readonly name: string;
  readonly text: string;
  readonly isParam: boolean;
  /** The request with another text there; null for none at all. */
  requestWith(text: string | null): SignableRequest;
}

/**
 * Mistakes by which another request was signed than was sent: in each value that the recipe reads,
 * in which parameters are signed, and in the address.
 */
export function* requestSuspects(wrong: ReceivedSignature): Generator<Suspect> {
  const readings = readingsOf(wrong);
  yield* valueSuspects(wrong, readings);
  yield* parameterSuspects(wrong);
  for (const reading of readings) yield* omissions(reading);
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
  for (const mistake of valueMistakes) {
    const changed = readings.filter(({ text }) => mistake.change(text) !== text);
    const names = new Set(changed.filter(({ isParam }) => isParam).map(({ name }) => name));
    // Where the recipe changes nothing, another recipe says it of all parameters.
    const isOtherRecipe = isPlain && isMistakeOfRecipe(mistake, params);
    for (const { name, text, isParam, requestWith } of changed) {
      const isSaidByRecipe = isOtherRecipe && isParam && names.size === 1;
      if (!isSaidByRecipe) yield* madeIn(mistake, name, requestWith(mistake.change(text)));
    }
    if (names.size > 1 && !isOtherRecipe && mistake.id !== 'value-case') {
      const all = params.map((param) =>
        names.has(param[0]) ? withText(param, mistake.change(param[1])) : param,
      );
      yield* madeIn(mistake, [...names].join(', '), withParamsOnly(request, all));
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

/** A value that was left out of the text to sign, or was empty there. */
function omissions({ name, text, isParam, requestWith }: Reading): Suspect[] {
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
function rewritten({ name, text, isParam, requestWith }: Reading): Suspect[] {
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
      [['without the parameters that are empty', { request: withParamsOnly(request, filled) }]],
    );
  }
  const query = params.filter((param) => !isInForm(param));
  const form = params.filter(isInForm);
  if (form.length > 0) {
    yield* suspects('place', 'Sign the query parameters and the fields of the form together.', [
      ['with the parameters of the query alone', { request: withParamsOnly(request, query) }],
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
      { request: withParamsOnly(request, [...params, [name, value]]) },
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
  return parseRecipeParts(recipe).allTokens.some(({ source }) => sources.includes(source));
}

/** The parameters; and, where the recipe signs them as they were sent, the query and the form. */
function readingsOf({ request, recipe }: ReceivedSignature): Reading[] {
  const { params, query = '', body } = request;
  const readings = params.slice(0, maxReadings).map(([name, text]): Reading => {
    return {
      name,
      text,
      isParam: true,
      requestWith: (changed) => withParamValue(request, name, changed),
    };
  });
  if (recipe !== null && reads(recipe, 'query')) {
    const requestWith = (changed: string | null) => ({ ...request, query: changed ?? '' });
    readings.push({ name: 'the query', text: query, isParam: false, requestWith });
  }
  if (body !== null && (recipe === null || reads(recipe, 'body'))) {
    const requestWith = (changed: string | null) => ({ ...request, body: changed ?? '' });
    readings.push({ name: 'the form', text: body, isParam: false, requestWith });
  }
  return readings;
}

/**
 * A request whose parameter has another value, in its query and its form, too. Null leaves the
 * parameter out.
 */
function withParamValue(
  request: SignableRequest,
  name: string,
  value: string | null,
): SignableRequest {
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

/** The request with these parameters alone; its query and form are without the others. */
function withParamsOnly(request: SignableRequest, params: readonly Param[]): SignableRequest {
  const kept = new Set(params.map(([name]) => name));
  const dropped = request.params.map(([name]) => name).filter((name) => !kept.has(name));
  return { ...withoutParams(request, dropped), params };
}

/** A path with a slash at its end where it has none, without it where it has one. */
function withSlashChanged(path: string): string {
  if (path.endsWith('/')) return path.slice(0, -1);
  return `${path}/`;
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
    ['a slash added or removed at the end of the path', origin + withSlashChanged(path)],
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
