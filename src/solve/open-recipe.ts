import { algorithms } from '../signing/digest-algorithms.js';
import { digestName, parseDigest } from '../signing/digest-steps.js';
import { RecipeError, type RecipeJson } from '../signing/recipe.js';
import { parseRecipe } from '../signing/recipe-json.js';
import { withValueAt } from '../signing-tools/recipe-changes.js';
import { type Choice, choice, choices, combined, sortByBits } from './candidates/cost.js';
import { usualParams } from './candidates/hinted-items.js';
import { type Piece, percentEncoded } from './candidates/pieces.js';
import { secretNames } from './candidates/secrets.js';
import { readSignature } from './candidates/signature-reading.js';
import { fieldChoices, tokensOf } from './changes.js';
import { type Pause, signs } from './fitting-recipes.js';
import { withReading } from './neighbours.js';
import { validRecipe } from './search/assemble-recipe.js';
import type { Found, SolveTask, TaskHints } from './tasks.js';

/** What a document says of a rule; each hint narrows the search, which then goes deeper. */
export interface Hints extends TaskHints {
  /** A recipe with `"?"` in place of what the document does not say. */
  readonly recipe?: unknown;
}

/** A recipe in JSON, in which a value, an entry of a list, or a whole list may be open: `"?"`. */
type OpenRecipe = Readonly<Record<string, unknown>>;

const open = '?';

/** The recipe of the hints: without one, all is open that they do not say. */
function openRecipe({ recipe, steps, join }: Hints): OpenRecipe {
  const given = (recipe ?? {}) as OpenRecipe;
  const isOpen = given.message === undefined || given.message === open;
  return {
    ...(isOpen && { join: open, params: open }),
    message: open,
    steps: open,
    ...given,
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
  return tasks.map((task) => {
    // A label that the signature has need not be in the message.
    const signed = constants?.filter((text) => text.length < 3 || !task.signature.includes(text));
    return { ...task, hints: { ...own, constants: signed } };
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

/** The values that an open value can have, the likeliest first. */
function choicesFor(path: string, task: SolveTask, { constants = [] }: Hints): Choice<unknown>[] {
  const field = path.replace(/^sub\.\w+\./, '');
  const known = fieldChoices[field];
  if (known !== undefined) return sortByBits(known);
  if (/^(key\.)?(message|tokens)\.\d+$/.test(field)) return sortByBits(tokenChoices(task, constants));
  if (/^steps\.\d+$/.test(field)) return sortByBits(stepChoices(task));
  // As the signature has it.
  if (path === 'output') return [choice('hex', 0)];
  if (field === 'steps') return chainChoices;
  if (field === 'key') return keyChoices;
  if (path === 'params') return usualParams.map((rule, index) => choice(rule, index));
  throw new RecipeError(path, 'cannot be "?"', 'Leave it out, or write "?" for one value inside it.');
}

/** Words that documents put before a part of the message, and the part. */
const labelled = [
  ['$body', 'Digest', 'Body', 'body', 'Content-MD5', 'Content-SHA256', 'x-content-sha256'],
  ['$path', 'Request-Target', 'Path', 'URI', 'uri'],
  ['$host', 'Host', 'host'],
  ['$method', 'Method', 'method'],
] as const;

/** A part, with its token alone and behind a word: its name, or what documents call it. */
function withLabels({ tokens, bits }: Piece): Choice<string>[] {
  const token = tokens.join('');
  const [, name] = /^\$\{?(?:param|extra):([^}]+)\}?$/.exec(token) ?? [];
  const words = labelled.find(([source]) => token.startsWith(source))?.slice(1) ?? [];
  const labels = name === undefined ? words : [...new Set([name, name.toLowerCase()])];
  return [
    choice(token, bits),
    ...labels.flatMap((label) => [
      choice(`${label}:${token}`, bits + 4),
      choice(`${label}=${token}`, bits + 4.5),
    ]),
  ];
}

function partsOf(task: SolveTask): Piece[] {
  const parts = tokensOf(task).filter(({ basePath }) => basePath === undefined);
  const encoded = parts.filter(({ tokens }) => /^\$(?:path|url)$/.test(tokens.join())).map(percentEncoded);
  return [...parts, ...encoded.map((piece) => ({ ...piece, bits: piece.bits + 3 }))];
}

function tokenChoices(task: SolveTask, constants: readonly string[]): Choice<unknown>[] {
  return [
    ...partsOf(task).flatMap(withLabels),
    choice('$params', 2),
    choice('$secret', 2),
    ...['md5', 'MD5', 'sha1', 'sha256', 'base64', 'upper', 'rfc3986'].map((name) =>
      choice(`$secret.${name}`, 6),
    ),
    choice('', 6),
    ...constants.map((text) => choice(text.replaceAll('$', '$$$$'), 2)),
    ...secretNames(task.request.params).map(({ value, bits }) => choice(`&${value}=`, bits + 3)),
  ];
}

/** A digest; or one or two parts in front of what is digested, or one behind it; or nothing. */
function stepChoices(task: SolveTask): Choice<unknown>[] {
  const parts = partsOf(task).map(({ tokens, bits }) => choice(tokens.join(''), bits));
  return [
    choice('append:', 1),
    ...digestChoices,
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

const plainDigests = algorithms.flatMap((algorithm, rank) => [
  choice<string>(algorithm, rank),
  choice(`hmac-${algorithm}`, rank + 0.5),
]);
const formats = choices([0, ''], [3, ':HEX', ':raw', ':base64']);
const digestChoices = combined(plainDigests, formats, (digest, format) => digest + format);

const between = choices<readonly string[]>([4, []], [5, ['append:$secret']]);
const chainChoices: Choice<readonly string[]>[] = sortByBits([
  ...plainDigests.map(({ value, bits }) => choice([value], bits)),
  ...combined(
    combined(digestChoices, between, (first, steps) => [first, ...steps]),
    plainDigests,
    (steps, last) => [...steps, last],
  ),
]).filter(({ bits }) => bits <= 12);

const keyChoices = choices<unknown>(
  [0, {}],
  [4, { decode: 'hex' }, { decode: 'base64' }, { tokens: ['$secret', '&'] }],
  [6, { decode: 'base64url' }, { tokens: ['$secret.md5'] }, { tokens: ['$secret.sha256'] }],
  [6.5, { tokens: ['$secret.sha256'], decode: 'hex' }, { tokens: ['$secret.md5'], decode: 'hex' }],
);

/** Maximum number of ways to fill the open values. */
const mostFilled = 20_000;
const mostCombined = 500_000;

/** The ways to fill the open values, in their order, the likeliest first. */
async function fill(
  holes: readonly string[],
  task: SolveTask,
  hints: Hints,
  pause: Pause,
): Promise<Choice<readonly unknown[]>[]> {
  let filled = [choice<readonly unknown[]>([], 0)];
  for (const path of holes) {
    await pause();
    const values = choicesFor(path, task, hints);
    const likely = filled.slice(0, Math.ceil(mostCombined / values.length));
    filled = sortByBits(combined(likely, values, (known, value) => [...known, value])).slice(0, mostFilled);
  }
  return filled;
}

/** @throws RecipeError for a recipe that is wrong however it is filled */
function checkOpenRecipe(recipe: OpenRecipe, task: SolveTask, hints: Hints): void {
  const closed = holesIn(recipe).reduce(
    (json, path) =>
      withValueAt(json, path, path === 'message' ? ['$params'] : choicesFor(path, task, hints)[0]?.value),
    recipe,
  );
  parseRecipe(closed);
}

const betweenPauses = 256;

/**
 * The likeliest recipe by which all samples are signed, of those that fill in the recipe of the hints. None where its
 * message is open: then the hints are for the search. `pause` may throw.
 *
 * @throws RecipeError for hints that no recipe has
 */
export async function findByHints(tasks: readonly SolveTask[], hints: Hints, pause: Pause): Promise<Found> {
  const [task] = tasks;
  const wanted = openRecipe(hints);
  let tried = 0;
  if (task === undefined) return { tried, hit: null };
  checkOpenRecipe(wanted, task, hints);
  if (isOpen(wanted.message)) return { tried, hit: null };
  const holes = holesIn(wanted);
  for (const { value: values, bits } of await fill(holes, task, hints, pause)) {
    if (tried % betweenPauses === 0) await pause();
    tried += 1;
    const json = holes.reduce((recipe, path, index) => withValueAt(recipe, path, values[index]), wanted);
    const recipe = validRecipe(json as unknown as RecipeJson);
    const read = recipe === null ? [] : readSignature(task).map((reading) => withReading(recipe, reading));
    const hit = read.find((one) => tasks.every((sample) => signs(one, sample)));
    if (hit !== undefined) return { tried, hit: { recipe: hit, bits } };
  }
  return { tried, hit: null };
}
