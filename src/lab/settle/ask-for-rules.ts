import type { CallClient } from '../../client/call/call-client.js';
import { signableRequest } from '../../client/call/sign-request.js';
import {
  forAppSign,
  forSign,
  type SignatureName,
  type Signers,
  signBoth,
  withAppSign,
} from '../../core/signing/app-signatures.js';
import type { Recipe } from '../../core/signing/recipe.js';
import type { SignableRequest } from '../../core/signing/request.js';
import type { Secret } from '../../core/signing/secret.js';
import { findRules } from '../find-rules.js';
import type { SignedSample } from '../sample.js';
import type { Asker } from './asker.js';
import { type Candidate, type Candidates, candidateOf, candidatesOf } from './candidates.js';
import { sortedRead } from './harmless-requests.js';
import {
  type CandidateList,
  type Search,
  type SearchStart,
  searchByAsking,
} from './search-by-asking.js';
import { maxSettling, type Observation, type Reach, type Settlement, settle } from './settle.js';
import { usualRules } from './usual-rules.js';

/** What was asked without any accepted request. */
export interface AskedRules {
  readonly search: Search;
  /** `null` if a rule was not found. */
  readonly settlement: Settlement | null;
}

/** The moments of the reads that candidates are compared by. */
const moment = { random: 'q7w3e9r1t5y2', timestamp: 1_700_000_000 };
const timestampAsRandom = { ...moment, random: String(moment.timestamp) };
const someAppSign = '5eb63bbbe01eeed093cb22bb8f5acdc3';

/**
 * Finds the rules of a platform without any accepted request: searches them by reads, takes an
 * accepted read for a captured one, and lets the platform decide between the rules that fit it.
 *
 * @throws NoAnswerError if no answer came; CancelledError, AbortError
 */
export async function askForRules(
  asker: Asker,
  client: CallClient,
  secret: Secret,
  start: Omit<SearchStart, 'candidates'>,
  reach?: Reach,
): Promise<AskedRules> {
  const { options, baseUrl } = client;
  const readWith = (usesTimestampAsRandom: boolean) => {
    const time = usesTimestampAsRandom ? timestampAsRandom : moment;
    return signableRequest(sortedRead().request, baseUrl, options, time);
  };
  const candidatesFor: CandidateList = (name, knownRule, usesTimestampAsRandom) =>
    usualCandidates(name, knownRule, readWith(usesTimestampAsRandom), secret);
  asker.reserved = maxSettling;
  const search = await searchByAsking(asker, { ...start, candidates: candidatesFor });
  asker.reserved = 0;
  const { app_sign, sign } = search;
  if (app_sign === null || sign === null) return { search, settlement: null };
  const { profileRules } = start;
  if (app_sign === profileRules.app_sign && sign === profileRules.sign) {
    const settlement = await settle(
      asker,
      client,
      { app_sign: [app_sign], sign: [sign] },
      secret,
      reach,
    );
    if (!settlement.observations.some(showsRefusal)) return { search, settlement };
  }
  const signers = { app_sign: app_sign.signer, sign: sign.signer };
  // Of rules that coincided, one was found: the others have to fit the read, too.
  const fits = await fitsOf(readWith(search.usesTimestampAsRandom), signers, secret);
  const candidates = {
    app_sign: fits.app_sign.length > 0 ? fits.app_sign : [app_sign],
    sign: fits.sign.length > 0 ? fits.sign : [sign],
  };
  return { search, settlement: await settle(asker, client, candidates, secret, reach) };
}

function showsRefusal({ app_sign, sign }: Observation): boolean {
  return app_sign === 'refused' || sign === 'refused';
}

/** The rules that sign a read as these signers do. */
async function fitsOf(
  read: SignableRequest,
  signers: Signers,
  secret: Secret,
): Promise<Candidates> {
  const { app_sign, sign } = signBoth(signers, read, secret);
  const withApp = forSign(withAppSign(read, app_sign.digest));
  const samples: Record<SignatureName, SignedSample> = {
    app_sign: { request: forAppSign(read), signature: app_sign.digest, secret },
    sign: { request: withApp, signature: sign.digest, secret },
  };
  return {
    app_sign: candidatesOf(await findRules('app_sign', [samples.app_sign])),
    sign: candidatesOf(await findRules('sign', [samples.sign])),
  };
}

function* usualCandidates(
  name: SignatureName,
  knownRule: Candidate | null,
  read: SignableRequest,
  secret: Secret,
): Generator<Candidate> {
  const request = name === 'sign' ? withAppSign(read, someAppSign) : forAppSign(read);
  if (knownRule?.recipe) yield* sameRules(knownRule.recipe);
  yield* usualRules(name, request, secret);
}

/** Rules like that of the other signature: the same, and the same without `app_sign`. */
function sameRules({ params, ...rest }: Recipe): Candidate[] {
  const without = { ...params, exclude: [...params.exclude, 'app_sign'] };
  return [candidateOf({ params, ...rest }), candidateOf({ params: without, ...rest })];
}
