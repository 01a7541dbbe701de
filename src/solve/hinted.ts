import { compileRecipe } from '../signing/compile-recipe.js';
import { completeRecipe, type ParamsRule } from '../signing/recipe.js';
import { memoize } from '../support/memoize.js';
import { firstFrom, type RecipeCandidate } from './candidates/cost.js';
import { literal, namedToken, type Piece } from './candidates/pieces.js';
import { type SearchSpace, searchSpace } from './candidates/search-space.js';
import { readSignature } from './candidates/signature-reading.js';
import { type Finish, finishesOf, placeSecret } from './candidates/value-lists.js';
import { tokensOf } from './changes.js';
import { type Pause, signs } from './fitting-recipes.js';
import { withReading } from './neighbours.js';
import { checkOpenRecipe, fill, type Hints, isOpen, type OpenRecipe, openRecipe } from './open-recipe.js';
import { assembleRecipe, validRecipe } from './search/assemble-recipe.js';
import { compileChain, type Fits } from './search/compiled-chain.js';
import type { Found, SolveTask } from './tasks.js';

/** The most parts of an open message, beside the secret. */
const mostParts = 10;
/** Maximum cost of joiner, place of the secret and digests of an open message, in bits, and above the cheapest. */
const mostFinishBits = 12;
const finishSlack = 5;
const betweenPauses = 512;

/**
 * The likeliest recipe by which all samples are signed, of those that the hints allow; `pause` may throw.
 *
 * @throws RecipeError for hints that no recipe has
 */
export async function findByHints(tasks: readonly SolveTask[], hints: Hints, pause: Pause): Promise<Found> {
  const [task] = tasks;
  if (task === undefined) return { tried: 0, hit: null };
  const wanted = openRecipe(hints);
  checkOpenRecipe(wanted, task, hints);
  let tried = 0;
  for (const candidate of isOpen(wanted.message)
    ? openMessages(wanted, task, hints)
    : filled(wanted, task, hints)) {
    tried += 1;
    if (tried % betweenPauses === 0) await pause();
    if (candidate !== null && tasks.every((sample) => signs(candidate.recipe, sample)))
      return { tried, hit: candidate };
  }
  return { tried, hit: null };
}

/** The recipe with each open value filled in. */
function* filled(wanted: OpenRecipe, task: SolveTask, hints: Hints): Generator<RecipeCandidate> {
  const readings = readSignature(task);
  for (const { recipe: json, bits } of fill(wanted, task, hints)) {
    const recipe = validRecipe(json);
    if (recipe === null) continue;
    yield { recipe, bits };
    for (const reading of readings) yield { recipe: withReading(recipe, reading), bits: bits + reading.bits };
  }
}

/** A part of an open message. Of a group, a message has one at most. */
interface Part extends Piece {
  readonly group: string;
  readonly params?: Partial<ParamsRule>;
}

/**
 * Messages of up to ten parts, joined by one text, the shortest first: headers, and values of parameters, in their order
 * or next to it, all other parts in any order. Null for each that does not give the signature of the task.
 */
function* openMessages(wanted: OpenRecipe, task: SolveTask, hints: Hints): Generator<RecipeCandidate | null> {
  const space = searchSpace(task);
  const joins = isOpen(wanted.join) ? null : (wanted.join ?? '');
  const possible = finishesOf(space.forms, space.chains, mostFinishBits).filter(
    ({ joiner, change }) => !change.changes && (joins === null || joiner === joins),
  );
  const finishes = possible.slice(0, firstFrom(possible, (possible[0]?.bits ?? 0) + finishSlack));
  const fitsOf = memoize(compileChain);
  const rules = isOpen(wanted.params) ? usualBlocks : [(wanted.params ?? {}) as Partial<ParamsRule>];
  for (let length = 1; length <= mostParts; length++) {
    for (const parts of messagesOf(space, hints, rules, length)) {
      for (const finish of finishes) {
        if (length === 1 && finish.joiner !== finishes[0]?.joiner && finish.place === 'none') continue;
        yield candidateOf(parts, finish, fitsOf);
      }
    }
  }
}

function candidateOf(
  parts: readonly Part[],
  { form, place, joiner, change, chain, bits }: Finish,
  fitsOf: (chain: Finish['chain']) => Fits,
): RecipeCandidate | null {
  const message = placeSecret<Piece>(parts, place, form);
  if (message === null || !fitsOf(chain)(message.map(({ text }) => text).join(joiner))) return null;
  const params = parts.find((part) => part.params !== undefined)?.params ?? {};
  const recipe = assembleRecipe({ params, message, join: joiner, block: 'none', change, chain });
  return recipe && { recipe, bits: bits + 2 * parts.length };
}

/** Blocks of parameters as documents describe them. */
const usualBlocks: readonly Partial<ParamsRule>[] = [
  {},
  { encode: 'rfc3986' },
  { kvSep: '', pairSep: '' },
  { order: 'sent' },
  { pairSep: '\n' },
  { empty: 'drop' },
];

/** The most values of parameters that an open message is searched for. */
const mostValues = 12;
/** The number of values that may stand behind a later one. */
const mostSwapped = 2;

/** Maximum cost of a part: without a body, only its commonest digests. */
const mostPartBits = 7.5;

/** The parts that stand at any place of an open message. */
function freeParts(
  { task }: SearchSpace,
  { constants = [], join = '' }: Hints,
  rules: readonly Partial<ParamsRule>[],
): Part[] {
  const { request, secret } = task;
  const isFree = ({ tokens: [token = ''], text, basePath, bits }: Piece) =>
    text !== '' && bits <= mostPartBits && basePath === undefined && !/^\$\{?(?:param|extra):/.test(token);
  const groupOf = ([token = '']: Piece['tokens']) =>
    /^\$(?:path|url)/.test(token) ? 'target' : /^\$body/.test(token) ? 'body' : token;
  const block = (params: Partial<ParamsRule>): Part => ({
    group: 'block',
    tokens: ['$params'],
    text: compileRecipe(completeRecipe({ params, message: ['$params'], steps: ['md5'] })).sign(
      request,
      secret,
    ).params,
    bits: 0,
    params,
  });
  return [
    ...tokensOf(task)
      .filter(isFree)
      .map((piece) => ({ ...piece, group: groupOf(piece.tokens) })),
    ...(request.params.length === 0 ? [] : rules.map(block)),
    ...(join === '' ? [] : [{ group: 'empty', tokens: [''], text: '', bits: 0 }]),
    ...constants.map((text, index) => ({ ...literal(text), group: `constant ${index}` })),
  ];
}

/** The open messages of so many parts. */
function* messagesOf(
  space: SearchSpace,
  hints: Hints,
  rules: readonly Partial<ParamsRule>[],
  length: number,
): Generator<readonly Part[]> {
  const { headers = [], constants = [] } = hints;
  const { params, extra } = space.task.request;
  const free = freeParts(space, hints, rules);
  const named = (source: 'param' | 'extra', name: string, text: string): Part[] => {
    const token = namedToken(source, name);
    return token === null ? [] : [{ group: `${source} ${name}`, tokens: [token], text, bits: 0 }];
  };
  const listed = headers.flatMap((name) =>
    Object.entries(extra).filter(([known]) => known.toLowerCase() === name.toLowerCase()),
  );
  const isListed = headers.length > 0;
  const ordered = (isListed ? listed : Object.entries(extra)).flatMap(([name, text]) =>
    named('extra', name, text),
  );
  const values = params.slice(0, mostValues).flatMap(([name, text]) => named('param', name, text));
  const parts: Part[] = [];
  const used = new Set<string>();
  function* extend(header: number, value: number): Generator<readonly Part[]> {
    const missing =
      (isListed ? ordered.length - header : 0) +
      constants.filter((_, index) => !used.has(`constant ${index}`)).length;
    if (missing > length - parts.length) return;
    if (parts.length === length) {
      yield parts;
      return;
    }
    for (const [next, part] of ordered.entries())
      if (next === header || (next > header && !isListed)) yield* withPart(part, next + 1, value);
    for (const [next, part] of values.entries())
      if (next >= value - mostSwapped) yield* withPart(part, header, Math.max(value, next + 1));
    for (const part of free) yield* withPart(part, header, value);
  }
  function* withPart(part: Part, header: number, value: number): Generator<readonly Part[]> {
    if (used.has(part.group)) return;
    parts.push(part);
    used.add(part.group);
    yield* extend(header, value);
    used.delete(part.group);
    parts.pop();
  }
  yield* extend(0, 0);
}
