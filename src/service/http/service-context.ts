import { compileRecipes, type Signers } from '../../signing/app-signatures.js';
import { defaultRecipes } from '../../signing/presets.js';
import { parseSigningRecipes } from '../../signing/recipe-json.js';
import type { Log } from '../log.js';
import type { Store } from '../store/store.js';
import type { TokenBuckets } from './token-bucket.js';

/** What the answer to a request depends on beside the request. */
export interface ServiceContext {
  readonly store: Store;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds that only go forward. */
  readonly steadyNow: () => number;
  /** The present second, in Unix time. */
  readonly unixSeconds: () => number;
  /** How far a `timestamp` may be off, either way (§5.6). */
  readonly clockWindowSeconds: number;
  /** How often each app, by its key, may ask; `null` for no limit. */
  readonly appLimit: TokenBuckets | null;
  /** What signs by an app's recipes, given as JSON text; by the default ones for `null`. */
  readonly signersOf: (recipes: string | null) => Signers;
}

/** Apps share recipes: this many different ones are kept compiled. */
const kept = 100;

/** Compiles recipes, given as JSON text, once; `null` stands for the default ones. */
export function createSignersCache(): (recipes: string | null) => Signers {
  const usual = compileRecipes(defaultRecipes);
  const known = new Map<string, Signers>();
  return (recipes) => {
    if (recipes === null) return usual;
    const signers = known.get(recipes) ?? compileRecipes(parseSigningRecipes(JSON.parse(recipes)));
    if (known.size >= kept) known.clear();
    known.set(recipes, signers);
    return signers;
  };
}
