import { compileRecipe } from '../../core/signing/compile-recipe.js';
import type { Param, SignableRequest } from '../../core/signing/request.js';
import type { Secret } from '../../core/signing/secret.js';
import type { RecipeCandidate } from './candidates/cost.js';
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

/** What recipes, the likeliest first, make of a request. */
type Digests = (request: SignableRequest) => string[];

function digestsBy(fits: readonly RecipeCandidate[], secret: Secret): Digests {
  const signers = fits.slice(0, considered).map(({ recipe }) => compileRecipe(recipe));
  return (request) => signers.map((signer) => signer.sign(request, secret).digest);
}

/**
 * Designs the request that separates the recipes with the fewest changes: in each round it adds the
 * change with the most information. Null where no change helps.
 */
export function designSample(
  request: SignableRequest,
  fits: readonly RecipeCandidate[],
  secret: Secret,
): NextSample | null {
  const digestsOf = digestsBy(fits, secret);
  const candidates = Math.min(fits.length, considered);
  const judge = (judged: SignableRequest) => ({
    request: judged,
    ...separation(digestsOf(judged)),
  });
  const changes: string[] = [];
  let open = changesFor(request);
  let best = judge(request);
  while (best.groups < candidates && open.length > 0) {
    const from = best.request;
    const tried = open.map((change) => ({ change, ...judge(changedBy(change, from)) }));
    const most = tried.reduce((known, one) => (isBetter(one, known) ? one : known));
    if (!isBetter(most, best)) break;
    changes.push(most.change[0]);
    open = open.filter((change) => change !== most.change);
    best = most;
  }
  if (changes.length === 0) return null;
  return { request: best.request, changes, groups: best.groups, candidates };
}

/** Recipes that one change of the request tells from the first; null for those that none does. */
export interface FitGroup {
  readonly change: string | null;
  /** Their ranks, from 1. */
  readonly ranks: readonly number[];
}

/**
 * The fits after the first, by the change that tells them from it: first the change that does for
 * most of them.
 */
export function groupFits(
  request: SignableRequest,
  fits: readonly RecipeCandidate[],
  secret: Secret,
): FitGroup[] {
  const digestsOf = digestsBy(fits, secret);
  const separated = changesFor(request).map((change) => {
    const [first, ...others] = digestsOf(changedBy(change, request));
    return { change: change[0], differs: others.map((digest) => digest !== first) };
  });
  const groups: FitGroup[] = [];
  let open = fits.slice(1, considered).map((_, index) => index + 2);
  while (open.length > 0) {
    const left = separated.map(({ change, differs }) => ({
      change,
      ranks: open.filter((rank) => differs[rank - 2]),
    }));
    const most = left.reduce((known, one) => (one.ranks.length > known.ranks.length ? one : known));
    groups.push(most.ranks.length === 0 ? { change: null, ranks: open } : most);
    open = most.ranks.length === 0 ? [] : open.filter((rank) => !most.ranks.includes(rank));
  }
  return groups;
}

interface Separation {
  readonly groups: number;
  /** The information in a signature, in bits: the entropy of the groups. */
  readonly information: number;
}

const minInformation = 1e-6;

function isBetter(one: Separation, other: Separation): boolean {
  return one.information > other.information + minInformation;
}

function separation(digests: readonly string[]): Separation {
  const groups = new Map<string, number>();
  for (const digest of digests) groups.set(digest, (groups.get(digest) ?? 0) + 1 / digests.length);
  const information = [...groups.values()].reduce(
    (bits, share) => bits - share * Math.log2(share),
    0,
  );
  return { groups: groups.size, information };
}

/**
 * A change that some recipes notice and others do not, as an instruction such as `leave "remark"
 * empty`.
 */
type RequestChange = readonly [
  instruction: string,
  change: (request: SignableRequest) => Partial<SignableRequest>,
];

function changedBy([, change]: RequestChange, request: SignableRequest): SignableRequest {
  return withOwnQuery({ ...request, ...change(request) });
}

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
    [
      `leave ${quote(first)} out`,
      ({ params }) => ({ params: params.filter(([name]) => name !== first) }),
    ],
    [
      `give ${quote(second)} twice, with different values`,
      ({ params }) => ({ params: [...params, [second, 'another']] }),
    ],
  ];
}

/**
 * Parameter names, those whose values a caller can choose first; the last ones tend to matter
 * least.
 */
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
