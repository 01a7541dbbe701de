import type { CallClient } from '../../client/call/call-client.js';
import { signableRequest } from '../../client/call/sign-request.js';
import type { SignatureName } from '../../core/signing/app-signatures.js';
import {
  forAppSign,
  forSign,
  type Signers,
  withAppSign,
} from '../../core/signing/app-signatures.js';
import { unlessRefused } from '../../core/signing/recipe.js';
import type { SignableRequest } from '../../core/signing/request.js';
import type { Secret } from '../../core/signing/secret.js';
import type { Signer } from '../../core/signing/signer.js';
import { spoiled } from '../wrong-signers.js';
import type { Candidate, Candidates } from './candidates.js';
import type { HarmlessRequest } from './harmless-requests.js';

/** Candidates that give a kind of request the same signature. */
export interface SameSignature {
  readonly first: Candidate;
  readonly all: readonly Candidate[];
  readonly weight: number;
}

/** A group of candidates for each of the two signatures. */
export interface GroupPair {
  readonly app_sign: SameSignature;
  readonly sign: SameSignature;
  /** How likely it is that both are right, in relation to other pairs. */
  readonly weight: number;
}

/** Two moments: at one alone, rules of different orders may coincide. */
const moments = [
  { random: 'a0b1c2d3e4f5', timestamp: 1_700_000_001 },
  { random: '9z8y7x6w5v4u', timestamp: 1_711_111_112 },
];

/**
 * The groups of candidates that give a kind of request the same signature, the likeliest first.
 */
export function groupsOf(
  candidates: Candidates,
  name: SignatureName,
  { request, random }: HarmlessRequest,
  { options, baseUrl }: CallClient,
  secret: Secret,
): SameSignature[] {
  const signables = moments.map((moment) =>
    signableRequest(
      request,
      baseUrl,
      options,
      random === undefined ? moment : { ...moment, random },
    ),
  );
  const groups = new Map<string, Candidate[]>();
  const appSigner = candidates.app_sign[0]?.signer;
  if (appSigner === undefined) return [];
  for (const candidate of candidates[name]) {
    const digests = signables.map((signable) =>
      unlessRefused(() => digestOf(name, candidate.signer, appSigner, signable, secret)),
    );
    if (digests.includes(null)) continue;
    const key = digests.join(' ');
    groups.set(key, [...(groups.get(key) ?? []), candidate]);
  }
  const same = [...groups.values()].map((all) => ({
    first: all[0] as Candidate,
    all,
    weight: all.reduce((sum, { weight }) => sum + weight, 0),
  }));
  return same.toSorted((a, b) => b.weight - a.weight);
}

function digestOf(
  name: SignatureName,
  signer: Signer,
  appSigner: Signer,
  request: SignableRequest,
  secret: Secret,
): string {
  const bare = forAppSign(request);
  if (name === 'app_sign') return signer.sign(bare, secret).digest;
  const withApp = withAppSign(request, appSigner.sign(bare, secret).digest);
  return signer.sign(forSign(withApp), secret).digest;
}

/** The pairs of such groups, the likeliest first. */
export function pairsOf(
  candidates: Candidates,
  harmless: HarmlessRequest,
  client: CallClient,
  secret: Secret,
): GroupPair[] {
  const apps = groupsOf(candidates, 'app_sign', harmless, client, secret);
  const signs = groupsOf(candidates, 'sign', harmless, client, secret);
  const pairs = apps.flatMap((app_sign) => signs.map((sign) => pairOf(app_sign, sign)));
  return pairs.toSorted((a, b) => b.weight - a.weight);
}

/** How much likelier one rule for both signatures is than two, where it may be one. */
const oneRuleWeight = 1000;

function pairOf(app_sign: SameSignature, sign: SameSignature): GroupPair {
  const recipes = new Set(sign.all.map(({ recipe }) => recipe));
  const isOneRule = app_sign.all.some(({ recipe }) => recipe !== null && recipes.has(recipe));
  const weight = app_sign.weight * sign.weight;
  return { app_sign, sign, weight: isOneRule ? weight * oneRuleWeight : weight };
}

/** What signs as the likeliest candidates of a pair do. */
export function signersOf({ app_sign, sign }: GroupPair): Signers {
  return { app_sign: app_sign.first.signer, sign: sign.first.signer };
}

/** The same with a wrong `sign`: the control of a pair. */
export function withWrongSign({ app_sign, sign }: GroupPair): Signers {
  return { app_sign: app_sign.first.signer, sign: spoiled(sign.first.signer) };
}

/** The same with a wrong `app_sign`. */
export function withWrongAppSign({ app_sign, sign }: GroupPair): Signers {
  return { app_sign: spoiled(app_sign.first.signer), sign: sign.first.signer };
}
