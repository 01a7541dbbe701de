import { isDeepStrictEqual } from 'node:util';
import { parseDigest } from '../signing/digest-steps.js';
import type { Case, TextEncoding } from '../signing/encodings.js';
import { compileParams } from '../signing/params.js';
import { type KeyDecoding, type ParamsRule, type Recipe, recipeDefaults } from '../signing/recipe.js';
import { blockSources } from '../signing/recipe-language.js';
import { parseTemplates } from '../signing/template.js';
import {
  addedEntries,
  emptyChoices,
  exclusionBits,
  fixedListBits,
  orderChoices,
} from './candidates/arrangements.js';
import { blockChanges } from './candidates/block-changes.js';
import { encodings, foldings } from './candidates/block-texts.js';
import { type Choice, choice, choices, type Weighted } from './candidates/cost.js';
import { nameValueSeparators, type Piece, separators } from './candidates/pieces.js';
import { requestPieces } from './candidates/request-pieces.js';
import { secretNames } from './candidates/secrets.js';
import type { SolveTask } from './tasks.js';

/** One change of a recipe, and how much rarer it makes it, in bits. Two changes of one place exclude each other. */
export interface Change extends Weighted {
  readonly place: string;
  readonly apply: (recipe: Recipe) => Recipe;
}

const nameFoldings = choices<Case>([0.1, 'none'], [6, 'lower', 'upper']);
const joinings = choices<string | null>([1, null], [1.5, ','], [3, ''], [4, '|', ';']);

/** Replacements that documented rules use. */
const escapes = choices<ParamsRule['escape']>(
  [0, {}],
  [8, { '&': '_', '=': '_' }, { '\\': '\\\\', ':': '\\:' }, { '\\': '\\\\', '"': '\\"' }],
  [9, { ' ': '' }, { '/': '\\/' }, { '|': '\\|' }, { '\\': '\\\\', '|': '\\|' }],
);

/** The choices, all but one rarer. */
function rarer(all: readonly Choice<string>[], usual: string, more: number): Choice<string>[] {
  return all.map(({ value, bits }) => choice(value, value === usual ? bits : bits + more));
}

/** The values of the fields of a recipe, by path, each with its cost. */
export const fieldChoices: Readonly<Record<string, readonly Choice<unknown>[]>> = {
  'params.order': orderChoices.pairs,
  'params.empty': emptyChoices,
  'params.encode': encodings,
  'params.case': foldings,
  'params.escape': escapes,
  'params.nameCase': nameFoldings,
  'params.joinRepeated': joinings,
  'params.json': choices([0.1, 'none'], [4.5, 'values'], [7, 'both']),
  'params.kvSep': rarer(nameValueSeparators, '=', 2),
  'params.pairSep': rarer([choice('', 1), ...separators], '&', 2.5),
  'params.pairEnd': choices([0.1, ''], [5.5, '$secret'], [8, '&', '|', '\n']),
  'params.names': choices([0.4, true], [3, false]),
  'params.values': choices([0.1, true], [7, false]),
  'encode.block': blockChanges
    .filter(({ digests }) => !digests)
    .map(({ encode, bits }) => choice(encode, bits)),
  'encode.message': choices<TextEncoding>([0.1, 'none'], [5, 'form'], [6, 'rfc3986', 'form-dotnet']),
  'encode.lower': choices([0.1, false], [5, true]),
  'key.decode': choices<KeyDecoding>([0.1, 'utf8'], [4, 'hex'], [4.5, 'base64'], [6.5, 'base64url']),
  join: rarer([choice('', 0.7), ...separators], '', 1.3),
};

/** The value at a path of a recipe, such as `params.order` or `steps.0`. */
export function valueAt(json: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown>)?.[name], json);
}

/** The recipe, or a part of it, with another value at a path. */
export function withValueAt<T>(json: T, path: string, value: unknown): T {
  const [name = '', ...rest] = path.split('.');
  const inner = (json as Record<string, unknown>)[name];
  const changed = rest.length === 0 ? value : withValueAt(inner, rest.join('.'), value);
  return (Array.isArray(json) ? json.with(Number(name), changed) : { ...json, [name]: changed }) as T;
}

/** The changes of a recipe that documented rules suggest, for a request. */
export function changesOf(recipe: Recipe, task: SolveTask): Change[] {
  const block = usesBlock(recipe) ? [...namesChanges(recipe, task), ...shapeChanges(recipe)] : [];
  return [
    ...fieldChanges(recipe, task),
    ...block,
    ...messageChanges(recipe, task),
    ...secretChanges(recipe, task),
    ...stepChanges(recipe),
  ];
}

function usesBlock({ message, sub }: Recipe): boolean {
  const { tokens } = parseTemplates([...message, ...(sub?.message ?? [])], 'message');
  return tokens.some(({ source }) => blockSources.has(source));
}

function fieldChanges(recipe: Recipe, { request }: SolveTask): Change[] {
  const { params } = request;
  const isRepeated = new Set(params.map(([name]) => name)).size < params.length;
  const isKeyed = recipe.steps.some((step) => parseDigest(step)?.hmac);
  const isMeant = (path: string) => {
    if (path === 'params.joinRepeated') return isRepeated;
    if (path === 'key.decode') return isKeyed;
    if (path === 'params.order') return typeof recipe.params.order === 'string' && usesBlock(recipe);
    return (path !== 'encode.block' && !path.startsWith('params.')) || usesBlock(recipe);
  };
  return Object.entries(fieldChoices)
    .filter(([path]) => isMeant(path))
    .flatMap(([place, table]) => {
      const current = valueAt(recipe, place);
      const spent = table.find(({ value }) => isDeepStrictEqual(value, current))?.bits ?? rareBits;
      return table
        .filter(({ value }) => !isDeepStrictEqual(value, current))
        .map(({ value, bits }) => ({
          place,
          bits: bits - spent,
          apply: (changed: Recipe) => withValueAt(changed, place, value),
        }));
    });
}

/** The cost of a value that is not in the table. */
const rareBits = 6;

/** Which parameters are in the block: all, a list in its own order or another, and all but one. */
function namesChanges({ params }: Recipe, task: SolveTask): Change[] {
  const { request, otherParams } = task;
  const written = compileParams(params)
    .select(request.params, addedEntries(params, task))
    .map(([name]) => name);
  const listed = [...new Set(written)];
  const isFixed = Array.isArray(params.order);
  const change = (place: string, bits: number, rule: Partial<ParamsRule>): Change => ({
    place,
    bits,
    apply: (recipe) => ({ ...recipe, params: { ...recipe.params, ...rule } }),
  });
  const names = new Set([...request.params, ...otherParams].map(([name]) => name));
  const open = [...names].filter((name) => !params.exclude.includes(name));
  return [
    ...(isFixed
      ? orderChoices.values.flatMap(({ value, bits }) => [
          change('params.order', bits + 1, { order: value, include: listed }),
          change('params.order', bits - 2, { order: value }),
        ])
      : [change('params.order', fixedListBits + 2, { order: listed, exclude: [], include: null })]),
    ...(params.include === null
      ? [change('params.include', 3 + 1.5 * listed.length, { include: listed, exclude: [] })]
      : [change('params.include', -1, { include: null })]),
    ...params.exclude.map((name) =>
      change(`exclude ${name}`, -1, { exclude: params.exclude.filter((other) => other !== name) }),
    ),
    ...(isFixed || params.include !== null ? [] : open).map(
      (name): Change => ({
        place: `exclude ${name}`,
        bits: exclusionBits(name, [...names]),
        apply: (recipe) => ({
          ...recipe,
          params: { ...recipe.params, exclude: [...recipe.params.exclude, name] },
        }),
      }),
    ),
  ];
}

const shapes = choices<Partial<ParamsRule>>(
  [2, { kvSep: '=', pairSep: '&' }, { kvSep: '', pairSep: '' }],
  [3, { names: false, pairSep: '' }],
  [4, { kvSep: '=', pairSep: '' }],
  [5, { kvSep: ':', pairSep: ',' }, { kvSep: '', pairSep: '&' }, { kvSep: '=', pairSep: '|' }],
  [6, { kvSep: ':', pairSep: '\n' }, { kvSep: '=', pairSep: '\n' }],
);

function shapeChanges({ params }: Recipe): Change[] {
  return shapes
    .filter(({ value }) => !isDeepStrictEqual({ ...params, names: true, ...value }, params))
    .map(({ value, bits }) => ({
      place: 'shape',
      bits,
      apply: (recipe) => ({ ...recipe, params: { ...recipe.params, names: true, ...value } }),
    }));
}

/** The entries of a message; where no text joins them, each token and each text by itself. */
export function entriesOf({ message, join }: Pick<Recipe, 'message' | 'join'>): string[] {
  if (join !== '') return [...message];
  return message.flatMap((entry) => entry.match(/\$\{[^}]*\}[\w.:]*|\$\$|\$[\w.:-]+|[^$]+/g) ?? []);
}

/** The parts of a request that a message may hold, as one token each. */
export function tokensOf({ request }: SolveTask): Piece[] {
  const { method, host, path, url, query, bodies, values, extras, shortPaths } = requestPieces(request);
  const search = request.query ? `?${request.query}` : '';
  const isKnown = request.query !== undefined || request.params.length === 0 || request.body !== null;
  const hasBody = request.body !== null && request.body !== '';
  return [
    { ...method, bits: 2 },
    { ...path, bits: 1 },
    ...shortPaths.map((piece) => ({ ...piece, bits: piece.bits + 4 })),
    { ...host, bits: 3.5 },
    { ...url, bits: 2.5 },
    ...(isKnown
      ? [
          { ...query, bits: 3 },
          { tokens: ['$path$search'], text: path.text + search, bits: 2 },
        ]
      : []),
    ...bodies.map((piece) => ({ ...piece, bits: piece.bits + (hasBody ? 1 : 4) })),
    ...values.map((piece) => ({ ...piece, bits: piece.bits + 1 })),
    ...extras,
  ];
}

/** An entry replaced, left out, added in front or at the end, or swapped with the next one. */
function messageChanges(recipe: Recipe, task: SolveTask): Change[] {
  const entries = entriesOf(recipe);
  const pieces = tokensOf(task);
  const change = (place: string, bits: number, edit: (entries: string[]) => string[]): Change => ({
    place,
    bits,
    apply: (changed) => ({ ...changed, message: edit(entriesOf(changed)) }),
  });
  const withBase = (one: Change, { basePath }: Piece): Change =>
    basePath === undefined ? one : { ...one, apply: (changed) => ({ ...one.apply(changed), basePath }) };
  const replaced = entries.flatMap((entry) => {
    const current = pieces.find(({ tokens }) => tokens[0] === entry);
    if (current === undefined) return [];
    return pieces
      .filter((piece) => piece !== current)
      .map((piece) =>
        withBase(
          change(entry, Math.max(1.5, 1.5 + piece.bits - current.bits), (all) =>
            all.map((one) => (one === entry ? piece.tokens.join('') : one)),
          ),
          piece,
        ),
      );
  });
  const isEmpty = ({ text }: Piece) => text === '';
  return [
    ...replaced,
    ...entries.slice(1).map((entry, index) => {
      const before = entries[index] ?? '';
      return change('swap', 3.5, (all) =>
        all.map((one) => (one === entry ? before : one === before ? entry : one)),
      );
    }),
    ...entries.map((entry) => change('remove', 3, (all) => all.filter((one) => one !== entry))),
    ...pieces.flatMap((piece) => [
      withBase(
        change('front', piece.bits + 3, (all) => [...piece.tokens, ...all]),
        piece,
      ),
      withBase(
        change('end', piece.bits + (isEmpty(piece) ? 1.5 : 3), (all) => [...all, ...piece.tokens]),
        piece,
      ),
    ]),
    change('front', 9, (all) => ['', ...all]),
    change('end', 8, (all) => [...all, '']),
  ];
}

/** Names that are common enough for a change. */
const commonNameBits = 5.5;

/** The secret at another place, and under another name. */
function secretChanges(recipe: Recipe, { request }: SolveTask): Change[] {
  const { pairSep, kvSep } = recipe.params;
  const place = (
    bits: number,
    put: (rest: string[]) => string[],
    { isKey = false, add = {} }: { isKey?: boolean; add?: ParamsRule['add'] } = {},
  ): Change => ({
    place: 'secret',
    bits,
    apply(changed) {
      const entries = entriesOf(changed);
      const isName = (entry: string, index: number) =>
        /^[&|,]?\w+[=:]?$/.test(entry) && entries[index + 1] === '$secret';
      const rest = entries.filter((entry, index) => entry !== '$secret' && !isName(entry, index));
      const last = changed.steps.findLastIndex((step) => parseDigest(step) !== null);
      const step = (changed.steps[last] ?? '').replace('hmac-', '');
      return {
        ...changed,
        params: { ...changed.params, add },
        message: put(rest),
        steps: last < 0 ? changed.steps : changed.steps.with(last, isKey ? `hmac-${step}` : step),
      };
    },
  });
  const names = secretNames(request.params).filter(({ bits }) => bits <= commonNameBits);
  return [
    place(1.5, (rest) => [...rest, '$secret']),
    place(2.5, (rest) => ['$secret', ...rest]),
    place(3.5, (rest) => ['$secret', ...rest, '$secret']),
    place(2.5, (rest) => rest, { isKey: true }),
    place(5, (rest) => [...rest, '$secret'], { isKey: true }),
    ...names.flatMap(({ value, bits }) => [
      place(bits + 1.5, (rest) => [...rest, `${pairSep}${value}${kvSep}`, '$secret']),
      place(bits + 4.5, (rest) => [`${value}${kvSep}`, '$secret', pairSep, ...rest]),
      place(bits + 3.5, (rest) => rest, { add: { [value]: '$secret' } }),
    ]),
  ];
}

/** A digest more before the last one, and an ampersand behind the key. */
function stepChanges({ steps, key }: Recipe): Change[] {
  const inner = choices<readonly string[]>(
    [4, ['md5'], ['md5:HEX']],
    [5, ['md5', 'append:$secret'], ['md5:HEX', 'append:$secret'], ['sha256']],
    [6, ['sha1'], ['md5', 'prepend:$secret'], ['sha1', 'append:$secret'], ['sha256', 'append:$secret']],
  );
  const first = steps.findIndex((step) => parseDigest(step) !== null);
  return [
    ...inner.map(
      ({ value, bits }): Change => ({
        place: 'steps',
        bits,
        apply: (recipe) => ({ ...recipe, steps: recipe.steps.toSpliced(Math.max(first, 0), 0, ...value) }),
      }),
    ),
    ...(steps.length > 1 && first >= 0
      ? [
          {
            place: 'steps',
            bits: 4,
            apply: (recipe: Recipe) => ({ ...recipe, steps: recipe.steps.toSpliced(first, 1) }),
          },
        ]
      : []),
    ...(isDeepStrictEqual(key, recipeDefaults.key)
      ? [
          {
            place: 'key',
            bits: 5,
            apply: (recipe: Recipe) => ({ ...recipe, key: { ...recipe.key, tokens: ['$secret', '&'] } }),
          },
        ]
      : []),
  ];
}
