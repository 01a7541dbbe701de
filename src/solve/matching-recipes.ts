import type { Recipe } from '../signing/recipe.js';
import { RecipeError } from '../signing/recipe-error.js';
import type { Param, SignableRequest } from '../signing/request.js';
import { compileRecipe } from '../signing/sign.js';
import type { Signer } from '../signing/signer.js';
import { chainIdentity } from './candidates/chains.js';
import { type SolveTask, wholeSpace } from './candidates/search-space.js';
import { sortByBits, type Weighed } from './candidates/weighted.js';
import type { Telling } from './reconstruct/assemble-recipe.js';
import { BlockRecovery } from './reconstruct/blocks.js';
import { recoverLists } from './reconstruct/lists.js';
import type { Hit } from './search/share.js';
import type { Pause } from './solve.js';

/** A recipe that signs every sample as it was signed. */
export interface Fit extends Weighed {
  readonly recipe: Recipe;
  /** Other ways to say the same function that were found. */
  readonly alike: number;
}

/** What recipes are wanted for: a message that was found, and the samples that they must fit. */
interface FitsWanted {
  readonly task: SolveTask;
  readonly hit: Hit;
  readonly others: readonly SolveTask[];
  /** How much dearer than the hit a recipe may be, in bits. */
  readonly slack: number;
}

/**
 * Every recipe that makes the message of a hit and fits all samples, the likeliest first; of those that are the same
 * function, the likeliest alone.
 */
export async function fitsOf(wanted: FitsWanted, pause: Pause): Promise<Fit[]> {
  const { request, secret } = wanted.task;
  const samples = [wanted.task, ...wanted.others];
  const probes = probesFor(request);
  const functions = new Map<string, Fit>();
  for (const { recipe, bits } of sortByBits(await tellAll(wanted, pause))) {
    const signer = compileRecipe(recipe);
    if (!samples.every((sample) => signs(signer, sample))) continue;
    const answers = probes.map((probe) => signer.sign(probe, secret).digest).join(' ');
    const known = functions.get(answers);
    functions.set(
      answers,
      known === undefined ? { recipe, bits, alike: 0 } : { ...known, alike: known.alike + 1 },
    );
  }
  return [...functions.values()];
}

async function tellAll({ task, hit, slack }: FitsWanted, pause: Pause): Promise<Telling[]> {
  const space = wholeSpace(task);
  const riddle = {
    message: hit.message,
    chains: space.chains.filter((chain) => chainIdentity(chain) === hit.chain),
    bound: hit.bits + slack,
  };
  const told = new Map<string, Telling>();
  const add = (telling: Telling) => {
    const key = JSON.stringify(telling.recipe);
    const known = told.get(key);
    if (known === undefined || known.bits > telling.bits) told.set(key, telling);
  };
  await new BlockRecovery(space, riddle, add).run(pause);
  recoverLists(space, riddle, add);
  return [...told.values()];
}

/** Whether a sample was signed so. Another sample may come with a secret that cannot be the key. */
function signs(signer: Signer, { request, secret, signature }: SolveTask): boolean {
  try {
    return signer.sign(request, secret).digest === signature;
  } catch (error) {
    if (error instanceof RecipeError) return false;
    throw error;
  }
}

/** Holds all that encodings, escapes and foldings treat differently. */
export const tellingText = 'a B+c&d=e/f~g*h:i\\j"k|é中';

/** Names that the orders of names put differently: in mixed case, with an underscore, one the beginning of another. */
export const oddNames: readonly Param[] = [
  ['Zb', '5'],
  ['aB', '9'],
  ['a_b', '1'],
  ['abc', '0'],
  ['ab', '7'],
];

/**
 * Requests that tell functions apart: two recipes that sign all of them alike are taken for the same function. Every
 * parameter is somewhere empty, absent, given twice and full of odd characters, and every part of the request changes.
 */
export function probesFor(request: SignableRequest): SignableRequest[] {
  const { params } = request;
  const rest = otherRequest(request);
  const odd = [
    ...params.map(([name], index): Param => [name, `${9 - (index % 10)}${tellingText}`]),
    ...oddNames,
  ];
  return [
    request,
    { ...request, params: reordered(odd) },
    { ...rest, params: odd },
    { ...rest, params: emptied(odd, 0), body: null },
    { ...request, params: emptied(reordered(odd), 1) },
    { ...request, params: odd.filter((_, index) => index % 2 === 0) },
    { ...request, params: odd.filter((_, index) => index % 2 === 1) },
    { ...rest, params: [...params, ...odd.slice(0, params.length)] },
  ];
}

/** The same parameters in another place: other method, host, path, body and extra values. */
function otherRequest({ method, url, params, extra }: SignableRequest): SignableRequest {
  return {
    method: method === 'GET' ? 'POST' : 'GET',
    url: `${url.replace(/^(\w+:\/\/)/, '$1Other.')}${url.endsWith('/') ? '' : '/'}V9/other path`,
    params,
    body: `{"Body":"${tellingText}"}`,
    extra: Object.fromEntries(Object.entries(extra).map(([name, value]) => [name, `${value}${tellingText}`])),
  };
}

/** Every second from the end, then the others from the beginning: neither by name nor by value. */
export function reordered(params: readonly Param[]): Param[] {
  const odd = params.filter((_, index) => index % 2 === 1).reverse();
  return [...odd, ...params.filter((_, index) => index % 2 === 0)];
}

function emptied(params: readonly Param[], which: 0 | 1): Param[] {
  return params.map(([name, value], index): Param => [name, index % 2 === which ? '' : value]);
}
