import { isDeepStrictEqual } from 'node:util';
import { parseDigest } from '../../core/signing/digest-steps.js';
import { compileParams } from '../../core/signing/params.js';
import type { ParamsRule, Recipe } from '../../core/signing/recipe.js';
import { blockSources } from '../../core/signing/recipe-language.js';
import { partsOf } from '../../core/signing/recipe-parts.js';
import { entriesOf, withValueAt } from '../verify/recipe-changes.js';
import {
  addedEntries,
  emptyChoices,
  exclusionBits,
  fixedListBits,
  orderChoices,
} from './candidates/arrangements.js';
import { lowerings, messageEncodings, wholeBlockEncodings } from './candidates/block-changes.js';
import { encodings, foldings } from './candidates/block-texts.js';
import { type Choice, choice, choices, type Weighted } from './candidates/cost.js';
import { nameValueSeparators, type Piece, separators } from './candidates/pieces.js';
import { requestPieces } from './candidates/request-pieces.js';
import type { SolveTask } from './tasks.js';

/**
 * One change of a recipe, and how much rarer it makes it, in bits. Two changes of one place exclude
 * each other.
 */
export interface Change extends Weighted {
  readonly place: string;
  readonly apply: (recipe: Recipe) => Recipe;
}

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
  'params.escape': choices<unknown>(
    [0, {}],
    [8, { '&': '_', '=': '_' }, { '\\': '\\\\', ':': '\\:' }, { '\\': '\\\\', '"': '\\"' }],
    [9, { ' ': '' }, { '/': '\\/' }, { '|': '\\|' }, { '\\': '\\\\', '|': '\\|' }],
  ),
  'params.nameCase': choices([0.1, 'none'], [6, 'lower', 'upper']),
  'params.joinRepeated': choices<unknown>([1, null], [1.5, ','], [3, ''], [4, '|', ';']),
  'params.json': choices([0.1, 'none'], [4.5, 'values'], [7, 'both']),
  'params.lengths': choices([0.1, false], [7, true]),
  'params.kvSep': rarer(nameValueSeparators, '=', 2),
  'params.pairSep': rarer([choice('', 1), ...separators], '&', 2.5),
  'params.pairEnd': choices([0.1, ''], [5.5, '$secret'], [8, '&', '|', '\n']),
  'params.names': choices([0.4, true], [3, false]),
  'params.values': choices([0.1, true], [7, false]),
  'encode.block': wholeBlockEncodings,
  'encode.message': messageEncodings,
  'encode.lower': lowerings,
  'key.decode': choices([0.1, 'utf8'], [4, 'hex'], [4.5, 'base64'], [6.5, 'base64url']),
  join: rarer([choice('', 0.7), ...separators], '', 1.3),
};

/** The value at a path of a recipe, such as `params.order` or `steps.0`. */
function valueAt(json: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (value as Record<string, unknown>)?.[name], json);
}

/** The changes of a recipe that documented rules suggest, for a request. */
export function changesOf(recipe: Recipe, task: SolveTask): Change[] {
  return [
    ...fieldChanges(recipe, task),
    ...(usesBlock(recipe) ? namesChanges(recipe, task) : []),
    ...messageChanges(recipe, task),
  ];
}

function usesBlock(recipe: Recipe): boolean {
  return partsOf(recipe).allTokens.some(({ source }) => blockSources.has(source));
}

function fieldChanges(recipe: Recipe, { request }: SolveTask): Change[] {
  const { params } = request;
  const isRepeated = new Set(params.map(([name]) => name)).size < params.length;
  const isKeyed = recipe.steps.some((step) => parseDigest(step)?.hmac);
  const isMeant = (path: string) => {
    if (path === 'params.joinRepeated') return isRepeated;
    if (path === 'key.decode') return isKeyed;
    if (path === 'params.order')
      return typeof recipe.params.order === 'string' && usesBlock(recipe);
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
  const { exclude, include, order } = params;
  const selected = compileParams(params).select(task.request.params, addedEntries(params, task));
  const listed = [...new Set(selected.map(([name]) => name))];
  const change = (place: string, bits: number, rule: Partial<ParamsRule>): Change => ({
    place,
    bits,
    apply: (recipe) => ({ ...recipe, params: { ...recipe.params, ...rule } }),
  });
  const names = [...new Set([...task.request.params, ...task.otherParams].map(([name]) => name))];
  const isOpen = include === null && !Array.isArray(order);
  const spent = orderChoices.pairs.find(({ value }) => value === order)?.bits ?? 0;
  return [
    ...(Array.isArray(order)
      ? orderChoices.values.flatMap(({ value, bits }) => [
          change('params.order', bits + 1, { order: value, include: listed }),
          change('params.order', bits - 2, { order: value }),
        ])
      : [
          change('params.order', fixedListBits + 2 - spent, {
            order: listed,
            exclude: [],
            include: null,
          }),
        ]),
    include === null
      ? change('params.include', 3 + 1.5 * listed.length, { include: listed, exclude: [] })
      : change('params.include', -1, { include: null }),
    ...names
      .filter((name) => isOpen || exclude.includes(name))
      .map((name): Change => {
        const isOut = exclude.includes(name);
        return {
          place: `exclude ${name}`,
          bits: isOut ? -1 : exclusionBits(name, names),
          apply: ({ params, ...recipe }) => {
            const others = params.exclude.filter((other) => other !== name);
            return {
              ...recipe,
              params: { ...params, exclude: isOut ? others : [...others, name] },
            };
          },
        };
      }),
  ];
}

/** The parts of a request that a message may hold, as one token each. */
export function tokensOf({ request }: SolveTask): Piece[] {
  const { method, host, path, url, query, bodies, values, extras, shortPaths } =
    requestPieces(request);
  const search = request.query ? `?${request.query}` : '';
  const isKnown =
    request.query !== undefined || request.params.length === 0 || request.body !== null;
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
          { tokens: ['$path$[?$query]'], text: path.text + search, bits: 2 },
        ]
      : []),
    // A rule that signs headers mostly signs the body, too, where there is one.
    ...bodies.map((piece) => ({
      ...piece,
      bits: piece.bits + (hasBody || extras.length > 0 ? 1 : 4),
    })),
    ...values.map((piece) => ({ ...piece, bits: piece.bits + 1 })),
    ...extras,
  ];
}

/** An entry replaced, left out, added in front or at the end, or swapped with the next one. */
function messageChanges(recipe: Recipe, task: SolveTask): Change[] {
  const entries = entriesOf(recipe);
  const pieces: readonly Piece[] = [...tokensOf(task), { tokens: [''], text: '', bits: 6 }];
  const change = (
    place: string,
    bits: number,
    edit: (entries: string[]) => string[],
    { basePath }: Partial<Piece> = {},
  ): Change => ({
    place,
    bits,
    apply: (changed) => ({
      ...changed,
      ...(basePath !== undefined && { basePath }),
      message: edit(entriesOf(changed)),
    }),
  });
  const replaced = entries.flatMap((entry) => {
    const current =
      entry === '$params' ? { bits: 2 } : pieces.find(({ tokens }) => tokens[0] === entry);
    const others = current === undefined ? [] : pieces.filter((piece) => piece !== current);
    return others.map((piece) => {
      const token = piece.tokens.join('');
      const bits = Math.max(1.5, 1.5 + piece.bits - (current?.bits ?? 0));
      return change(entry, bits, (all) => all.map((one) => (one === entry ? token : one)), piece);
    });
  });
  const swapped = entries.slice(1).map((entry, index) => {
    const before = entries[index] ?? '';
    return change('swap', 3.5, (all) =>
      all.map((one) => (one === entry ? before : one === before ? entry : one)),
    );
  });
  return [
    ...replaced,
    ...swapped,
    ...entries.map((entry) => change('remove', 3, (all) => all.filter((one) => one !== entry))),
    ...pieces.flatMap((piece) => [
      change('front', piece.bits + 3, (all) => [...piece.tokens, ...all], piece),
      change(
        'end',
        piece.bits + (piece.text === '' ? 1.5 : 3),
        (all) => [...all, ...piece.tokens],
        piece,
      ),
    ]),
  ];
}
