import { presets } from '../../../core/signing/presets.js';
import { formatRecipe } from '../../../core/signing/recipe-json.js';
import { command } from '../../command.js';
import { write } from '../../io.js';
import { requirePreset } from '../../request/resolve-signing.js';

export const declareSignPresets = command({
  name: 'presets',
  common: ['output'],
  summary: 'list common recipes, or print one',
  takes: (command) => command.argument('[name]', 'recipe to print'),
  action: async ({ io, isTable, print }, name?: string) => {
    if (name === undefined) {
      const records = presets.map(({ recipe, ...preset }) => {
        if (isTable) return preset;
        return { ...preset, recipe: formatRecipe(recipe) };
      });
      await print(records);
      return;
    }
    const recipe = formatRecipe(requirePreset(name).recipe);
    if (isTable) await write(io.stdout, `${JSON.stringify(recipe, null, 2)}\n`);
    else await print(recipe);
  },
});
