import { parseDigest } from '../signing/digest-steps.js';
import { presets } from '../signing/presets.js';
import type { Recipe } from '../signing/recipe.js';
import { paramOf } from '../signing/request.js';
import { type CostRange, firstFrom, lessSpent, type RecipeCandidate, sortByBits } from './candidates/cost.js';
import { roleOf } from './candidates/parameter-roles.js';
import { namedToken } from './candidates/pieces.js';
import { readSignature, type SignatureReading } from './candidates/signature-reading.js';
import { type Change, changesOf } from './changes.js';
import { type Pause, signs } from './fitting-recipes.js';
import type { Found, SolveTask } from './tasks.js';

/** The cost of a preset, in bits. */
const presetBits = 6;
/** Maximum cost of a neighbour, in bits. */
const mostBits = 18;
/** Maximum number of neighbours that are tried: about a second. */
const mostTried = 15_000;
const betweenPauses = 256;

/** Tries the presets, and these with one and two changes: in each round those that cost up to a bit more. */
export async function findNeighbour(tasks: readonly SolveTask[], pause: Pause): Promise<Found> {
  const [task] = tasks;
  const known = task === undefined ? [] : presets.flatMap(({ recipe }) => presetsFor(recipe, task));
  let tried = 0;
  for (let to = presetBits; tried < mostTried && to < mostBits; to++) {
    for (const one of known) {
      for (const changed of changedBy(one, lessSpent({ from: to - 1, to }, one.bits))) {
        if (tried % betweenPauses === 0) await pause();
        tried += 1;
        if (!tasks.every((sample) => signs(changed.recipe, sample))) continue;
        return { tried, hit: changed };
      }
      if (tried >= mostTried) break;
    }
  }
  return { tried, hit: null };
}

/** Minimum cost of a change, in bits: an unlikely recipe does not become likely by one. */
const leastBits = 0.3;

/** A known rule as the request would have it, and its changes, the likeliest first. */
interface KnownRecipe extends RecipeCandidate {
  readonly changes: readonly Change[];
}

/** What no, one and two changes make of a recipe, where these cost more than `from` and at most `to`. */
function* changedBy(
  { recipe, bits, changes }: KnownRecipe,
  { from, to }: CostRange,
): Generator<RecipeCandidate> {
  const isWithin = (cost: number) => cost > from && cost <= to;
  if (isWithin(0)) yield { recipe, bits };
  for (const [index, one] of changes.entries()) {
    if (one.bits > to) return;
    const first = one.apply(recipe);
    if (isWithin(one.bits)) yield { recipe: first, bits: bits + one.bits };
    const begin = Math.max(index + 1, firstFrom(changes, from - one.bits));
    for (const other of changes.slice(begin)) {
      if (one.bits + other.bits > to) break;
      if (isWithin(one.bits + other.bits) && one.place !== other.place)
        yield { recipe: other.apply(first), bits: bits + one.bits + other.bits };
    }
  }
}

/** A preset with the names and the last digest of a request; none where the request lacks a parameter that it names. */
function presetsFor(preset: Recipe, task: SolveTask): KnownRecipe[] {
  const { request } = task;
  const named = [...JSON.stringify(preset).matchAll(/param:(\w+)/g)].map(([, name = '']) => name);
  const listed = [
    ...(Array.isArray(preset.params.order) ? preset.params.order : []),
    ...(preset.params.include ?? []),
  ];
  const own = new Map<string, string>();
  for (const name of [...named, ...listed]) {
    const alike = request.params.find(([known]) => roleOf(known) === roleOf(name))?.[0];
    const found = paramOf(request, name) === undefined ? alike : name;
    if (found === undefined) return [];
    own.set(name, found);
  }
  const renamed = (text: string) => own.get(text) ?? text;
  const { params, message } = preset;
  const recipe: Recipe = {
    ...preset,
    message: message.map((entry) =>
      entry.replace(/^\$param:(\w+)$/, (_, name: string) => namedToken('param', renamed(name)) ?? ''),
    ),
    params: {
      ...params,
      order: Array.isArray(params.order) ? params.order.map(renamed) : params.order,
      include: params.include?.map(renamed) ?? null,
    },
  };
  return readSignature(task).map((reading) => {
    const read = withReading(recipe, reading);
    const changes = changesOf(read, task).map((change) => ({
      ...change,
      bits: Math.max(leastBits, change.bits),
    }));
    return { recipe: read, bits: presetBits + reading.bits, changes: sortByBits(changes) };
  });
}

/** The recipe with the last digest and the output that a signature has. */
export function withReading(recipe: Recipe, { algorithm, output, after }: SignatureReading): Recipe {
  const last = recipe.steps.findLastIndex((step) => parseDigest(step) !== null);
  const digest = recipe.steps[last]?.startsWith('hmac-') ? `hmac-${algorithm}` : algorithm;
  return { ...recipe, output, steps: [...recipe.steps.slice(0, Math.max(last, 0)), digest, ...after] };
}
