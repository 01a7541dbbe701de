import { compileRecipes, type Signers } from '../../signing/app-signatures.js';
import { defaultRecipes } from '../../signing/presets.js';
import { parseSigningRecipes } from '../../signing/recipe-json.js';
import type { Log } from '../log.js';
import type { Store } from '../store/store.js';
import type { TokenBuckets } from './token-bucket.js';

/** What the answer to a request depends on besides the request. */
export interface ServiceContext {
  readonly store: Store;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly steadyNow: () => number;
  /** The Unix time in seconds. */
  readonly unixSeconds: () => number;
  /** Maximum difference of a `timestamp`, in either direction (§5.6). */
  readonly clockWindowSeconds: number;
  /** Rate limit of each app, by its key; `null` for no limit. */
  readonly appLimit: TokenBuckets | null;
  /** The signers of an app's recipes, given as JSON text; `null` for the default recipes. */
  readonly signersOf: (recipes: string | null) => Signers;
}

/** Maximum number of compiled recipes in memory; apps share them. */
const maxCached = 100;

/** Compiles recipes, given as JSON text, once; `null` stands for the default recipes. */
export function createSignersCache(): (recipes: string | null) => Signers {
  const usual = compileRecipes(defaultRecipes);
  const known = new Map<string, Signers>();
  return (recipes) => {
    if (recipes === null) return usual;
    const signers = known.get(recipes) ?? compileRecipes(parseSigningRecipes(JSON.parse(recipes)));
    if (known.size >= maxCached) known.clear();
    known.set(recipes, signers);
    return signers;
  };
}
