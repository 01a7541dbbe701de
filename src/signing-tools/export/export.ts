import type { SigningChoice } from '../../signing/app-signatures.js';
import type { LanguageName } from '../../signing/digest-algorithms.js';
import { type Recipe, RecipeError } from '../../signing/recipe.js';
import { partsOf } from '../../signing/recipe-parts.js';
import { type Language, languages } from './languages.js';
import { operationsOf } from './operations.js';
import { casesOf } from './test-cases.js';
import { type ExportedRule, Writer } from './writer.js';

export { languages } from './languages.js';

interface ExportSource {
  readonly from: string;
  /** Number of rules that fit the samples by which it was found. */
  readonly fits?: number;
}

/**
 * The rule, or the pair of rules, as a file of a language: a function a signature, which takes method, URL, parameters,
 * body, extra values and the secret. The file never contains a secret.
 *
 * @throws RecipeError for a module
 */
export function exportRule(signing: SigningChoice, name: LanguageName, source: ExportSource): string {
  const language = languages[name];
  return new Writer(name).rules(rulesOf(signing), comment(language, origin(source)));
}

/**
 * A test of that file by the means of the language: requests that tell implementations apart, signed with a throw-away
 * secret.
 *
 * @throws RecipeError as `exportRule`
 */
export function exportTest(signing: SigningChoice, name: LanguageName, source: ExportSource): string {
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
      ? [`${fits} rules fit the samples, and this is the likeliest:`, 'check it with a second sample.']
      : [];
  // It may be the name of a file: no more than this means nothing in the comments of any language.
  const named = from.replace(/[^\w ."-]/g, '_');
  return [`The signing rule of ${named}, written by "userinfo sign export".`, ...others];
}

function comment({ comment: mark }: Language, lines: readonly string[]): string {
  return lines.map((line) => `${mark} ${line}`).join('\n');
}
