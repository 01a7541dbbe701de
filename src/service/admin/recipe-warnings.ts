import { type Endpoint, endpointNamed, endpoints, type Parameter } from '../../protocol/endpoints.js';
import { encodePairs } from '../../protocol/percent-encoding.js';
import { compileRecipes, expectedSignatures, type Signers, signBoth } from '../../signing/app-signatures.js';
import type { SigningRecipes } from '../../signing/recipe.js';
import type { Param, SignableRequest } from '../../signing/request.js';
import { Secret } from '../../signing/secret.js';

const secret = new Secret('0123456789abcdef0123456789abcdef');
const otherSecret = new Secret('fedcba9876543210fedcba9876543210');

const names = ['app_sign', 'sign'] as const;

/**
 * The weaknesses of an app's recipes, one per text; none for the default recipes. They are found by signing a
 * request of each operation, and others that differ from it in the secret or in one parameter.
 *
 * @throws RecipeError for an invalid recipe
 */
export function recipeWarnings(recipes: SigningRecipes): string[] {
  const signers = compileRecipes(recipes);
  const keyed = names.filter((name) => dependsOnSecret(signers, name));
  const unkeyed = names.filter((name) => !keyed.includes(name));
  const unsigned = unsignedParameters(signers, keyed);
  return [
    ...unkeyed.map((name) => `${name} does not depend on the secret: anybody can compute it`),
    ...(unsigned.length === 0
      ? []
      : [
          `an intermediary can change parameters that are not signed with the secret: ${unsigned.join(', ')}`,
        ]),
  ];
}

function dependsOnSecret(signers: Signers, name: (typeof names)[number]): boolean {
  const digests = [secret, otherSecret].map(
    (one) => expectedSignatures(signers, sampleRequest(endpointNamed.passback), one)[name].digest,
  );
  return digests[0] !== digests[1];
}

/** The parameters whose value changes no signature that depends on the secret. */
function unsignedParameters(signers: Signers, keyed: readonly (typeof names)[number][]): string[] {
  const unsigned = endpoints.flatMap((endpoint) => {
    const digestsOf = (changed?: string) => {
      const pair = signBoth(signers, sampleRequest(endpoint, changed), secret);
      return keyed.map((name) => pair[name].digest).join(' ');
    };
    const usual = digestsOf();
    const signed = endpoint.parameters.filter(({ name }) => name !== 'app_sign' && name !== 'sign');
    return signed.map(({ name }) => name).filter((name) => digestsOf(name) === usual);
  });
  return [...new Set(unsigned)];
}

/** A request with a value for each parameter; that of `changed` differs. */
function sampleRequest({ method, path, parameters }: Endpoint, changed?: string): SignableRequest {
  const textOf = (name: string) => {
    if (name === 'timestamp') return name === changed ? '1700000001' : '1700000000';
    return name === changed ? `other-${name}` : `a-${name}`;
  };
  const sent = parameters.filter(({ name }) => name !== 'sign');
  const pair = ({ name }: Parameter): Param => [name, textOf(name)];
  const form = sent.filter((parameter) => parameter.in === 'form').map(pair);
  return {
    method,
    url: `http://127.0.0.1${path}`,
    query: encodePairs(sent.filter((parameter) => parameter.in === 'query').map(pair)),
    params: sent.map(pair),
    body: form.length === 0 ? null : encodePairs(form),
    extra: {},
  };
}
