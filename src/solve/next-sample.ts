import type { Recipe } from '../signing/recipe.js';
import type { Param, SignableRequest } from '../signing/request.js';
import type { Secret } from '../signing/secret.js';
import { compileRecipe } from '../signing/sign.js';
import type { Signer } from '../signing/signer.js';
import { roleOf } from './candidates/pieces.js';
import type { Weighed } from './candidates/weighted.js';
import { oddNames, reordered, tellingText } from './matching-recipes.js';

/** A request that would tell recipes apart, if somebody who knows the rule signed it. */
export interface NextSample {
  readonly request: SignableRequest;
  /** What is different from the sample that there is, one thing each. */
  readonly changes: readonly string[];
  /** Into how many groups it parts the recipes, and how many recipes there are. */
  readonly groups: number;
  readonly of: number;
}

/** Only so many of the likeliest recipes are told apart. */
const considered = 300;

interface Contender extends Weighed {
  readonly signer: Signer;
}

/**
 * Designs the request that tells the recipes apart with the fewest changes: again and again the change that teaches
 * most. Null where none does.
 */
export function designSample(
  request: SignableRequest,
  fits: readonly (Weighed & { readonly recipe: Recipe })[],
  secret: Secret,
): NextSample | null {
  const contenders = fits
    .slice(0, considered)
    .map(({ recipe, bits }): Contender => ({ signer: compileRecipe(recipe), bits }));
  const changes: string[] = [];
  let open = twistsFor(request);
  let best = judge(request, contenders, secret);
  while (best.groups < contenders.length) {
    const next = mostTelling(open, best.request, contenders, secret);
    if (next === null || next.parting.taught <= best.taught + leastTaught) break;
    changes.push(next.twist.say);
    open = open.filter((twist) => twist !== next.twist);
    best = next.parting;
  }
  if (changes.length === 0) return null;
  return { request: best.request, changes, groups: best.groups, of: contenders.length };
}

/** What teaches no more than this is not worth asking for. */
const leastTaught = 1e-6;

/** How a request parts the recipes. */
interface Parting {
  readonly request: SignableRequest;
  readonly groups: number;
  /** What its signature would teach, in bits: the entropy of the groups. */
  readonly taught: number;
}

function mostTelling(
  twists: readonly Twist[],
  from: SignableRequest,
  contenders: readonly Contender[],
  secret: Secret,
) {
  let most: { twist: Twist; parting: Parting } | null = null;
  for (const twist of twists) {
    const parting = judge(twist.apply(from), contenders, secret);
    if (most === null || parting.taught > most.parting.taught + leastTaught) most = { twist, parting };
  }
  return most;
}

function judge(request: SignableRequest, contenders: readonly Contender[], secret: Secret): Parting {
  const groups = new Map<string, number>();
  let sum = 0;
  for (const { signer, bits } of contenders) {
    const { digest } = signer.sign(request, secret);
    const weight = weightOf(bits);
    groups.set(digest, (groups.get(digest) ?? 0) + weight);
    sum += weight;
  }
  let taught = 0;
  for (const weight of groups.values()) taught -= (weight / sum) * Math.log2(weight / sum);
  return { request, groups: groups.size, taught };
}

/** The likelier a recipe, the more it counts, but the others count as well. */
function weightOf(bits: number): number {
  return 2 ** (-bits / 4);
}

/** A change of a request that some recipes notice and others do not. */
interface Twist {
  /** What to do, as one would ask for it: `leave "remark" empty`. */
  readonly say: string;
  readonly apply: (request: SignableRequest) => SignableRequest;
}

/** The changes that tell recipes apart, the easiest to ask for first. */
function twistsFor(request: SignableRequest): Twist[] {
  const [first, second = first] = easiestNames(request);
  return [
    ...(first === undefined || second === undefined ? [] : valueTwists(first, second)),
    { say: 'send the parameters in another order, neither by name nor by value', apply: inOtherOrder },
    {
      say: `add parameters named ${oddNames.map(([name]) => name).join(', ')}, if it takes any`,
      apply: (changed) => ({ ...changed, params: [...changed.params, ...oddNames] }),
    },
    { say: 'call another path', apply: (changed) => ({ ...changed, url: otherPath(changed.url) }) },
    {
      say: 'use another method',
      apply: (changed) => ({ ...changed, method: changed.method === 'GET' ? 'POST' : 'GET' }),
    },
    { say: 'send a body', apply: (changed) => ({ ...changed, body: changed.body ?? '{"a":"b c"}' }) },
    {
      say: 'call another host',
      apply: (changed) => ({ ...changed, url: changed.url.replace(/^(\w+:\/\/)/, '$1other.') }),
    },
    ...request.params.map(
      ([name]): Twist => ({
        say: `give ${quote(name)} another value, with capitals and signs in it`,
        apply: (changed) => withValue(changed, name, `Aa ${tellingText}`),
      }),
    ),
  ];
}

/** What can be done with two parameters that the caller chooses the values of. */
function valueTwists(first: string, second: string): Twist[] {
  return [
    { say: `leave ${quote(first)} empty`, apply: (changed) => withValue(changed, first, '') },
    {
      say: `give ${quote(second)} the value ${quote(tellingText)}`,
      apply: (changed) => withValue(changed, second, tellingText),
    },
    {
      say: `leave ${quote(first)} out`,
      apply: (changed) => ({ ...changed, params: changed.params.filter(([name]) => name !== first) }),
    },
    {
      say: `give ${quote(second)} twice, with different values`,
      apply: (changed) => ({ ...changed, params: [...changed.params, [second, 'another']] }),
    },
  ];
}

/** The names of parameters, those first whose values a caller is free to choose; the last ones tend to matter least. */
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
