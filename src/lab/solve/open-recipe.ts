import { digestName, parseDigest } from '../../core/signing/digest-steps.js';
import {
  type Recipe,
  RecipeError,
  type RecipeJson,
  unlessRefused,
} from '../../core/signing/recipe.js';
import { parseRecipe } from '../../core/signing/recipe-json.js';
import { memoize } from '../../core/support/memoize.js';
import { withValueAt } from '../verify/recipe-changes.js';
import { selections, sentLists } from './candidates/arrangements.js';
import { messageChanges } from './candidates/block-changes.js';
import { stepsOf, subOf } from './candidates/chains.js';
import {
  type Choice,
  choice,
  choices,
  combined,
  distinctBy,
  sortByBits,
} from './candidates/cost.js';
import { labels } from './candidates/header-values.js';
import { usualParams } from './candidates/hinted-items.js';
import {
  fuse,
  joinPieces,
  literal,
  namedToken,
  type Piece,
  percentEncoded,
  separators,
} from './candidates/pieces.js';
import { type SearchSpace, searchSpace } from './candidates/search-space.js';
import { keyForms, secretNames } from './candidates/secrets.js';
import { readSignature } from './candidates/signature-reading.js';
import { fieldChoices, tokensOf } from './changes.js';
import { type Pause, signs } from './fitting-recipes.js';
import { withReading } from './neighbours.js';
import type { Found, Hints, SolveTask, TaskHints } from './tasks.js';

/** A recipe in JSON, in which a value, an entry of a list, or a whole list may be open: `"?"`. */
type OpenRecipe = Readonly<Record<string, unknown>>;

const open = '?';

/** The recipe of the hints: without one, all is open that they do not say. */
function openRecipe({ recipe, steps, join }: Hints): OpenRecipe {
  const given = (recipe ?? {}) as OpenRecipe;
  const isUnknown = isOpen(given.message ?? open);
  // Of a message with known parameters, what is around them is open.
  const isBlock = isUnknown && !isOpen(given.params ?? open);
  return {
    ...(isUnknown && !isBlock && { join: open, params: open }),
    steps: open,
    ...given,
    message: isBlock ? [open, '$params', open] : (given.message ?? open),
    ...(steps !== undefined && { steps }),
    ...(join !== undefined && { join }),
  };
}

function isOpen(value: unknown): boolean {
  return value === open;
}

/** The tasks with what the hints say of steps, joiner, headers and constants. */
export function withHints(tasks: readonly SolveTask[], hints: Hints): SolveTask[] {
  const { steps, join } = openRecipe(hints);
  const isKnown = Array.isArray(steps) && !steps.some(isOpen);
  const digests = isKnown ? steps.flatMap((step: string) => parseDigest(step) ?? []) : undefined;
  const { headers, constants } = hints;
  const own: TaskHints = {
    headers,
    join: typeof join === 'string' && !isOpen(join) ? join : undefined,
    steps: digests?.map(digestName),
  };
  const between = constants?.find((text) => separators.some(({ value }) => value === text));
  return tasks.flatMap((task) => {
    // A label that the signature has need not be in the message.
    const signed = constants?.filter((text) => text.length < 3 || !task.signature.includes(text));
    const one = { ...task, hints: { ...own, constants: signed } };
    if (own.join !== undefined || between === undefined) return [one];
    // A separator may be what joins all parts.
    const others = signed?.filter((text) => text !== between);
    return [one, { ...task, hints: { ...own, join: between, constants: others } }];
  });
}

/** The paths of the open values, such as `join` and `message.2`. */
function holesIn(json: unknown, path = ''): string[] {
  if (json === open) return [path];
  if (typeof json !== 'object' || json === null) return [];
  return Object.entries(json).flatMap(([name, value]) =>
    holesIn(value, path === '' ? name : `${path}.${name}`),
  );
}

/** A way to fill an open value. */
type Filling = Choice<(recipe: OpenRecipe) => OpenRecipe>;
type Ways = (path: string) => readonly Filling[];

/** The ways to fill an open value, the likeliest first. */
function fillingsFor(
  path: string,
  recipe: OpenRecipe,
  space: SearchSpace,
  hints: Hints,
): Filling[] {
  if (/(?:^|\.)(?:message|tokens)\.\d+$|^params\.add\./.test(path)) {
    const { params, join } = recipe;
    const entries = openEntries(space.task, {
      constants: hints.constants ?? [],
      isBlockOpen: params === undefined && path.startsWith('message'),
      isAlone: holesIn(recipe).length === 1,
      join: typeof join === 'string' && !isOpen(join) ? join : '',
    });
    return entries.map((piece) => choice((filled) => withEntry(filled, path, piece), piece.bits));
  }
  return sortByBits(choicesFor(path, space, hints)).map(({ value, bits }) =>
    choice((filled) => withValueAt(filled, path, value), bits),
  );
}

function withEntry(
  recipe: OpenRecipe,
  path: string,
  { tokens, params, basePath }: Piece,
): OpenRecipe {
  return {
    ...withValueAt(recipe, path, tokens.join('')),
    ...(params !== undefined && { params }),
    ...(basePath !== undefined && { basePath }),
  };
}

/** Texts between the parts of a message that few documents have. */
const rareSeparators = choices<string>([8, '{up}', '\0', '::', '~~', '###', '\n\n']);

function choicesFor(
  path: string,
  space: SearchSpace,
  { constants = [] }: Hints,
): readonly Choice<unknown>[] {
  const field = path.replace(/^sub\.\w+\./, '');
  const known = fieldChoices[field];
  if (/^(?:join|params\.(?:kv|pair)Sep)$/.test(field))
    return [...(known ?? []), ...rareSeparators, ...constants.map((text) => choice(text, 1))];
  if (known !== undefined) return known;
  if (/^steps\.\d+$/.test(field)) return stepChoicesAmong(space);
  // As the signature has it.
  if (path === 'output') return [choice('hex', 0)];
  if (field === 'steps') return distinctBy(stepChoices(space), ({ value }) => value.join('\0'));
  if (field === 'key')
    return keyForms(space.forms, space.pieces)
      .filter(({ sub }) => sub === undefined)
      .map(({ rule, bits }) => choice(rule, bits));
  if (path === 'params.exclude')
    return selections(space.paramNames.map(({ value }) => value)).map(({ value, bits }) =>
      choice(value.exclude, bits),
    );
  if (path === 'encode') return messageChanges.map(({ rule, bits }) => choice(rule, bits));
  if (path === 'params') return usualParams.map((rule, index) => choice(rule, index));
  throw new RecipeError(
    path,
    'cannot be "?"',
    'Leave it out, or write "?" for one value inside it.',
  );
}

/** The steps of a chain, without those that a signature shows. */
function stepChoices({ chains }: SearchSpace): Choice<readonly string[]>[] {
  return chains
    .filter((chain) => subOf(chain) === undefined)
    .map((chain) =>
      choice(stepsOf({ ...chain, reading: { ...chain.reading, after: [] } }), chain.bits),
    );
}

/**
 * A step of a chain; or one or two parts in front of what is digested, or one behind it; or
 * nothing.
 */
function stepChoicesAmong(space: SearchSpace): Choice<string>[] {
  const parts = requestParts(space.task).map(({ tokens, bits }) => choice(tokens.join(''), bits));
  const chains = stepChoices(space);
  const least = chains[0]?.bits ?? 0;
  const steps = chains.flatMap(({ value, bits }) =>
    value.map((step) => choice(step, bits - least)),
  );
  return [
    choice('append:', 1),
    ...distinctBy(steps, ({ value }) => value),
    ...parts.flatMap(({ value, bits }) => [
      choice(`prepend:${value}\n`, bits + 3),
      choice(`append:\n${value}`, bits + 4),
      choice(`append:${value}`, bits + 4),
    ]),
    ...combined(parts, parts, (one, other) => `prepend:${one}\n${other}\n`).map(({ value, bits }) =>
      choice(value, bits + 3),
    ),
  ];
}

/** Maximum number of ways to fill the open values. */
const maxFilled = 20_000;
const maxCombined = 500_000;

/** The ways to fill the open values, the likeliest first. */
async function fill(recipe: OpenRecipe, waysFor: Ways, pause: Pause): Promise<Filling[]> {
  let filled: Filling[] = [choice((known) => known, 0)];
  for (const path of holesIn(recipe)) {
    await pause();
    const ways = waysFor(path);
    const likely = filled.slice(0, Math.ceil(maxCombined / ways.length));
    filled = sortByBits(
      combined(likely, ways, (before, way) => (json: OpenRecipe) => way(before(json))),
    ).slice(0, maxFilled);
  }
  return filled;
}

/** @throws RecipeError for a recipe that is wrong however it is filled */
function checkOpenRecipe(recipe: OpenRecipe, waysFor: Ways): void {
  const known = isOpen(recipe.message) ? { ...recipe, message: ['$params'] } : recipe;
  parseRecipe(holesIn(known).reduce((json, path) => waysFor(path)[0]?.value(json) ?? json, known));
}

/**
 * Whether a recipe says what is behind the last digest: of a text around it, a signature shows one
 * case.
 */
function isLabelled({ steps }: Recipe): boolean {
  return parseDigest(steps.at(-1) ?? '') === null;
}

const betweenPauses = 256;

/**
 * The likeliest recipe by which all samples are signed, of those that fill in the recipe of the
 * hints. None where its message is open: then the hints are for the search. `pause` may throw.
 *
 * @throws RecipeError for hints that no recipe has
 */
export async function findByHints(
  tasks: readonly SolveTask[],
  hints: Hints,
  pause: Pause,
): Promise<Found> {
  const [task] = tasks;
  const wanted = openRecipe(hints);
  let tried = 0;
  if (task === undefined) return { tried, hit: null };
  const space = searchSpace({ ...task, hints: {} });
  const waysFor = memoize((path: string) => fillingsFor(path, wanted, space, hints));
  checkOpenRecipe(wanted, waysFor);
  if (isOpen(wanted.message)) return { tried, hit: null };
  const readings = readSignature(task);
  for (const { value: filledIn, bits } of await fill(wanted, waysFor, pause)) {
    if (tried % betweenPauses === 0) await pause();
    tried += 1;
    const json = filledIn(wanted) as unknown as RecipeJson;
    // Without a joiner, an empty entry is nothing.
    const message = json.message.filter((entry) => entry !== '' || json.join);
    const recipe = unlessRefused(() =>
      parseRecipe(message.length === 0 ? json : { ...json, message }),
    );
    if (recipe === null) continue;
    const read = [
      ...(isLabelled(recipe) ? [recipe] : []),
      ...readings.map((reading) => withReading(recipe, reading)),
    ];
    const hit = read.find((one) => tasks.every((sample) => signs(one, sample)));
    if (hit !== undefined) return { tried, hit: { recipe: hit, bits } };
  }
  return { tried, hit: null };
}

/** What is known of the recipe around an open entry. */
interface OpenPlace {
  readonly constants: readonly string[];
  /** Whether an entry may say how the block of parameters is written. */
  readonly isBlockOpen: boolean;
  /** Whether nothing else is open. */
  readonly isAlone: boolean;
  readonly join: string;
}

/** Words that documents put before a part of the message. */
const words = [
  ['$body', 'Digest', 'Body', 'Content-MD5', 'Content-SHA256', 'X-Content-SHA256'],
  ['$path', 'Request-Target', 'Path', 'URI'],
  ['$host', 'Host'],
  ['$method', 'Method'],
] as const;

/** A part, alone and behind its name, or behind what documents call it. */
function labelled(piece: Piece): Piece[] {
  const token = piece.tokens.join('');
  const [, name] = /^\$\{?(?:param|extra):([^}]+)\}?$/.exec(token) ?? [];
  const own = words.find(([source]) => token.startsWith(source))?.slice(1) ?? [];
  const names = name === undefined ? own : [name];
  return labels.flatMap(({ value, bits }) =>
    value('') === '' ? [piece] : names.map((word) => fuse(literal(value(word), bits + 2), piece)),
  );
}

/** The parts of a request, each as one entry. */
function requestParts(task: SolveTask): Piece[] {
  const parts = tokensOf(task);
  const encoded = parts
    .filter(({ tokens }) => /^\$(?:path|url)$/.test(tokens.join()))
    .map(percentEncoded);
  return [...parts, ...encoded.map((piece) => ({ ...piece, bits: piece.bits + 3 }))];
}

function ofToken(token: string, bits: number): Piece {
  return { tokens: [token], text: '', bits };
}

const secret = ofToken('$secret', 2);
const secretForms = ['md5', 'MD5', 'sha1', 'sha256', 'base64', 'upper', 'rfc3986'].map((name) =>
  ofToken(`$secret.${name}`, 6),
);

/**
 * What an open entry of a message or of a key can be, the likeliest first: a part; where nothing
 * else is open, also two parts or several values with a text between them.
 */
function openEntries(
  task: SolveTask,
  { constants, isBlockOpen, isAlone, join }: OpenPlace,
): Piece[] {
  const { params } = task.request;
  const blocks = (isBlockOpen ? usualParams : [undefined]).map((rule, index) => ({
    ...ofToken('$params', 2 + index / 2),
    ...(rule !== undefined && { params: rule }),
  }));
  const parts = [...requestParts(task), secret, ...blocks];
  const named = secretNames(params).flatMap(({ value, bits }) =>
    ['', '&'].map((before) => literal(`${before}${value}=`, bits + 3)),
  );
  const own = parts.flatMap(labelled);
  const single = [
    ...own,
    ...secretForms,
    ofToken('', isAlone ? 6 : 1.5),
    ofToken('$path$[?$query.sorted]', 5),
    ofToken('$query.sorted', 6),
    ...constants.map((text) => literal(text, 2)),
    ...named,
  ];
  if (!isAlone) return sortByBits(single);
  const between = [
    choice('', 1),
    choice(join, 1),
    choice('?', 4),
    ...separators.filter(({ bits }) => bits < 4),
  ];
  const runs = sentLists(params).map(({ value, bits }) => ({
    bits,
    pieces: value.map((name) => ofToken(namedToken('param', name) ?? '', 0)),
  }));
  return sortByBits([
    ...single,
    ...[...own, ...named].map((part) => fuse(part, secret)),
    ...between.flatMap(({ value: text, bits }) => {
      const separator = literal(text, bits + 1);
      const pairs = parts.flatMap((one) =>
        parts.filter((other) => other !== one).map((other) => fuse(one, separator, other)),
      );
      return [
        ...pairs,
        ...runs.map((run) => ({ ...fuse(joinPieces(run.pieces, text)), bits: run.bits + bits })),
      ];
    }),
  ]);
}
