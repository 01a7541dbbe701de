import type { Algorithm, Output } from '../signing/digest-algorithms.js';
import type { Recipe } from '../signing/recipe.js';
import type { SignableRequest } from '../signing/request.js';
import type { Secret } from '../signing/secret.js';
import { byBits, countWithin } from './candidates/weighted.js';
import type { SignatureName } from './contract.js';
import { RequestTexts } from './request-texts.js';
import { type Rule, recipeOf } from './rules.js';
import { hexLengths, type WrittenDigest, writtenAs } from './search.js';
import {
  type BlockText,
  type CompiledChain,
  type PlacedLayout,
  searchSpace,
  type WrittenBlocks,
} from './search-space.js';

/** A signature that a request may have, and the most usual rule that gives it. */
export interface LikelySignature {
  readonly signature: string;
  /** One rule in 2^bits is it. */
  readonly bits: number;
  readonly recipe: () => Recipe;
}

const bandBits = 0.5;

/**
 * The signatures that a request may have, each once, by the most usual rules first. Where nothing is known of a rule,
 * the platform can be asked whether it accepts one after the other.
 */
export function* likelySignatures(
  signature: SignatureName,
  request: SignableRequest,
  secret: Secret,
  maxBits = 20,
): Generator<LikelySignature> {
  const space = searchSpace(signature, new RequestTexts(request, secret));
  const known = new Set<string>();
  for (let high = bandBits; high <= maxBits; high += bandBits) {
    const band = byBits(candidatesIn(space.written, space.chains, signature, high));
    for (const { text, chain, written, rule, bits } of band) {
      const made = writtenAs(chain.digest(text), written);
      if (known.has(made)) continue;
      known.add(made);
      yield { signature: made, bits, recipe: () => recipeOf(rule()) };
    }
  }
}

interface Candidate {
  readonly text: string;
  readonly chain: CompiledChain;
  readonly written: WrittenDigest;
  readonly bits: number;
  readonly rule: () => Rule;
}

/** The candidates between `high - bandBits` and `high`. */
function* candidatesIn(
  allWritten: readonly WrittenBlocks[],
  chains: readonly CompiledChain[],
  signature: SignatureName,
  high: number,
): Generator<Candidate> {
  for (const chain of chains) {
    for (const written of formatsOf(chain.last, signature)) {
      for (const blocks of allWritten) {
        for (const block of blocks.texts) {
          const rest = high - chain.bits - written.bits - block.bits;
          if (rest < 0) break;
          for (const layouts of blocks.layouts) {
            const end = countWithin(layouts, rest);
            for (let at = countWithin(layouts, rest - bandBits); at < end; at++) {
              const layout = layouts[at];
              if (layout === undefined) break;
              if (!(block.hasSecret || layout.hasSecret || chain.hasSecret)) continue;
              const bits = chain.bits + written.bits + block.bits + layout.bits;
              const text = layout.before + block.text + layout.after;
              yield { text, chain, written, bits, rule: () => ruleOf(blocks, block, layout, chain, written) };
            }
          }
        }
      }
    }
  }
}

function ruleOf(
  { writing, messageChange }: WrittenBlocks,
  { blocks: [block] }: BlockText,
  { layouts: [layout] }: PlacedLayout,
  { chains: [chain] }: CompiledChain,
  digest: WrittenDigest,
): Rule {
  const [arrangement] = block?.params.chosen.arrangements ?? [];
  const [encoding] = block?.params.encodings ?? [];
  if (!block || !arrangement || !encoding || !layout || !chain) throw new Error('a candidate without a rule');
  const { change, bits } = block;
  const blockRule = { arrangement, encoding, writing, change, messageChange: messageChange.value, bits };
  return { block: blockRule, layout, chain, digest, bits: bits + layout.bits + chain.bits };
}

/** Length of `sign` (§8). */
const signLength = 32;

/** How a digest is written as a signature: `sign` has 32 characters, `app_sign` any number. */
function formatsOf(algorithm: Algorithm, signature: SignatureName): WrittenDigest[] {
  const length = hexLengths[algorithm];
  const written = (bits: number, output: Output, slice: WrittenDigest['slice'] = null) => ({
    output,
    slice,
    bits,
  });
  const whole = [written(0.4, 'hex'), written(1.6, 'HEX')];
  if (length === signLength && signature === 'sign') return whole;
  const from = (length - signLength) / 2;
  const cut = [
    written(0.8, 'hex', [0, signLength]),
    written(2.5, 'HEX', [0, signLength]),
    written(2.5, 'base64', [0, signLength]),
    written(3.5, 'base64url', [0, signLength]),
    written(3, 'hex', [from, from + signLength]),
    written(3, 'hex', [length - signLength, length]),
  ].filter(({ output }) => output.startsWith('base64') === false || length * 2 >= signLength * 3);
  if (signature === 'sign') return cut;
  const base64 = [written(2.5, 'base64'), written(4, 'base64url')];
  if (algorithm === 'md5')
    return [...whole, ...base64, written(3.5, 'hex', [8, 24]), written(4.5, 'HEX', [8, 24])];
  return [...whole, ...base64, ...cut.map(({ bits, ...rest }) => ({ ...rest, bits: bits + 2.5 }))];
}
