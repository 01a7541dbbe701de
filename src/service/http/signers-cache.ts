import { compileRecipes, type Signers } from '../../signing/app-signatures.js';
import { defaultRecipes } from '../../signing/presets.js';
import { parseSigningRecipes } from '../../signing/recipe-json.js';

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
