import { digestName, parseDigest } from '../../core/signing/digest-steps.js';
import { compileParams } from '../../core/signing/params.js';
import { presets } from '../../core/signing/presets.js';
import { type Recipe, unlessRefused } from '../../core/signing/recipe.js';
import { parseParts, type RecipeParts } from '../../core/signing/recipe-parts.js';
import { signerOf } from '../../core/signing/recipe-signer.js';
import { paramOf } from '../../core/signing/request.js';
import { memoize } from '../../core/support/memoize.js';
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
const maxBits = 13;
/** Maximum number of neighbours that are tried: about a second. */
const maxTried = 15_000;
const betweenPauses = 256;

/**
 * Tries the presets, and these with one and two changes, the likeliest first. A change that leaves
 * the parameters of the first sample as they are adds nothing to one outside of them.
 */
export async function findNeighbour(tasks: readonly SolveTask[], pause: Pause): Promise<Found> {
  const [task] = tasks;
  if (task === undefined) return { tried: 0, hit: null };
  const known = presets.flatMap(({ recipe }) => presetsFor(recipe, task));
  const partsOf = partsOfNeighbours();
  /** What the bases make of the first sample. */
  const plain = new Map<Recipe, string>();
  const silent = new Set<Change>();
  /** Changes that give the signature of the first sample, but not those of the others. */
  const fitting = new Set<Change>();
  const addsNothing = (one: Change, other: Change) =>
    silent.has(one) && !isOfParams(other) && !fitting.has(other);
  let tried = 0;
  for (const neighbour of sortByBits(known.flatMap(neighboursOf))) {
    const { base, changes, bits } = neighbour;
    const [one, other] = changes;
    if (one && other && (addsNothing(one, other) || addsNothing(other, one))) continue;
    if (tried === maxTried) break;
    if (tried % betweenPauses === 0) await pause();
    tried += 1;
    const signed = unlessRefused(() =>
      signerOf(partsOf(neighbour)).sign(task.request, task.secret),
    );
    const isFit = signed?.digest === task.signature;
    const recipe = isFit ? changed(base, changes) : base;
    if (isFit && tasks.every((sample) => signs(recipe, sample)))
      return { tried, hit: { recipe, bits } };
    if (signed === null || other !== undefined) continue;
    const texts = `${signed.params}\0${signed.digest}`;
    if (one === undefined) plain.set(base, texts);
    else if (isFit) fitting.add(one);
    else if (isOfParams(one) && texts === plain.get(base)) silent.add(one);
  }
  return { tried, hit: null };
}

function changed(base: Recipe, changes: readonly Change[]): Recipe {
  return changes.reduce((recipe, { apply }) => apply(recipe), base);
}

/**
 * Parses neighbours: the rule of the parameters, and what is outside of it, each once for all
 * neighbours that have no or one change there. Whether the language takes it is checked where one
 * fits.
 */
function partsOfNeighbours(): (neighbour: KnownRecipe) => RecipeParts {
  const parsedOnce = <T>(parse: (recipe: Recipe) => T) => {
    const known = memoize((base: Recipe) =>
      memoize((change?: Change) => parse(change?.apply(base) ?? base)),
    );
    return (base: Recipe, changes: readonly Change[]) =>
      changes.length < 2 ? known(base)(changes[0]) : parse(changed(base, changes));
  };
  const rules = parsedOnce(({ params }) => ({ rule: params, params: compileParams(params) }));
  const others = parsedOnce((recipe) => parseParts(recipe));
  return ({ base, changes }) => {
    const { rule, params } = rules(base, changes.filter(isOfParams));
    const outside = changes.filter((change) => !isOfParams(change));
    const parts = others(base, outside);
    return { ...parts, params, recipe: { ...parts.recipe, params: rule } };
  };
}

function isOfParams({ place }: Change): boolean {
  return /^(?:params\.|exclude )/.test(place);
}

/** Minimum cost of a change, in bits: an unlikely recipe does not become likely by one. */
const minBits = 0.3;

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
    if (first > maxBits) return;
    found.push({ base, changes: [one], bits: first });
    for (const other of changes.slice(index + 1))
      if (first + other.bits <= maxBits && other.place !== one.place)
        found.push({ base, changes: [one, other], bits: first + other.bits });
  });
  return found;
}

/**
 * A preset with the names and the last digest of a request; none where the request lacks a
 * parameter that it names.
 */
function presetsFor(preset: Recipe, task: SolveTask): KnownRecipe[] {
  const { request } = task;
  const { order, include } = preset.params;
  const inMessage = [...JSON.stringify(preset).matchAll(/param:(\w+)/g)].map(
    ([, name = '']) => name,
  );
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
  const changes = changesOf(recipe, task).map((change) => ({
    ...change,
    bits: Math.max(minBits, change.bits),
  }));
  return readSignature(task).map((reading) => ({
    base: withReading(recipe, reading),
    bits: presetBits + reading.bits,
    changes,
  }));
}

/** The recipe with the last digest and the output that a signature has. */
export function withReading(
  recipe: Recipe,
  { algorithm, output, after }: SignatureReading,
): Recipe {
  const last = recipe.steps.findLastIndex((step) => parseDigest(step) !== null);
  const digest = digestName({ algorithm, hmac: recipe.steps[last]?.startsWith('hmac-') ?? false });
  return {
    ...recipe,
    output,
    steps: [...recipe.steps.slice(0, Math.max(last, 0)), digest, ...after],
  };
}
