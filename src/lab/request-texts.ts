import { compileRecipe } from '../core/signing/compile-recipe.js';
import { encoders } from '../core/signing/encodings.js';
import { compileOrder, compileSelection, type SignedParam } from '../core/signing/params.js';
import { type ParamsRule, recipeDefaults } from '../core/signing/recipe.js';
import type { SignableRequest } from '../core/signing/request.js';
import type { Secret } from '../core/signing/secret.js';
import { modifiers } from '../core/signing/template.js';
import { memoize } from '../core/support/memoize.js';
import type { Arrangement, Encoding, Writing } from './rule-parts/parameters.js';

/** A name and a value as they are written. */
export type WrittenPair = readonly [name: string, value: string];

/**
 * The texts that rules make of one request. Each is computed once; the interpreter of recipes
 * computes its parts.
 */
export class RequestTexts {
  readonly request: SignableRequest;
  readonly secret: Secret;

  constructor(request: SignableRequest, secret: Secret) {
    this.request = request;
    this.secret = secret;
  }

  /** The text that an entry of a message stands for: a literal, or a token with its modifiers. */
  readonly entry = memoize((entry: string): string => {
    if (!entry.includes('$')) return entry;
    return compileRecipe({ message: [entry], steps: ['md5'] }).sign(this.request, this.secret)
      .message;
  });

  /** The parameters that an arrangement chooses, in its order. */
  readonly chosen = memoize(({ rule }: Arrangement): readonly SignedParam[] => {
    const params: ParamsRule = { ...recipeDefaults.params, ...rule };
    const added = Object.entries(params.add).map(([name, text]) => ({
      name,
      value: this.entry(text),
    }));
    const kept = compileSelection(params)(
      this.request.params,
      added.filter(({ value }) => params.empty === 'keep' || value !== ''),
    );
    return compileOrder(params.order)(kept);
  });

  /** Names and values in an encoding. */
  encoded(params: readonly SignedParam[], encoding: Encoding): readonly WrittenPair[] {
    const write = encoders[encoding.rule.encode];
    return params.map(({ name, value }) => [write(name), write(value)]);
  }
}

/** The parameters as a block of text. */
export function blockText(pairs: readonly WrittenPair[], { rule }: Writing): string {
  const { names, kvSep, pairSep } = rule;
  return pairs.map(([name, value]) => (names ? name + kvSep + value : value)).join(pairSep);
}

/** A text changed by a modifier of a token; itself without one. */
export function changed(text: string, modifier: string): string {
  return modifiers.get(modifier)?.apply(text) ?? text;
}
