import { type SigningChoice, signaturesOf } from '../app-signatures.js';
import type { LanguageName } from '../digest-algorithms.js';
import { type Recipe, RecipeError } from '../recipe.js';
import { formatRecipe } from '../recipe-json.js';
import { Secret } from '../secret.js';
import { makeVectors } from '../vectors.js';
import { csharp } from './csharp.js';
import { isAscii } from './expression.js';
import { go } from './go.js';
import { java } from './java.js';
import { javascript } from './javascript.js';
import type { ExportedCase, ExportedRule, Language } from './language.js';
import { operationsOf } from './operations.js';
import { php } from './php.js';
import { python } from './python.js';

/** The languages that a rule can be exported to, by their names in `--lang`. */
export const languages: Readonly<Record<LanguageName, Language>> = {
  python,
  php,
  java,
  go,
  javascript,
  csharp,
};

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
  const rules = rulesOf(signing, language);
  const header = comment(language, [...origin(source), ...rules.flatMap(describe)]);
  return language.writer().rule(rules, header);
}

/**
 * A test of that file by the means of the language: the requests of the test vectors, signed with their secret.
 *
 * @throws RecipeError as `exportRule`
 */
export function exportTest(signing: SigningChoice, name: LanguageName, source: ExportSource): string {
  const language = languages[name];
  rulesOf(signing, language);
  const writer = language.writer();
  return writer.test(
    casesOf(signing, (text) => writer.literal(text)),
    comment(language, [...origin(source), `Run: ${language.run}`]),
  );
}

function casesOf(signing: SigningChoice, literal: (text: string) => string): ExportedCase[] {
  const { secret, vectors } = makeVectors(signing);
  const literals = (pairs: readonly (readonly string[])[]) => pairs.map((pair) => pair.map(literal));
  return vectors.flatMap(({ name, request: given }) =>
    signaturesOf(signing, given).map(({ name: rule, request, signer }) => {
      const { method, url, query = '', params, body, extra } = request;
      return {
        rule,
        name: literal(name),
        title: literal(`${rule}: ${name}`),
        method: literal(method),
        // With the query, where the rule uses it.
        url: literal(signer.usesQuery ? `${url}?${query}` : url),
        params: literals(params),
        body: body === null ? null : literal(body),
        extra: literals(Object.entries(extra)),
        secret: literal(secret),
        signature: literal(signer.sign(request, new Secret(secret)).digest),
      };
    }),
  );
}

interface Rule extends ExportedRule {
  readonly recipe: Recipe;
}

/** @throws RecipeError where a module signs, and for what the language cannot express */
function rulesOf(signing: SigningChoice, language: Language): Rule[] {
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
    const rule = { name, recipe, operations: operationsOf(recipe) };
    checkTexts(rule, language);
    return rule;
  });
}

/** @throws RecipeError for unpaired surrogates, in a language whose texts are UTF-8 */
function checkTexts({ name, recipe, operations }: Rule, { hasSurrogates, title }: Language): void {
  if (hasSurrogates) return;
  if (!isWellFormed(recipe)) {
    throw new RecipeError(name, `has an unpaired surrogate, which a text of ${title} cannot hold`);
  }
  const values = operations.flatMap((operation) => ('value' in operation ? [operation.value] : []));
  if (values.some((value) => value.is === 'slice' && !isAscii(value.of))) {
    throw new RecipeError(
      name,
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

function describe({ name: rule, recipe }: Rule): string[] {
  const json = formatRecipe(recipe);
  const whole = JSON.stringify(json);
  if (whole.length < 100) return ['', `${rule}: ${whole}`];
  const fields = Object.entries(json).map(
    ([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`,
  );
  return ['', `${rule}: {`, ...fields.join(',\n').split('\n'), '}'];
}

/** Lines of comment in ASCII. A `>` is escaped: `?>` would end the PHP of a file. */
function comment({ comment: mark }: Language, lines: readonly string[]): string {
  const ascii = (text: string) =>
    text.replace(/[^\x20-\x7e]|>/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return lines.map((line) => `${mark} ${ascii(line)}`.trimEnd()).join('\n');
}
