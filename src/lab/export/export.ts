import {
  type SigningChoice,
  signaturesOf,
  signBoth,
  withAppSign,
} from '../../core/signing/app-signatures.js';
import type { LanguageName } from '../../core/signing/digest-algorithms.js';
import { type Recipe, RecipeError } from '../../core/signing/recipe.js';
import { partsOf } from '../../core/signing/recipe-parts.js';
import {
  type Param,
  queryOf,
  type SignableRequest,
  withoutParams,
} from '../../core/signing/request.js';
import { Secret } from '../../core/signing/secret.js';
import { type Language, languages } from './languages.js';
import { operationsOf } from './operations.js';
import testRequests from './test-requests.json' with { type: 'json' };
import { type ExportedCase, type ExportedRule, Writer } from './writer.js';

export { languages } from './languages.js';

interface ExportSource {
  readonly from: string;
  /** Number of rules that fit the samples by which it was found. */
  readonly fits?: number;
}

/**
 * The rule, or the pair of rules, as a file of a language: a function a signature, which takes
 * method, URL, parameters, body and the secret. The file never contains a secret.
 *
 * @throws RecipeError for a module
 */
export function exportRule(
  signing: SigningChoice,
  name: LanguageName,
  source: ExportSource,
): string {
  const language = languages[name];
  return new Writer(name).rules(rulesOf(signing), comment(language, origin(source)));
}

/**
 * A test of that file by the means of the language: requests that tell implementations apart,
 * signed with a throw-away secret.
 *
 * @throws RecipeError as `exportRule`
 */
export function exportTest(
  signing: SigningChoice,
  name: LanguageName,
  source: ExportSource,
): string {
  rulesOf(signing); // refuses a module
  const header = comment(languages[name], [...origin(source), `Run: ${languages[name].run}`]);
  return new Writer(name).cases(casesOf(signing), header);
}

/** @throws RecipeError where a module signs */
function rulesOf(signing: SigningChoice): ExportedRule[] {
  const recipes: Readonly<Record<string, Recipe | null>> =
    signing.kind === 'one' ? { sign: signing.recipe } : signing.recipes;
  return Object.entries(recipes).map(([name, recipe]) => {
    if (recipe === null) {
      throw new RecipeError(
        name,
        'is signed by a module, which is a program and no recipe',
        'Translate the module by hand.',
      );
    }
    const parts = partsOf(recipe);
    const usesQuery = parts.allTokens.some(({ source }) => source === 'query');
    return { name, usesQuery, operations: operationsOf(parts, usesQuery) };
  });
}

function origin({ from, fits = 1 }: ExportSource): string[] {
  const others =
    fits > 1
      ? [
          `${fits} rules fit the samples, and this is the likeliest:`,
          'check it with a second sample.',
        ]
      : [];
  // It may be the name of a file: no more than this means nothing in the comments of any language.
  const named = from.replace(/[^\w ."-]/g, '_');
  return [`The signing rule of ${named}, written by "userinfo sign export".`, ...others];
}

function comment({ comment: mark }: Language, lines: readonly string[]): string {
  return lines.map((line) => `${mark} ${line}`).join('\n');
}

/** No service accepts it. */
export const testSecret = 'throw-away-secret-0123456789';

/** Requests that tell implementations apart, with each of their signatures. */
function casesOf(signing: SigningChoice): ExportedCase[] {
  const secret = new Secret(testSecret);
  return testRequests.flatMap((given) =>
    signaturesOf(signing, filledFor(signing, requestOf(given), secret)).map(
      ({ name: rule, request, signer }): ExportedCase => {
        const { method, url, query, params, body } = request;
        return {
          rule,
          title: `${rule}: ${given.name}`,
          method,
          url: signer.usesQuery ? `${url}?${query}` : url,
          params: params.map(([name, value]) => [name, value]),
          body,
          secret: testSecret,
          signature: signer.sign(request, secret).digest,
        };
      },
    ),
  );
}

/**
 * The request with all that the signers read, and with its `app_sign`; without one where a single
 * recipe signs.
 */
function filledFor(
  signing: SigningChoice,
  given: SignableRequest,
  secret: Secret,
): SignableRequest {
  const isOne = signing.kind === 'one';
  const request = isOne ? withoutParams(given, ['app_sign']) : given;
  const signers = isOne ? [signing.signer] : Object.values(signing.signers);
  const missing = new Set(signers.flatMap((signer) => signer.explain(request, secret).missing));
  const named = [...missing].filter((token) => token.startsWith('$param:'));
  const added = named.map((token): Param => {
    const name = token.slice('$param:'.length);
    return [name, `value of ${name}`];
  });
  const filled = { ...request, params: [...request.params, ...added] };
  return isOne
    ? filled
    : withAppSign(filled, signBoth(signing.signers, filled, secret).app_sign.digest);
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

function requestOf({ query = {}, form }: (typeof testRequests)[number]): SignableRequest {
  const inQuery = [...base, ...Object.entries(query)];
  const sent = { query: queryOf(inQuery) };
  if (form === undefined)
    return {
      ...sent,
      method: 'GET',
      url: `${folder}/user_info_for_third`,
      params: inQuery,
      body: null,
    };
  const fields = Object.entries(form).map(([name, value]): Param => [name, value, 'form']);
  const params = [...inQuery, ...fields];
  return {
    ...sent,
    method: 'PUT',
    url: `${folder}/passback_user_info`,
    params,
    body: queryOf(fields),
  };
}
