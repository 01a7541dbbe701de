import { presets } from '../presets.js';
import type { Recipe } from '../recipe.js';
import type { Named } from './suspect.js';

/** The presets, as recipes that a request may have been signed by. */
export const namedPresets: readonly Named<Recipe>[] = presets.map(({ name, recipe }) => ({
  name: `the preset ${name}`,
  value: recipe,
}));
