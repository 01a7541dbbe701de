import { endpointNamed, endpoints, type OperationName } from '../../core/contract/endpoints.js';
import {
  type Signers,
  type SigningChoice,
  signaturesOf,
  signBoth,
  withAppSign,
} from '../../core/signing/app-signatures.js';
import { type Recipe, RecipeError } from '../../core/signing/recipe.js';
import { parseRecipeParts } from '../../core/signing/recipe-parts.js';
import {
  type Param,
  queryOf,
  type SignableRequest,
  withoutParams,
} from '../../core/signing/request.js';
import { Secret } from '../../core/signing/secret.js';
import type { Signer } from '../../core/signing/signer.js';
import { encodePairs } from '../../core/support/percent-encoding.js';
import type { LanguageName } from './digest-names.js';
import { type Language, languages } from './languages.js';
import { statementsOf } from './statements.js';
import testRequests from './test-requests.json' with { type: 'json' };
import { type ExportedCase, type ExportedRequest, type ExportedRule, Writer } from './writer.js';

export { languages } from './languages.js';

interface ExportSource {
  readonly from: string;
  /** Number of rules that fit the samples by which it was found. */
  readonly fits?: number;
}

/**
 * The rule, or the pair of rules, as a file of a language: a function a signature, which takes
 * method, URL, parameters, body and the secret; for a pair one more, which makes a whole signed
 * request of an operation. The file never contains a secret.
 *
 * @throws RecipeError for a module
 */
export function exportRule(
  signing: SigningChoice,
  name: LanguageName,
  source: ExportSource,
): string {
  return exportFunctions(recipesOf(signing), name, source);
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
  recipesOf(signing); // refuses a module
  const header = comment(languages[name], [...origin(source), `Run: ${languages[name].run}`]);
  const requests = signing.kind === 'one' ? [] : requestsOf(signing.signers);
  return new Writer(name).test(casesOf(signing), requests, header);
}

/**
 * Any number of rules as one file, each a function by its name.
 *
 * @throws RecipeError for what the language cannot express
 */
export function exportFunctions(
  recipes: Readonly<Record<string, Recipe>>,
  name: LanguageName,
  source: ExportSource,
): string {
  const rules = Object.entries(recipes).map(([rule, recipe]) => ruleOf(rule, recipe));
  return new Writer(name).rules(rules, comment(languages[name], origin(source)));
}

/** @throws RecipeError where a module signs */
function recipesOf(signing: SigningChoice): Readonly<Record<string, Recipe>> {
  const recipes = signing.kind === 'one' ? { sign: signing.recipe } : signing.recipes;
  const translated = Object.entries(recipes).map(([name, recipe]) => {
    if (recipe !== null) return [name, recipe] as const;
    throw new RecipeError(
      name,
      'is signed by a module, which is a program and no recipe',
      'Translate the module by hand.',
    );
  });
  return Object.fromEntries(translated);
}

function ruleOf(name: string, recipe: Recipe): ExportedRule {
  const parts = parseRecipeParts(recipe);
  const usesQuery = parts.allTokens.some(({ source }) => source === 'query');
  return { name, usesQuery, statements: statementsOf(parts) };
}

function origin({ from, fits = 1 }: ExportSource): string[] {
  // It may be the name of a file: these characters mean nothing in the comments of any language.
  const name = from.replace(/[^\w ."-]/g, '_');
  const lines = [`The signing rule of ${name}, written by "userinfo sign export".`];
  if (fits > 1) {
    lines.push(`${fits} rules fit the samples, and this is the likeliest:`);
    lines.push('check it with a second sample.');
  }
  return lines;
}

function comment({ comment: mark }: Language, lines: readonly string[]): string {
  return lines.map((line) => `${mark} ${line}`).join('\n');
}

/** No service accepts it. */
export const testSecret = 'throw-away-secret-0123456789';

/** Requests that tell implementations apart, with each of their signatures. */
function casesOf(signing: SigningChoice): ExportedCase[] {
  const secret = new Secret(testSecret);
  return testRequests.flatMap((testRequest) =>
    signaturesOf(signing, filledFor(signing, requestOf(testRequest), secret)).map(
      ({ name: rule, request, signer }): ExportedCase => {
        const { method, url, query, params, body } = request;
        return {
          rule,
          title: `${rule}: ${testRequest.name}`,
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
  request: SignableRequest,
  secret: Secret,
): SignableRequest {
  if (signing.kind === 'one') {
    return withMissingParams([signing.signer], withoutParams(request, ['app_sign']));
  }
  const filled = withMissingParams(Object.values(signing.signers), request);
  return withAppSign(filled, signBoth(signing.signers, filled, secret).app_sign.digest);
}

function withMissingParams(signers: readonly Signer[], request: SignableRequest): SignableRequest {
  return { ...request, params: [...request.params, ...missingParams(signers, request)] };
}

/** Parameters that rules name and a request lacks. */
function missingParams(signers: readonly Signer[], request: SignableRequest): NamedText[] {
  const secret = new Secret(testSecret);
  const missing = new Set(signers.flatMap((signer) => signer.explain(request, secret).missing));
  const named = [...missing].filter((token) => token.startsWith('$param:'));
  return named.map((token) => {
    const name = token.slice('$param:'.length);
    return [name, `value of ${name}`];
  });
}

/** A read and a passback, as both rules together sign them. */
function requestsOf(signers: Signers): ExportedRequest[] {
  return endpoints.map(({ operation }) => {
    const { query, fields } = sentRequests[operation];
    const filled = [
      ...query,
      ...missingParams(Object.values(signers), ofOperation(operation, query, fields)),
    ];
    return signedRequest(signers, operation, filled, fields);
  });
}

type NamedText = readonly [name: string, value: string];
type Pairs = readonly NamedText[];

/** What `signed_request` of a language makes of an operation. */
export function signedRequest(
  signers: Signers,
  operation: OperationName,
  query: Pairs,
  fields: Pairs,
  secret = testSecret,
): ExportedRequest {
  const request = ofOperation(operation, query, fields);
  const { method, body } = request;
  const { app_sign, sign } = signBoth(signers, request, new Secret(secret));
  const sent = [...query, ['app_sign', app_sign.digest], ['sign', sign.digest]] as const;
  const url = `${request.url}?${encodePairs(sent)}`;
  return {
    title: operation,
    operation,
    baseUrl,
    query,
    fields,
    secret,
    sent: { method, url, body },
  };
}

function ofOperation(operation: OperationName, query: Pairs, fields: Pairs): SignableRequest {
  const { method, path } = endpointNamed[operation];
  // The place of the new signature is after the query.
  const inQuery: Pairs = [...query, ['app_sign', '']];
  return {
    method,
    url: baseUrl + path,
    query: encodePairs(inQuery),
    params: [...inQuery, ...fields.map(([name, value]): Param => [name, value, 'form'])],
    body: fields.length === 0 ? null : encodePairs(fields),
  };
}

const baseUrl = 'https://api.example.com';

const common: Pairs = [
  ['tenant_code', 'acme'],
  ['app_key', 'throw-away-key'],
  ['channel', 'web'],
  ['random', 'k3J9xQ2mVb7T'],
  ['timestamp', '1700000000'],
];

const sentRequests: Readonly<Record<OperationName, Record<'query' | 'fields', Pairs>>> = {
  read: {
    query: [...common, ['code', "c-1/+ ~*!'()"], ['info_name', 'mobile,level']],
    fields: [],
  },
  passback: {
    query: common,
    fields: [
      ['union_id', 'u001'],
      ['user_info', '{"name":"张三/李四","acme_note":"a b+c&d=e"}'],
    ],
  },
};

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
  if (form === undefined) {
    return {
      method: 'GET',
      url: `${folder}/user_info_for_third`,
      query: queryOf(inQuery),
      params: inQuery,
      body: null,
    };
  }
  const fields = Object.entries(form).map(([name, value]): Param => [name, value, 'form']);
  return {
    method: 'PUT',
    url: `${folder}/passback_user_info`,
    query: queryOf(inQuery),
    params: [...inQuery, ...fields],
    body: queryOf(fields),
  };
}
