import { compileRecipe } from '../signing/compile-recipe.js';
import { RecipeError } from '../signing/recipe.js';
import type { Param, SignableRequest } from '../signing/request.js';
import type { Signer } from '../signing/signer.js';
import { chainIdentity } from './candidates/chains.js';
import { roundingBits } from './candidates/layouts.js';
import { type SolveTask, searchSpace } from './candidates/search-space.js';
import { sortByBits } from './candidates/weighted.js';
import type { RecipeCandidate } from './reconstruct/assemble-recipe.js';
import { reconstructBlocks } from './reconstruct/blocks.js';
import type { Hit } from './search/search.js';
import type { Pause } from './solve.js';
import { reconstructLists } from './value-lists.js';

/**
 * Every recipe that makes the message of a hit in `task` and fits all samples, the likeliest first. Of recipes for
 * the same function only the likeliest is listed. A recipe may cost `slack` bits more than the hit.
 */
export async function fitsOf(
  task: SolveTask,
  hit: Hit,
  samples: readonly SolveTask[],
  slack: number,
  pause: Pause,
): Promise<RecipeCandidate[]> {
  const { request, secret } = task;
  const probes = probesFor(request);
  const functions = new Map<string, RecipeCandidate>();
  for (const candidate of sortByBits(await candidatesFor(task, hit, slack, pause))) {
    const signer = signerOf(candidate);
    if (signer === null || !samples.every((sample) => signs(signer, sample))) continue;
    const answers = probes.map((probe) => signer.sign(probe, secret).digest).join(' ');
    if (!functions.has(answers)) functions.set(answers, candidate);
  }
  return [...functions.values()];
}

async function candidatesFor(
  task: SolveTask,
  hit: Hit,
  slack: number,
  pause: Pause,
): Promise<RecipeCandidate[]> {
  const space = searchSpace(task, false);
  const target = {
    message: hit.message,
    chains: space.chains.filter((chain) => chainIdentity(chain) === hit.chain),
    bound: hit.bits + slack + roundingBits,
  };
  const candidates = new Map<string, RecipeCandidate>();
  const add = (candidate: RecipeCandidate) => {
    const key = JSON.stringify(candidate.recipe);
    const known = candidates.get(key);
    if (known === undefined || known.bits > candidate.bits) candidates.set(key, candidate);
  };
  await reconstructBlocks(space, target, add, pause);
  reconstructLists(space, target, add);
  return [...candidates.values()];
}

/** `null` where the language refuses the recipe, such as one that replaces characters of the secret. */
function signerOf({ recipe }: RecipeCandidate): Signer | null {
  try {
    return compileRecipe(recipe);
  } catch (error) {
    if (error instanceof RecipeError) return null;
    throw error;
  }
}

/** Whether the recipe gives the signature of a sample. Another sample may have a secret that cannot be the key. */
function signs(signer: Signer, { request, secret, signature }: SolveTask): boolean {
  try {
    return signer.sign(request, secret).digest === signature;
  } catch (error) {
    if (error instanceof RecipeError) return false;
    throw error;
  }
}

/** Characters that encodings, replacements and case changes treat differently. */
export const probeText = 'a B+c&d=e/f~g*h:i\\j"k|é中';

/** Names that name orders sort differently: mixed case, with an underscore, one the prefix of another. */
export const probeNames: readonly Param[] = [
  ['Zb', '5'],
  ['aB', '9'],
  ['a_b', '1'],
  ['abc', '0'],
  ['ab', '7'],
];

/**
 * Requests that tell functions apart: two recipes that give the same signatures for all of them count as the same
 * function. Every parameter is empty, absent, repeated and full of special characters in one of them, and every
 * part of the request changes.
 */
export function probesFor(request: SignableRequest): SignableRequest[] {
  const { params } = request;
  const rest = otherRequest(request);
  const odd = [
    ...params.map(([name], index): Param => [name, `${9 - (index % 10)}${probeText}`]),
    ...probeNames,
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

/** The same parameters elsewhere: another method, host, path, body and other extra values. */
function otherRequest({ method, url, params, extra }: SignableRequest): SignableRequest {
  return {
    method: method === 'GET' ? 'POST' : 'GET',
    url: `${url.replace(/^(\w+:\/\/)/, '$1Other.')}${url.endsWith('/') ? '' : '/'}V9/other path`,
    params,
    body: `{"Body":"${probeText}"}`,
    extra: Object.fromEntries(Object.entries(extra).map(([name, value]) => [name, `${value}${probeText}`])),
  };
}

/** Every second parameter from the end, then the others from the beginning: neither in name nor in value order. */
export function reordered(params: readonly Param[]): Param[] {
  const odd = params.filter((_, index) => index % 2 === 1).reverse();
  return [...odd, ...params.filter((_, index) => index % 2 === 0)];
}

function emptied(params: readonly Param[], which: 0 | 1): Param[] {
  return params.map(([name, value], index): Param => [name, index % 2 === which ? '' : value]);
}
