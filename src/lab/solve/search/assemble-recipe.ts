import { type ParamsRule, type Recipe, unlessRefused } from '../../../core/signing/recipe.js';
import { parseRecipe } from '../../../core/signing/recipe-json.js';
import type { MessageChange } from '../candidates/block-changes.js';
import { type Chain, stepsOf, subOf } from '../candidates/chains.js';
import type { Piece } from '../candidates/pieces.js';

/** The parts of a recipe in the terms of the search. */
interface FoundParts {
  readonly params: Partial<ParamsRule>;
  readonly message: readonly Piece[];
  readonly join: string;
  readonly block: Recipe['encode']['block'];
  readonly change: MessageChange;
  readonly chain: Chain;
}

/**
 * The recipe of these parts; null where they need two different subs or two base paths, or where
 * the language refuses it, such as one that replaces characters of the secret.
 */
export function assembleRecipe({
  params,
  message,
  join,
  block,
  change,
  chain,
}: FoundParts): Recipe | null {
  const subs = new Map<string, Recipe['sub']>();
  for (const sub of [subOf(chain), ...message.map((piece) => piece.sub)]) {
    if (sub !== undefined) subs.set(JSON.stringify(sub), sub);
  }
  const basePaths = new Set(
    message.flatMap(({ basePath = '', tokens }) => (usesPath(tokens) ? [basePath] : [])),
  );
  if (subs.size > 1 || basePaths.size > 1) return null;
  const tokens = message.flatMap((piece) => piece.tokens);
  const recipe = {
    params: message.find((piece) => piece.params !== undefined)?.params ?? params,
    message: tokens.length === 0 ? [''] : join === '' ? mergeLiterals(tokens) : tokens,
    join,
    basePath: [...basePaths][0] ?? '',
    encode: { block, ...change.rule },
    sub: [...subs.values()][0] ?? {},
    steps: stepsOf(chain),
    key: chain.key?.rule ?? { tokens: ['$secret'], decode: 'utf8' },
    output: chain.reading.output,
  };
  return unlessRefused(() => parseRecipe(recipe));
}

function usesPath(tokens: readonly string[]): boolean {
  return tokens.some((token) => token.startsWith('$path'));
}

function mergeLiterals(tokens: readonly string[]): string[] {
  const merged: string[] = [];
  for (const token of tokens) {
    const last = merged.at(-1);
    if (last !== undefined && isLiteral(last) && isLiteral(token))
      merged[merged.length - 1] = last + token;
    else merged.push(token);
  }
  return merged;
}

function isLiteral(entry: string): boolean {
  return !entry.replaceAll('$$', '').includes('$');
}
