import { completeRecipe, type Recipe } from '../core/signing/recipe.js';
import { memoize } from '../core/support/memoize.js';
import { blockText, changed, type RequestTexts } from './request-texts.js';
import type { Chain } from './rule-parts/chains.js';
import type { Layout } from './rule-parts/layouts.js';
import type { Arrangement, Encoding, Writing } from './rule-parts/parameters.js';
import { byBits, type Rated } from './rule-parts/rarity.js';
import {
  type Hit,
  SignatureReader,
  type WayToWrite,
  type WrittenDigest,
  waysToWrite,
  writtenAs,
} from './search.js';
import { chainDigest, type SearchSpace } from './search-space.js';

/** How the parameters are chosen, sorted and written. */
export interface BlockRule extends Rated {
  readonly arrangement: Arrangement;
  readonly encoding: Encoding;
  readonly writing: Writing;
  /** A modifier of `$params`; empty for none. */
  readonly change: string;
  /** A modifier of the whole text; empty for none. */
  readonly messageChange: string;
}

/** A rule, as the parts that it consists of. */
export interface Rule extends Rated {
  readonly block: BlockRule;
  readonly layout: Layout;
  readonly chain: Chain;
  readonly digest: WrittenDigest;
}

/**
 * Bits above those of the most usual rule up to which others are listed, and how many are listed at
 * most.
 */
const slackBits = 14;
const maxListed = 12_000;

/**
 * Every rule of the space that makes the text that was found, and so the signature; the most usual
 * first.
 */
export function rulesFor(
  space: SearchSpace,
  { text, chain: { chains }, digest }: Hit,
  signature: string,
): Rule[] {
  const ways = [...waysToWrite(space, text)];
  const digestForms = new SignatureReader(signature).waysIn(digest);
  const least = Math.min(...ways.map(({ block, layout }) => block.bits + layout.bits));
  const rules: Rule[] = [];
  for (const way of ways)
    for (const block of blockRules(way, least + slackBits - way.layout.bits))
      for (const layout of way.layout.layouts)
        for (const chain of chains)
          for (const digestForm of digestForms) {
            const bits = block.bits + layout.bits + chain.bits + digestForm.bits;
            rules.push({ block, layout, chain, digest: digestForm, bits });
          }
  return byBits(rules).slice(0, maxListed);
}

/** The rules that write a block of parameters in this way, up to so many bits. */
function* blockRules({ written, block }: WayToWrite, mostBits: number): Generator<BlockRule> {
  const { writing, messageChange } = written;
  for (const { params, change, bits: blockBits } of block.blocks) {
    const bitsOfForm = blockBits - params.bits + messageChange.bits;
    for (const encoding of params.encodings) {
      for (const arrangement of params.chosen.arrangements) {
        const bits = bitsOfForm + encoding.bits + arrangement.bits;
        if (bits > mostBits) break;
        const modifiers = { change, messageChange: messageChange.value };
        yield { arrangement, encoding, writing, ...modifiers, bits };
      }
    }
  }
}

/** The signatures that rules give one request. */
export class RequestSignatures {
  readonly #texts: RequestTexts;

  constructor(texts: RequestTexts) {
    this.#texts = texts;
  }

  /** The signature; null where the key of the rule is none for this request. */
  of({ block, layout, chain, digest }: Rule): string | null {
    const digestOf = this.#digest(chain);
    if (digestOf === null) return null;
    const { before, after } = this.#ends(layout)(block.messageChange);
    return writtenAs(digestOf(before + this.#block(block) + after), digest);
  }

  readonly #block = memoize(
    ({ arrangement, encoding, writing, change, messageChange }: BlockRule): string => {
      const text = blockText(this.#pairs(arrangement)(encoding), writing);
      return changed(changed(text, change), messageChange);
    },
  );

  readonly #pairs = memoize((arrangement: Arrangement) =>
    memoize((encoding: Encoding) => this.#texts.encoded(this.#texts.chosen(arrangement), encoding)),
  );

  readonly #ends = memoize((layout: Layout) =>
    memoize((change: string) => {
      const textOf = (entries: readonly string[]) =>
        changed(entries.map(this.#texts.entry).join(''), change);
      return { before: textOf(layout.before), after: textOf(layout.after) };
    }),
  );

  readonly #digest = memoize((chain: Chain) => {
    const digest = chainDigest(chain, this.#texts);
    return digest && memoize(digest);
  });
}

/** A rule as a recipe. */
export function recipeOf({ block, layout, chain, digest }: Rule): Recipe {
  const { arrangement, encoding, writing, change, messageChange } = block;
  const modified = (entry: string) => entry + (messageChange === '' ? '' : `.${messageChange}`);
  const params = `$params${change === '' ? '' : `.${change}`}`;
  const entries = [...layout.before, params, ...layout.after].map((entry) =>
    entry.startsWith('$') ? modified(entry) : changed(entry, messageChange),
  );
  const steps =
    digest.slice === null ? chain.steps : [...chain.steps, `slice:${digest.slice.join(':')}`];
  return completeRecipe({
    params: { ...arrangement.rule, ...encoding.rule, ...writing.rule },
    message: entries,
    steps,
    output: digest.output,
    key: chain.key === null ? {} : { tokens: chain.key, decode: chain.decode },
  });
}
