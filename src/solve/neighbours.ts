import { digestName, parseDigest } from '../signing/digest-steps.js';
import { presets } from '../signing/presets.js';
import type { Recipe } from '../signing/recipe.js';
import { paramOf } from '../signing/request.js';
import { sortByBits, type Weighted } from './candidates/cost.js';
import { roleOf } from './candidates/parameter-roles.js';
import { namedToken } from './candidates/pieces.js';
import { readSignature, type SignatureReading } from './candidates/signature-reading.js';
import { type Change, changesOf } from './changes.js';
import { type Pause, signs } from './fitting-recipes.js';
import type { Found, SolveTask } from './tasks.js';

/** The cost of a preset, in bits. */
const presetBits = 6;
/** Maximum cost of a neighbour, in bits. */
const mostBits = 13;
/** Maximum number of neighbours that are tried: about a second. */
const mostTried = 15_000;
const betweenPauses = 256;

/** Tries the presets, and these with one and two changes, the likeliest first. */
export async function findNeighbour(tasks: readonly SolveTask[], pause: Pause): Promise<Found> {
  const [task] = tasks;
  const known = task === undefined ? [] : presets.flatMap(({ recipe }) => presetsFor(recipe, task));
  const all = sortByBits(known.flatMap(neighboursOf)).slice(0, mostTried);
  for (const [tried, { base, changes, bits }] of all.entries()) {
    if (tried % betweenPauses === 0) await pause();
    const recipe = changes.reduce((changed, { apply }) => apply(changed), base);
    if (tasks.every((sample) => signs(recipe, sample))) return { tried: tried + 1, hit: { recipe, bits } };
  }
  return { tried: all.length, hit: null };
}

/** Minimum cost of a change, in bits: an unlikely recipe does not become likely by one. */
const leastBits = 0.3;

/** A known rule as the request would have it, with the changes that it can have. */
interface KnownRecipe extends Weighted {
  readonly base: Recipe;
  readonly changes: readonly Change[];
}

/** A known rule without changes, with one and with two. */
function neighboursOf({ base, changes, bits }: KnownRecipe): KnownRecipe[] {
  const found: KnownRecipe[] = [{ base, changes: [], bits }];
  changes.forEach((one, index) => {
    const first = bits + one.bits;
    if (first > mostBits) return;
    found.push({ base, changes: [one], bits: first });
    for (const other of changes.slice(index + 1))
      if (first + other.bits <= mostBits && other.place !== one.place)
        found.push({ base, changes: [one, other], bits: first + other.bits });
  });
  return found;
}

/** A preset with the names and the last digest of a request; none where the request lacks a parameter that it names. */
function presetsFor(preset: Recipe, task: SolveTask): KnownRecipe[] {
  const { request } = task;
  const { order, include } = preset.params;
  const inMessage = [...JSON.stringify(preset).matchAll(/param:(\w+)/g)].map(([, name = '']) => name);
  const own = new Map<string, string>();
  for (const name of [...inMessage, ...(Array.isArray(order) ? order : []), ...(include ?? [])]) {
    const alike = request.params.find(([known]) => roleOf(known) === roleOf(name))?.[0];
    const found = paramOf(request, name) === undefined ? alike : name;
    if (found === undefined) return [];
    own.set(name, found);
  }
  const renamed = (text: string) => own.get(text) ?? text;
  const inToken = (_: string, name: string) => namedToken('param', renamed(name)) ?? '';
  const recipe: Recipe = {
    ...preset,
    message: preset.message.map((entry) => entry.replace(/^\$param:(\w+)$/, inToken)),
    params: {
      ...preset.params,
      order: Array.isArray(order) ? order.map(renamed) : order,
      include: include?.map(renamed) ?? null,
    },
  };
  return readSignature(task).map((reading) => {
    const base = withReading(recipe, reading);
    const changes = changesOf(base, task).map((change) => ({
      ...change,
      bits: Math.max(leastBits, change.bits),
    }));
    return { base, bits: presetBits + reading.bits, changes };
  });
}

/** The recipe with the last digest and the output that a signature has. */
export function withReading(recipe: Recipe, { algorithm, output, after }: SignatureReading): Recipe {
  const last = recipe.steps.findLastIndex((step) => parseDigest(step) !== null);
  const digest = digestName({ algorithm, hmac: recipe.steps[last]?.startsWith('hmac-') ?? false });
  return { ...recipe, output, steps: [...recipe.steps.slice(0, Math.max(last, 0)), digest, ...after] };
}
