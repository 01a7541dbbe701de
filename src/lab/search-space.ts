import { createHmac, hash } from 'node:crypto';
import type { SignatureName } from '../core/signing/app-signatures.js';
import type { Algorithm } from '../core/signing/digest-algorithms.js';
import { compileSteps, computeDigest, decodeKey, type Step } from '../core/signing/digest-steps.js';
import { unlessRefused } from '../core/signing/recipe.js';
import { blockText, changed, type RequestTexts, type WrittenPair } from './request-texts.js';
import { type Chain, chainsFor } from './rule-parts/chains.js';
import {
  blockChanges,
  type Layout,
  layoutsFor,
  messageChanges,
  namedLayoutsFor,
} from './rule-parts/layouts.js';
import {
  type Arrangement,
  arrangementsFor,
  type Encoding,
  encodings,
  type Writing,
  writings,
} from './rule-parts/parameters.js';
import { byBits, type Choice, type Rated } from './rule-parts/rarity.js';

/** Arrangements that choose the same parameters of this request in the same order. */
export interface ChosenParams extends Rated {
  readonly arrangements: readonly Arrangement[];
  readonly hasSecret: boolean;
  readonly isList: boolean;
}

/** Parameters that several encodings write alike. */
export interface EncodedParams extends Rated {
  readonly chosen: ChosenParams;
  readonly encodings: readonly Encoding[];
  readonly pairs: readonly WrittenPair[];
}

/** Parameters as they are written. */
export interface Block extends Rated {
  readonly text: string;
  readonly params: EncodedParams;
  /** A modifier of `$params`; empty for none. */
  readonly change: string;
}

/** Blocks with the same text. */
export interface BlockText extends Rated {
  readonly text: string;
  readonly blocks: readonly Block[];
  /** Whether every, or no, block has the secret: with and without it their texts differ. */
  readonly hasSecret: boolean;
}

/** Layouts with the same texts around the parameters. */
export interface PlacedLayout extends Rated {
  readonly before: string;
  readonly after: string;
  readonly layouts: readonly Layout[];
  readonly hasSecret: boolean;
}

/** Blocks in one writing, and what may be around them. */
export interface WrittenBlocks {
  readonly writing: Writing;
  readonly messageChange: Choice<string>;
  /** By their bits, those of the writing and the message change included. */
  readonly texts: readonly BlockText[];
  /**
   * Those of every writing, and those that name the secret as this writing does; each by their
   * bits.
   */
  readonly layouts: readonly (readonly PlacedLayout[])[];
}

/** Chains with the same steps and key. */
export interface CompiledChain extends Rated {
  readonly chains: readonly Chain[];
  readonly last: Algorithm;
  readonly hasSecret: boolean;
  /** The last digest of a text, in lower-case hex. */
  readonly digest: (text: string) => string;
}

/** All texts and chains that are tried for one request. */
export interface SearchSpace {
  readonly written: readonly WrittenBlocks[];
  readonly chains: readonly CompiledChain[];
}

/** Bits beyond which a block is not tried. */
const maxBlockBits = 15;
/** Lists are values alone more often than pairs. */
const fewerBitsOfValues = 1.6;
/** A layout as unusual as this is not changed as a whole. */
const maxChangedLayoutBits = 6;
const maxChangedBlockBits = 10;

export function searchSpace(signature: SignatureName, texts: RequestTexts): SearchSpace {
  const params = encodedParams(signature, texts);
  const layouts = layoutsFor(signature);
  const shared = messageChanges.map((change) => ({
    change,
    layouts: placedLayouts(layouts, change, texts),
  }));
  const written = writings.flatMap((writing) => {
    const blocks = byBits(blocksOf(params, writing));
    const named = namedLayoutsFor(signature)(writing);
    return shared.map(
      ({ change, layouts }): WrittenBlocks => ({
        writing,
        messageChange: change,
        texts: blockTexts(blocks, change),
        layouts: [layouts, placedLayouts(named, change, texts)],
      }),
    );
  });
  return {
    written: written.filter((blocks) => blocks.texts.length > 0),
    chains: compiledChains(signature, texts),
  };
}

/** The lists of parameters that are signed, each once. */
function encodedParams(signature: SignatureName, texts: RequestTexts): EncodedParams[] {
  const lists = new Map<string, { arrangements: Arrangement[]; readonly first: Arrangement }>();
  for (const arrangement of arrangementsFor(signature)) {
    const chosen = texts.chosen(arrangement);
    if (chosen.length === 0) continue;
    const pairs = chosen.map(({ name, value }) => `${name}=${value}`);
    const key = [arrangement.hasSecret, arrangement.isList, ...pairs].join('\0');
    const sameParams = lists.get(key);
    if (sameParams !== undefined) sameParams.arrangements.push(arrangement);
    else lists.set(key, { arrangements: [arrangement], first: arrangement });
  }
  return [...lists.values()].flatMap(({ arrangements, first }) => {
    const { hasSecret, isList, bits } = first;
    const chosen: ChosenParams = { arrangements, hasSecret, isList, bits };
    const written = new Map<string, { encodings: Encoding[]; readonly params: EncodedParams }>();
    for (const encoding of encodings) {
      const pairs = texts.encoded(texts.chosen(first), encoding);
      const key = pairs.flat().join('\0');
      const samePairs = written.get(key);
      if (samePairs !== undefined) {
        samePairs.encodings.push(encoding);
        continue;
      }
      const encodingsAlike = [encoding];
      const params = { chosen, encodings: encodingsAlike, pairs, bits: bits + encoding.bits };
      written.set(key, { encodings: encodingsAlike, params });
    }
    return [...written.values()].map(({ params }) => params);
  });
}

function blocksOf(params: readonly EncodedParams[], writing: Writing): Block[] {
  const blocks: Block[] = [];
  for (const encoded of params) {
    const { chosen, pairs } = encoded;
    const isListOfValues = chosen.isList && !writing.rule.names;
    const bits = encoded.bits + writing.bits - (isListOfValues ? fewerBitsOfValues : 0);
    if (bits > maxBlockBits) continue;
    const text = blockText(pairs, writing);
    for (const { value: change, bits: changeBits } of blockChanges) {
      if (bits + changeBits > maxBlockBits) continue;
      if (change !== '' && chosen.hasSecret) continue;
      const changedText = changed(text, change);
      if (change !== '' && changedText === text) continue;
      blocks.push({ text: changedText, params: encoded, change, bits: bits + changeBits });
    }
  }
  return blocks;
}

/** The texts of blocks that are sorted by their bits, each once. */
function blockTexts(
  sorted: readonly Block[],
  { value: change, bits }: Choice<string>,
): BlockText[] {
  const byText = new Map<string, BlockText & { blocks: Block[] }>();
  for (const block of sorted) {
    if (change !== '' && block.bits > maxChangedBlockBits) break;
    const text = changed(block.text, change);
    const { hasSecret } = block.params.chosen;
    const key = hasSecret ? `\0${text}` : text;
    const sameText = byText.get(key);
    if (sameText !== undefined) sameText.blocks.push(block);
    else byText.set(key, { text, blocks: [block], hasSecret, bits: block.bits + bits });
  }
  return [...byText.values()];
}

/** Layouts that are sorted by their bits, with their texts, each once. */
function placedLayouts(
  sorted: readonly Layout[],
  { value: change }: Choice<string>,
  texts: RequestTexts,
): PlacedLayout[] {
  const textOf = (entries: readonly string[]) => changed(entries.map(texts.entry).join(''), change);
  const byEnds = new Map<string, PlacedLayout & { layouts: Layout[] }>();
  for (const layout of sorted) {
    if (change !== '' && layout.bits > maxChangedLayoutBits) break;
    const before = textOf(layout.before);
    const after = textOf(layout.after);
    const { hasSecret } = layout;
    const key = `${hasSecret}\0${before}\0${after}`;
    const sameEnds = byEnds.get(key);
    if (sameEnds !== undefined) sameEnds.layouts.push(layout);
    else byEnds.set(key, { before, after, layouts: [layout], hasSecret, bits: layout.bits });
  }
  return [...byEnds.values()];
}

function compiledChains(signature: SignatureName, texts: RequestTexts): CompiledChain[] {
  const compiled = new Map<string, CompiledChain & { chains: Chain[] }>();
  for (const chain of chainsFor(signature)) {
    const key = keyOf(chain, texts);
    if (key === undefined) continue;
    const written = chain.steps.map((step) =>
      step.replace(/\$.*/s, (entry) => `\0${texts.entry(entry)}`),
    );
    const identity = JSON.stringify([written, key?.toString('base64')]);
    const sameDigest = compiled.get(identity);
    if (sameDigest !== undefined) {
      sameDigest.chains.push(chain);
      continue;
    }
    const { last, hasSecret, bits } = chain;
    compiled.set(identity, {
      chains: [chain],
      last,
      hasSecret,
      bits,
      digest: digestFunction(chain, key, texts),
    });
  }
  return [...compiled.values()];
}

/**
 * The bytes of the key; null for a chain that takes none, undefined where the text is no key in
 * that encoding.
 */
function keyOf({ key, decode }: Chain, texts: RequestTexts): Buffer | null | undefined {
  if (key === null) return null;
  return unlessRefused(() => decodeKey(key.map(texts.entry).join(''), decode)) ?? undefined;
}

/** The digest of a chain for another request; null where the request has no such key. */
export function chainDigest(chain: Chain, texts: RequestTexts): CompiledChain['digest'] | null {
  const key = keyOf(chain, texts);
  return key === undefined ? null : digestFunction(chain, key, texts);
}

function digestFunction(
  chain: Chain,
  key: Buffer | null,
  texts: RequestTexts,
): CompiledChain['digest'] {
  const { steps, last } = chain;
  if (steps.length === 1)
    return key === null
      ? (text) => hash(last, text, 'hex')
      : (text) => createHmac(last, key).update(text).digest('hex');
  const compiled: readonly Step[] = compileSteps(steps, 'hex');
  const inputs = {
    key: () => key ?? Buffer.alloc(0),
    text: ({ parts }: { readonly parts: readonly (string | { readonly written: string })[] }) =>
      parts.map((part) => (typeof part === 'string' ? part : texts.entry(part.written))).join(''),
  };
  return (text) => computeDigest(compiled, text, inputs);
}
