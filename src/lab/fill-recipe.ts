import type { SignatureName } from '../core/signing/app-signatures.js';
import { compileRecipe } from '../core/signing/compile-recipe.js';
import { outputs } from '../core/signing/digest-algorithms.js';
import { parseDigest } from '../core/signing/digest-steps.js';
import { type Recipe, RecipeError, unlessRefused } from '../core/signing/recipe.js';
import { parseRecipe } from '../core/signing/recipe-json.js';
import type { FindOptions, FoundRules } from './find-rules.js';
import { groupRecipes, type RatedRecipe } from './groups.js';
import { choicesAt } from './recipe-choices.js';
import { byBits, type Choice, type Rated } from './rule-parts/rarity.js';
import type { SignedSample } from './sample.js';
import { SignatureReader } from './search.js';

/** Stands in a recipe for a value that the document does not say. */
const open = '?';

/** The names and indexes that lead to a value in a recipe. */
type Path = readonly string[];

/** A `"?"`, and what it may stand for, the most usual first. */
interface Hole {
  readonly path: Path;
  readonly choices: readonly HoleChoice[];
}

interface HoleChoice extends Choice<unknown> {
  /** All that make the same text of the sample, this one included. */
  readonly alike?: readonly Choice<unknown>[];
}

/** A choice for each `"?"`, the last one first. */
interface Picks extends Rated {
  readonly path: Path;
  readonly choice: HoleChoice;
  readonly before: Picks | null;
}

/** Number of ways to fill a recipe that are tried, and of those that are sorted by their bits. */
const maxTried = 40_000;
const maxSorted = 400_000;
/** The same for the ways to write the parameters. */
const maxWritten = 5000;

/** Bits above those of the most usual rule that fits, up to which others are tried. */
const slackBits = 8;

const betweenPauses = 256;

/**
 * Finds the rules that fill in a recipe of which a document says a part: `"?"` stands for a value
 * that it does not say. What is left out has its default, but for `output` and the part of the
 * digest that is sent, which the signature shows.
 *
 * @throws RecipeError for a recipe that is wrong however it is filled in
 */
export async function fillRecipe(
  name: SignatureName,
  partial: unknown,
  samples: readonly SignedSample[],
  { pause = async () => {}, onProgress }: FindOptions = {},
): Promise<FoundRules> {
  const [first, ...others] = samples;
  if (first === undefined) return { groups: [], tried: 0, isDivided: false };
  const reader = new SignatureReader(first.signature);
  const fits: RatedRecipe[] = [];
  let tried = 0;
  let mostBits = Number.POSITIVE_INFINITY;
  // Whether the first sample has rules.
  let isDivided = false;
  for (const picks of fillings(holesOf(name, partial, first), maxTried)) {
    if (tried % betweenPauses === 0) {
      onProgress?.(tried);
      await pause();
    }
    if ((picks?.bits ?? 0) > mostBits) break;
    tried += 1;
    if (recipesThatSign(filledBy(partial, picks), first, reader).length === 0) continue;
    for (const alike of alikePicks(picks))
      for (const recipe of recipesThatSign(filledBy(partial, alike), first, reader)) {
        isDivided = true;
        if (!others.every((sample) => signs(recipe, sample))) continue;
        const bits = alike?.bits ?? 0;
        mostBits = Math.min(mostBits, bits + slackBits);
        fits.push({ recipe, bits });
      }
  }
  const groups = groupRecipes(name, byBits(fits), first);
  return { groups, tried, isDivided: isDivided && fits.length === 0 };
}

/**
 * The open values of a recipe. Those of the parameters are one: many of them write the sample
 * alike.
 */
function holesOf(name: SignatureName, partial: unknown, sample: SignedSample): Hole[] {
  const hasParams = JSON.stringify(partial).includes('$params');
  const holes = holesIn(partial).map((path): Hole => {
    const choices = choicesAt(name, path, sample.request)?.filter(
      // Documents name the parameters once.
      ({ value }) => !(hasParams && value === '$params'),
    );
    if (choices !== undefined) return { path, choices };
    throw new RecipeError(path.join('.'), 'cannot be "?"', 'Write "?" for one value inside it.');
  });
  const usual = holes.reduce<Picks | null>(
    (before, hole) => withPick(before, hole, hole.choices[0]),
    null,
  );
  parseRecipe(filledBy(partial, usual));
  const ofParams = holes.filter(({ path }) => path[0] === 'params');
  if (ofParams.length === 0) return holes;
  const choices = writtenParams(partial, ofParams, sample);
  return [{ path: ['params'], choices }, ...holes.filter(({ path }) => path[0] !== 'params')];
}

function withPick(
  before: Picks | null,
  { path }: Hole,
  choice: HoleChoice = { value: open, bits: 0 },
): Picks {
  return { path, choice, before, bits: choice.bits + (before?.bits ?? 0) };
}

/** The ways to write the parameters: one for each text of the sample. */
function writtenParams(
  partial: unknown,
  holes: readonly Hole[],
  sample: SignedSample,
): HoleChoice[] {
  const byText = new Map<string, Choice<unknown>[]>();
  for (const picks of fillings(holes, maxWritten)) {
    const { params } = filledBy(partial, picks) as { readonly params: unknown };
    const text = unlessRefused(() => {
      const recipe = parseRecipe({ params, message: ['$params'], steps: ['md5'] });
      return compileRecipe(recipe).sign(sample.request, sample.secret).message;
    });
    if (text === null) continue;
    byText.set(text, [...(byText.get(text) ?? []), { value: params, bits: picks?.bits ?? 0 }]);
  }
  return [...byText.values()].flatMap((alike) =>
    alike.slice(0, 1).map((first) => ({ ...first, alike })),
  );
}

/** The ways to fill the open values, the most usual first. */
function fillings(holes: readonly Hole[], most: number): (Picks | null)[] {
  let filled: (Picks | null)[] = [null];
  for (const hole of holes) {
    const likely = filled.slice(0, Math.ceil(maxSorted / hole.choices.length));
    const longer = likely.flatMap((before) =>
      hole.choices.map((choice) => withPick(before, hole, choice)),
    );
    filled = byBits(longer).slice(0, most);
  }
  return filled;
}

/** The ways to fill the open values that make the same texts of the sample. */
function alikePicks(picks: Picks | null): (Picks | null)[] {
  if (picks === null) return [null];
  const { path, choice, before } = picks;
  const { alike = [choice] } = choice;
  return alikePicks(before).flatMap((alikeBefore) =>
    alike.map((alikeChoice) => withPick(alikeBefore, { path, choices: [] }, alikeChoice)),
  );
}

function holesIn(json: unknown, path: Path = []): Path[] {
  if (json === open) return [path];
  if (typeof json !== 'object' || json === null) return [];
  return Object.entries(json).flatMap(([name, value]) => holesIn(value, [...path, name]));
}

/** The recipe with these values. An empty entry of a list is none. */
function filledBy(partial: unknown, picks: Picks | null): unknown {
  let json = structuredClone(partial);
  for (let pick = picks; pick !== null; pick = pick.before)
    json = fillAt(pick.path, json, structuredClone(pick.choice.value));
  return withoutEmptyEntries(json);
}

/** Fills an open value, in the JSON itself. */
function fillAt([name, ...rest]: Path, json: unknown, value: unknown): unknown {
  if (name === undefined) return value;
  const members = json as Record<string, unknown>;
  members[name] = fillAt(rest, members[name], value);
  return members;
}

function withoutEmptyEntries(json: unknown): unknown {
  if (typeof json !== 'object' || json === null || !('message' in json)) return json;
  const { message } = json;
  if (!Array.isArray(message)) return json;
  return { ...json, message: message.filter((entry) => entry !== '') };
}

/** The recipes that give the sample its signature, by what the signature shows of its own form. */
function recipesThatSign(json: unknown, sample: SignedSample, reader: SignatureReader): Recipe[] {
  const recipe = unlessRefused(() => parseRecipe(json));
  if (recipe === null) return [];
  const isOutputSaid = (json as { readonly output?: unknown }).output !== undefined;
  const isDigest = parseDigest(recipe.steps.at(-1) ?? '') !== null;
  const inEachOutput = outputs.map((output) => ({ ...recipe, output }));
  const forms = isDigest ? withDigestForms(recipe, sample, reader) : inEachOutput;
  const isMeant = ({ output }: Recipe) => !isOutputSaid || output === recipe.output;
  return forms.filter((form) => isMeant(form) && signs(form, sample));
}

/**
 * The recipe with the forms of its digest that the signature may have: in hex or base64, whole or
 * cut.
 */
function withDigestForms(
  recipe: Recipe,
  { request, secret }: SignedSample,
  reader: SignatureReader,
): Recipe[] {
  const inHex = unlessRefused(() => compileRecipe({ ...recipe, output: 'hex' }));
  const digest = inHex && unlessRefused(() => inHex.sign(request, secret).digest);
  if (digest === null || !reader.isWrittenIn(digest)) return [];
  return reader.waysIn(digest).map(({ output, slice }) => {
    const cut = slice === null ? [] : [`slice:${slice.join(':')}`];
    return { ...recipe, output, steps: [...recipe.steps, ...cut] };
  });
}

function signs(recipe: Recipe, { request, secret, signature }: SignedSample): boolean {
  return unlessRefused(() => compileRecipe(recipe).sign(request, secret).digest) === signature;
}
