import { compileRecipe } from '../signing/compile-recipe.js';
import type { Recipe } from '../signing/recipe.js';
import type { Param, SignableRequest } from '../signing/request.js';
import type { Secret } from '../signing/secret.js';
import type { Signer } from '../signing/signer.js';
import { roleOf } from './candidates/pieces.js';
import type { Weighted } from './candidates/weighted.js';
import { probeNames, probeText, reordered } from './matching-recipes.js';

/** A request whose signature would tell recipes apart. */
export interface NextSample {
  readonly request: SignableRequest;
  /** The differences from the given sample, one each. */
  readonly changes: readonly string[];
  /** The number of groups that it separates the recipes into, and the number of recipes. */
  readonly groups: number;
  readonly of: number;
}

/** Maximum number of recipes that a sample is designed for, the likeliest first. */
const considered = 300;

interface Contender extends Weighted {
  readonly signer: Signer;
}

/**
 * Designs the request that separates the recipes with the fewest changes: in each round it adds the change with
 * the most information. Null where no change helps.
 */
export function designSample(
  request: SignableRequest,
  fits: readonly (Weighted & { readonly recipe: Recipe })[],
  secret: Secret,
): NextSample | null {
  const contenders = fits
    .slice(0, considered)
    .map(({ recipe, bits }): Contender => ({ signer: compileRecipe(recipe), bits }));
  const changes: string[] = [];
  let open = changesFor(request);
  let best = judge(request, contenders, secret);
  while (best.groups < contenders.length) {
    const next = mostInformative(open, best.request, contenders, secret);
    if (next === null || next.separation.information <= best.information + minInformation) break;
    changes.push(next.change.instruction);
    open = open.filter((change) => change !== next.change);
    best = next.separation;
  }
  if (changes.length === 0) return null;
  return { request: best.request, changes, groups: best.groups, of: contenders.length };
}

/** Minimum information of a change, in bits. */
const minInformation = 1e-6;

/** How a request separates the recipes. */
interface Separation {
  readonly request: SignableRequest;
  readonly groups: number;
  /** The information in its signature, in bits: the entropy of the groups. */
  readonly information: number;
}

function mostInformative(
  changes: readonly RequestChange[],
  from: SignableRequest,
  contenders: readonly Contender[],
  secret: Secret,
) {
  let most: { change: RequestChange; separation: Separation } | null = null;
  for (const change of changes) {
    const separation = judge(change.apply(from), contenders, secret);
    if (most === null || separation.information > most.separation.information + minInformation)
      most = { change, separation };
  }
  return most;
}

function judge(request: SignableRequest, contenders: readonly Contender[], secret: Secret): Separation {
  const groups = new Map<string, number>();
  let sum = 0;
  for (const { signer, bits } of contenders) {
    const { digest } = signer.sign(request, secret);
    const weight = weightOf(bits);
    groups.set(digest, (groups.get(digest) ?? 0) + weight);
    sum += weight;
  }
  let information = 0;
  for (const weight of groups.values()) information -= (weight / sum) * Math.log2(weight / sum);
  return { request, groups: groups.size, information };
}

/** A likelier recipe counts more, but the others count too. */
function weightOf(bits: number): number {
  return 2 ** (-bits / 4);
}

/** A change of a request that some recipes notice and others do not. */
interface RequestChange {
  /** The change as an instruction: `leave "remark" empty`. */
  readonly instruction: string;
  readonly apply: (request: SignableRequest) => SignableRequest;
}

/** The changes that tell recipes apart, the easiest for a caller first. */
function changesFor(request: SignableRequest): RequestChange[] {
  const [first, second = first] = easiestNames(request);
  return [
    ...(first === undefined || second === undefined ? [] : valueChanges(first, second)),
    {
      instruction: 'send the parameters in another order, neither by name nor by value',
      apply: inOtherOrder,
    },
    {
      instruction: `add parameters named ${probeNames.map(([name]) => name).join(', ')}, if it takes any`,
      apply: (changed) => ({ ...changed, params: [...changed.params, ...probeNames] }),
    },
    { instruction: 'call another path', apply: (changed) => ({ ...changed, url: otherPath(changed.url) }) },
    {
      instruction: 'use another method',
      apply: (changed) => ({ ...changed, method: changed.method === 'GET' ? 'POST' : 'GET' }),
    },
    { instruction: 'send a body', apply: (changed) => ({ ...changed, body: changed.body ?? '{"a":"b c"}' }) },
    {
      instruction: 'call another host',
      apply: (changed) => ({ ...changed, url: changed.url.replace(/^(\w+:\/\/)/, '$1other.') }),
    },
    ...request.params.map(
      ([name]): RequestChange => ({
        instruction: `give ${quote(name)} another value, with capitals and signs in it`,
        apply: (changed) => withValue(changed, name, `Aa ${probeText}`),
      }),
    ),
  ];
}

/** Changes of two parameters whose values the caller can choose. */
function valueChanges(first: string, second: string): RequestChange[] {
  return [
    { instruction: `leave ${quote(first)} empty`, apply: (changed) => withValue(changed, first, '') },
    {
      instruction: `give ${quote(second)} the value ${quote(probeText)}`,
      apply: (changed) => withValue(changed, second, probeText),
    },
    {
      instruction: `leave ${quote(first)} out`,
      apply: (changed) => ({ ...changed, params: changed.params.filter(([name]) => name !== first) }),
    },
    {
      instruction: `give ${quote(second)} twice, with different values`,
      apply: (changed) => ({ ...changed, params: [...changed.params, [second, 'another']] }),
    },
  ];
}

/** Parameter names, those whose values a caller can choose first; the last ones tend to matter least. */
function easiestNames({ params }: SignableRequest): string[] {
  const names = [...new Set(params.map(([name]) => name))].reverse();
  const isFree = (name: string) => roleOf(name) === 'other';
  return [...names.filter(isFree), ...names.filter((name) => !isFree(name))];
}

function withValue(request: SignableRequest, name: string, value: string): SignableRequest {
  return {
    ...request,
    params: request.params.map((param): Param => (param[0] === name ? [name, value] : param)),
  };
}

function inOtherOrder(request: SignableRequest): SignableRequest {
  return { ...request, params: reordered(request.params) };
}

function otherPath(url: string): string {
  return `${url}${url.endsWith('/') ? '' : '/'}other`;
}

function quote(text: string): string {
  return JSON.stringify(text);
}
