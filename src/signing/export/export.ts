import { type SigningChoice, signaturesOf } from '../app-signatures.js';
import type { Recipe } from '../recipe.js';
import { RecipeError } from '../recipe.js';
import { formatRecipe } from '../recipe-json.js';
import type { SignableRequest } from '../request.js';
import { Secret } from '../secret.js';
import type { Signer } from '../signer.js';
import { makeVectors } from '../vectors.js';
import { csharp } from './csharp.js';
import { go } from './go.js';
import { java } from './java.js';
import { javascript } from './javascript.js';
import type { ExportedCase, Language } from './language.js';
import { isAscii, operationsOf } from './operations.js';
import { php } from './php.js';
import { python } from './python.js';

/** The languages that a rule can be exported to, by their names in `--lang`. */
export const languages = { python, php, java, go, javascript, csharp } as const;
export type LanguageName = keyof typeof languages;

/** The origin of the exported rule. */
interface ExportSource {
  /** Such as `the preset taobao`. */
  readonly from: string;
  /** Number of rules that fit the samples by which it was found. */
  readonly fits?: number;
}

/**
 * The rule, or the pair of rules, as a file of a language: a function a signature, which takes method, URL, parameters,
 * body, extra values and the secret. The file never contains a secret.
 *
 * @throws RecipeError for a module, and for what the language cannot express
 */
export function exportRule(signing: SigningChoice, name: LanguageName, source: ExportSource): string {
  const language = languages[name];
  const rules = recipesOf(signing);
  for (const [rule, recipe] of rules) checkTexts(recipe, rule, language);
  const exported = rules.map(([rule, recipe]) => ({ name: rule, operations: operationsOf(recipe) }));
  return language.rule(exported, comment(language, [...origin(source), ...rules.flatMap(describe)]));
}

/** A test of that file by the means of the language: the requests of the test vectors, signed with their secret. */
export function exportTest(signing: SigningChoice, name: LanguageName, source: ExportSource): string {
  const language = languages[name];
  for (const [rule, recipe] of recipesOf(signing)) checkTexts(recipe, rule, language);
  return language.test(casesOf(signing), comment(language, [...origin(source), `Run: ${language.run}`]));
}

function casesOf(signing: SigningChoice): ExportedCase[] {
  const { secret, vectors } = makeVectors(signing);
  return vectors.flatMap(({ name, request }) =>
    signaturesOf(signing, request).map((signature) => ({
      rule: signature.name,
      name,
      request: exportedRequest(signature.request, signature.signer),
      secret,
      signature: signature.signer.sign(signature.request, new Secret(secret)).digest,
    })),
  );
}

/** The request as the exported function takes it: with the query in the URL, where the rule uses it. */
function exportedRequest(request: SignableRequest, { usesQuery }: Signer): SignableRequest {
  return usesQuery ? { ...request, url: `${request.url}?${request.query ?? ''}` } : request;
}

/** @throws RecipeError where a module signs */
function recipesOf(signing: SigningChoice): readonly (readonly [rule: string, recipe: Recipe])[] {
  if (signing.kind === 'one') return [['sign', signing.recipe]];
  return (['app_sign', 'sign'] as const).map((rule) => {
    const recipe = signing.recipes[rule];
    if (recipe !== null) return [rule, recipe] as const;
    throw new RecipeError(
      rule,
      'is signed by a module, which is a program and no recipe',
      'Translate the module by hand.',
    );
  });
}

/** @throws RecipeError for unpaired surrogates, in a language whose texts are UTF-8 */
function checkTexts(recipe: Recipe, rule: string, { hasSurrogates, title }: Language): void {
  if (hasSurrogates) return;
  if (!isWellFormed(recipe)) {
    throw new RecipeError(rule, `has an unpaired surrogate, which a text of ${title} cannot hold`);
  }
  const values = operationsOf(recipe).flatMap((operation) => ('value' in operation ? [operation.value] : []));
  if (values.some((value) => value.is === 'slice' && !isAscii(value.of))) {
    throw new RecipeError(
      rule,
      `a slice of text may cut a character in two, and a text of ${title} cannot hold the halves`,
      'Slice a digest, or export to another language.',
    );
  }
}

/** Whether no text in JSON has an unpaired surrogate. */
function isWellFormed(json: unknown): boolean {
  if (typeof json === 'string') return json.isWellFormed();
  return typeof json !== 'object' || json === null || Object.entries(json).flat().every(isWellFormed);
}

function origin({ from, fits = 1 }: ExportSource): string[] {
  const others =
    fits > 1
      ? [`${fits} rules fit the samples, and this is the likeliest: check it with a second sample.`]
      : [];
  return [`The signing rule of ${from}, written by "userinfo sign export".`, ...others];
}

function describe([rule, recipe]: readonly [string, Recipe]): string[] {
  const whole = JSON.stringify(formatRecipe(recipe));
  if (whole.length < 100) return ['', `${rule}: ${whole}`];
  const entries = Object.entries(formatRecipe(recipe));
  const fields = entries.map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  return ['', `${rule}: {`, ...fields.join(',\n').split('\n'), '}'];
}

/** Lines of comment in ASCII. A `>` is escaped: `?>` would end the PHP of a file. */
function comment({ comment: mark }: Language, lines: readonly string[]): string {
  const ascii = (text: string) =>
    text.replace(/[^\x20-\x7e]|>/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return lines.map((line) => `${mark} ${ascii(line)}`.trimEnd()).join('\n');
}
