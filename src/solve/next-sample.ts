import { compileRecipe } from '../signing/compile-recipe.js';
import type { Param, SignableRequest } from '../signing/request.js';
import type { Secret } from '../signing/secret.js';
import type { Signer } from '../signing/signer.js';
import type { RecipeCandidate, Weighted } from './candidates/cost.js';
import { roleOf } from './candidates/parameter-roles.js';
import { probeNames, probeText, reordered, withOwnQuery } from './probes.js';

/** A request whose signature would tell recipes apart. */
export interface NextSample {
  readonly request: SignableRequest;
  /** The differences from the given sample, one each. */
  readonly changes: readonly string[];
  /** Number of recipes that it separates. */
  readonly candidates: number;
  /** Number of groups that it separates them into. */
  readonly groups: number;
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
  fits: readonly RecipeCandidate[],
  secret: Secret,
): NextSample | null {
  const contenders = fits
    .slice(0, considered)
    .map(({ recipe, bits }): Contender => ({ signer: compileRecipe(recipe), bits }));
  const changes: string[] = [];
  let open = changesFor(request);
  let best = judge(request, contenders, secret);
  while (best.groups < contenders.length) {
    const from = best.request;
    const tried = open.map((change) => ({
      change,
      judged: judge(withOwnQuery({ ...from, ...change[1](from) }), contenders, secret),
    }));
    const most = tried.reduce<(typeof tried)[number] | null>(
      (known, one) => (known === null || isBetter(one.judged, known.judged) ? one : known),
      null,
    );
    if (most === null || !isBetter(most.judged, best)) break;
    changes.push(most.change[0]);
    open = open.filter((change) => change !== most.change);
    best = most.judged;
  }
  if (changes.length === 0) return null;
  return { request: best.request, changes, groups: best.groups, candidates: contenders.length };
}

/** Recipes that one change of the request tells from the first; null for those that none does. */
export interface FitGroup {
  readonly change: string | null;
  /** Their ranks, from 1. */
  readonly ranks: readonly number[];
}

/** The fits after the first, by the change that tells them from it: first the change that does for most of them. */
export function groupFits(
  request: SignableRequest,
  fits: readonly RecipeCandidate[],
  secret: Secret,
): FitGroup[] {
  const signers = fits.slice(0, considered).map(({ recipe }) => compileRecipe(recipe));
  const separated = changesFor(request).map(([instruction, change]) => {
    const changed = withOwnQuery({ ...request, ...change(request) });
    const digests = signers.map((signer) => signer.sign(changed, secret).digest);
    return { change: instruction, ranks: ranksWhere(digests, (digest) => digest !== digests[0]) };
  });
  const groups: FitGroup[] = [];
  let open = ranksWhere(signers, (signer) => signer !== signers[0]);
  while (open.length > 0) {
    const left = separated.map(({ change, ranks }) => ({
      change,
      ranks: ranks.filter((rank) => open.includes(rank)),
    }));
    const most = left.reduce((known, one) => (one.ranks.length > known.ranks.length ? one : known));
    groups.push(most.ranks.length === 0 ? { change: null, ranks: open } : most);
    open = most.ranks.length === 0 ? [] : open.filter((rank) => !most.ranks.includes(rank));
  }
  return groups;
}

function ranksWhere<T>(items: readonly T[], is: (item: T) => boolean): number[] {
  return items.flatMap((item, index) => (is(item) ? [index + 1] : []));
}

interface Separation {
  readonly request: SignableRequest;
  readonly groups: number;
  /** The information in its signature, in bits: the entropy of the groups. */
  readonly information: number;
}

const minInformation = 1e-6;

function isBetter(one: Separation, other: Separation): boolean {
  return one.information > other.information + minInformation;
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

/** A change that some recipes notice and others do not, as an instruction such as `leave "remark" empty`. */
type RequestChange = readonly [
  instruction: string,
  change: (request: SignableRequest) => Partial<SignableRequest>,
];

/** The changes that tell recipes apart, the easiest for a caller first. */
function changesFor(request: SignableRequest): RequestChange[] {
  const [first, second = first] = easiestNames(request);
  return [
    ...(first === undefined || second === undefined ? [] : valueChanges(first, second)),
    [
      'send the parameters in another order, neither by name nor by value',
      ({ params }) => ({ params: reordered(params) }),
    ],
    [
      `add parameters named ${probeNames.map(([name]) => name).join(', ')}, if it takes any`,
      ({ params }) => ({ params: [...params, ...probeNames] }),
    ],
    ['call another path', ({ url }) => ({ url: `${url}${url.endsWith('/') ? '' : '/'}other` })],
    ['use another method', ({ method }) => ({ method: method === 'GET' ? 'POST' : 'GET' })],
    ['send a body', ({ body }) => ({ body: body ?? '{"a":"b c"}' })],
    ['call another host', ({ url }) => ({ url: url.replace(/^(\w+:\/\/)/, '$1other.') })],
    ...request.params.map(
      ([name]): RequestChange => [
        `give ${quote(name)} another value, with capitals and signs in it`,
        ({ params }) => ({ params: withValue(params, name, `Aa ${probeText}`) }),
      ],
    ),
  ];
}

/** Changes of two parameters whose values the caller can choose. */
function valueChanges(first: string, second: string): RequestChange[] {
  return [
    [`leave ${quote(first)} empty`, ({ params }) => ({ params: withValue(params, first, '') })],
    [
      `give ${quote(second)} the value ${quote(probeText)}`,
      ({ params }) => ({ params: withValue(params, second, probeText) }),
    ],
    [`leave ${quote(first)} out`, ({ params }) => ({ params: params.filter(([name]) => name !== first) })],
    [
      `give ${quote(second)} twice, with different values`,
      ({ params }) => ({ params: [...params, [second, 'another']] }),
    ],
  ];
}

/** Parameter names, those whose values a caller can choose first; the last ones tend to matter least. */
function easiestNames({ params }: SignableRequest): string[] {
  const names = [...new Set(params.map(([name]) => name))].reverse();
  const isFree = (name: string) => roleOf(name) === 'other';
  return [...names.filter(isFree), ...names.filter((name) => !isFree(name))];
}

function withValue(params: readonly Param[], name: string, value: string): Param[] {
  return params.map((param) => (param[0] === name ? [name, value] : param));
}

function quote(text: string): string {
  return JSON.stringify(text);
}
