import {
  type RequestSignature,
  type SigningChoice,
  signaturesOf,
  signBoth,
  withAppSign,
} from '../signing/app-signatures.js';
import type { Recipe, RecipeJson, SigningRecipes } from '../signing/recipe.js';
import {
  fields,
  formatRecipe,
  listOf,
  nullOr,
  type Parse,
  parseObject,
  parsePair,
  parseRecipe,
  parseSigningRecipes,
  parseText,
  parseTextMap,
} from '../signing/recipe-json.js';
import { type Param, queryOf, type SignableRequest, withoutParams } from '../signing/request.js';
import { Secret } from '../signing/secret.js';
import type { Signer } from '../signing/signer.js';
import vectorRequests from './vector-requests.json' with { type: 'json' };
import { compareMessages, type Difference } from './verify/compare-messages.js';
import { findMistakes, sentencesOf } from './verify/verify-signature.js';

const stageNames = ['params', 'message', 'digest'] as const;
type StageName = (typeof stageNames)[number];

type Stages = Readonly<Partial<Record<StageName, string>>>;

/** A request and its signatures, by the parameter that carries each. */
export interface Vector {
  readonly name: string;
  /** The subject of the test, in one sentence; absent in a returned file. */
  readonly why?: string;
  readonly request: SignableRequest;
  readonly signatures: Readonly<Record<string, Stages>>;
}

interface VectorFile {
  readonly about: string;
  /** Absent where a module signs. */
  readonly recipe?: RecipeJson;
  readonly recipes?: { readonly app_sign: RecipeJson; readonly sign: RecipeJson };
  /** Made for these vectors; no service accepts it. */
  readonly secret: string;
  readonly vectors: readonly Required<Vector>[];
}

/** Test vectors as returned; unknown fields are ignored. */
interface ReturnedVectors {
  readonly recipes: Recipe | SigningRecipes | null;
  /** Null where the file omits it. */
  readonly secret: string | null;
  readonly vectors: readonly Vector[];
}

export const vectorSecret = 'throw-away-secret-0123456789';

const about =
  'Sign each request with the secret, and compare your params, message and digest with those under "signatures". ' +
  'The params of a request are in request order, as plain text. Replace them with your own values and send the ' +
  'file back: "userinfo sign vectors verify" reports the first stage that differs.';

/**
 * Test vectors for a team that signs in another language: requests that tell implementations apart, with each
 * stage.
 */
export function makeVectors(signing: SigningChoice): VectorFile {
  const secret = new Secret(vectorSecret);
  const usesQuery = signersOf(signing).some((signer) => signer.usesQuery);
  const vectors = vectorRequests.map((given) => {
    const { name, why } = given;
    const { query, ...request } = requestOf(given);
    const filled = fillAppSign(signing, usesQuery ? { ...request, query } : request, secret);
    const signatures = signaturesOf(signing, filled).map((signature) => {
      const { params, message, digest } = signature.signer.sign(signature.request, secret);
      return [signature.name, { params, message, digest }];
    });
    return { name, why, request: filled, signatures: Object.fromEntries(signatures) };
  });
  return { about, ...recipesOf(signing), secret: vectorSecret, vectors };
}

function signersOf(signing: SigningChoice): Signer[] {
  return signing.kind === 'one' ? [signing.signer] : [signing.signers.app_sign, signing.signers.sign];
}

function recipesOf(signing: SigningChoice): Pick<VectorFile, 'recipe' | 'recipes'> {
  if (signing.kind === 'one') return { recipe: formatRecipe(signing.recipe) };
  const { app_sign, sign } = signing.recipes;
  if (app_sign === null || sign === null) return {};
  return { recipes: { app_sign: formatRecipe(app_sign), sign: formatRecipe(sign) } };
}

/** The request with all that the signers read, and with its `app_sign`; without one where a single recipe signs. */
function fillAppSign(signing: SigningChoice, given: SignableRequest, secret: Secret): SignableRequest {
  const request = signing.kind === 'one' ? withoutParams(given, ['app_sign']) : given;
  const missing = signersOf(signing).flatMap((signer) => signer.explain(request, secret).missing);
  const values = (start: string) =>
    [...new Set(missing)]
      .filter((token) => token.startsWith(start))
      .map((token) => token.slice(start.length))
      .map((name): Param => [name, `value of ${name}`]);
  const params = [...request.params, ...values('$param:')];
  const filled = {
    ...request,
    params,
    extra: { ...request.extra, ...Object.fromEntries(values('$extra:')) },
  };
  if (signing.kind === 'one') return filled;
  return withAppSign(filled, signBoth(signing.signers, filled, secret).app_sign.digest);
}

/**
 * Checks untrusted JSON as returned vectors.
 *
 * @throws RecipeError that names the wrong field
 */
export function parseVectors(json: unknown): ReturnedVectors {
  const { recipe, recipes, secret, vectors } = parseObject(json, 'vectors file');
  return {
    recipes: recipe ? parseRecipe(recipe, 'recipe') : recipes ? parseSigningRecipes(recipes) : null,
    secret: secret === undefined ? null : parseText(secret, 'secret'),
    vectors: listOf(parseVector)(vectors, 'vectors'),
  };
}

const parseStages: Parse<Stages> = (json, field) => {
  const given = parseObject(json, field);
  const present = stageNames.filter((stage) => given[stage] !== undefined && given[stage] !== null);
  return Object.fromEntries(present.map((stage) => [stage, parseText(given[stage], `${field}.${stage}`)]));
};

const parseRequestFields = fields(
  {
    method: parseText,
    url: parseText,
    query: nullOr(parseText),
    params: listOf(parsePair),
    body: nullOr(parseText),
    extra: parseTextMap,
  },
  { query: null, body: null, extra: {} },
);

const parseRequest: Parse<SignableRequest> = (json, field) => {
  const { query, ...request } = parseRequestFields(json, field);
  return query === null ? request : { ...request, query };
};

const parseVector: Parse<Vector> = (json, field) => {
  const { name, request, signatures } = parseObject(json, field);
  const stages = Object.entries(parseObject(signatures, `${field}.signatures`));
  return {
    name: parseText(name, `${field}.name`),
    request: parseRequest(request, `${field}.request`),
    signatures: Object.fromEntries(
      stages.map(([signature, given]) => [signature, parseStages(given, `${field}.signatures.${signature}`)]),
    ),
  };
};

export interface VectorCheck {
  readonly vector: string;
  readonly signature: string;
  /** `missing`: none of its stages is in the file. */
  readonly result: 'right' | 'wrong' | 'missing';
  /** For a wrong one: the first stage that differs. */
  readonly fault: (Difference & { readonly stage: StageName }) | null;
}

/**
 * Checks vectors that another team computed; each result names the first stage that differs. `secretText` is the
 * secret they used; null for the secret of our own vectors.
 */
export function checkVectors(
  signing: SigningChoice,
  vectors: readonly Vector[],
  secretText: string | null,
): VectorCheck[] {
  const secret = new Secret(secretText ?? vectorSecret);
  return vectors.flatMap((vector) =>
    signaturesOf(signing, vector.request).map((signature): VectorCheck => {
      const named = { vector: vector.name, signature: signature.name };
      const stages = Object.hasOwn(vector.signatures, signature.name)
        ? vector.signatures[signature.name]
        : undefined;
      if (stages === undefined || Object.keys(stages).length === 0) {
        return { ...named, result: 'missing', fault: null };
      }
      const fault = findFault(signature, stages, secret);
      return { ...named, result: fault === null ? 'right' : 'wrong', fault };
    }),
  );
}

function findFault(signature: RequestSignature, stages: Stages, secret: Secret): VectorCheck['fault'] {
  const explanation = signature.signer.explain(signature.request, secret);
  for (const stage of stageNames) {
    const theirs = stages[stage];
    if (theirs === undefined) continue;
    const difference = compareMessages(explanation[stage], theirs, secret, signature.recipe?.params);
    if (difference === null) continue;
    const causes = stage === 'digest' ? digestCauses(signature, stages, theirs, secret) : difference.causes;
    return { ...difference, stage, causes };
  }
  return null;
}

/** A digest does not show how it was made, so the likely mistakes are tried. */
function digestCauses(
  signature: RequestSignature,
  stages: Stages,
  received: string,
  secret: Secret,
): string[] {
  const nothingElse = { otherSecrets: [], otherRecipes: [], unsent: [] };
  const findings = findMistakes({ ...signature, ...nothingElse, secret, received });
  if (findings.length > 0) return findings.map((finding) => sentencesOf(finding, 'says'));
  if (stages.message === undefined) return [];
  return [
    'The text is the same, its digest is not: another digest, key or output, or text that is not UTF-8.',
  ];
}

const base: readonly Param[] = [
  ['tenant_code', 'acme'],
  ['app_key', 'throw-away-key'],
  ['app_sign', ''],
  ['channel', 'web'],
  ['random', 'k3J9xQ2mVb7T'],
  ['timestamp', '1700000000'],
];

const folder = 'https://api.example.com/api/v1/server/user';

/** A request that tells implementations apart. */
function requestOf({ query = {}, form }: (typeof vectorRequests)[number]) {
  const inQuery = [...base, ...Object.entries(query)];
  const sent = { query: queryOf(inQuery), extra: {} };
  if (form === undefined)
    return { ...sent, method: 'GET', url: `${folder}/user_info_for_third`, params: inQuery, body: null };
  const fields = Object.entries(form);
  const params = [...inQuery, ...fields];
  return { ...sent, method: 'PUT', url: `${folder}/passback_user_info`, params, body: queryOf(fields) };
}
