import type { Command } from 'commander';
import { presets } from '../../../signing/presets.js';
import { formatRecipe } from '../../../signing/recipe-json.js';
import type { CliContext } from '../../context.js';
import { write } from '../../io.js';
import { type CommonOptions, examples } from '../../options.js';
import { printData } from '../../output/print.js';
import { isPlainTable, outputStyle } from '../../output/style.js';
import { requirePreset } from '../../resolve-signing.js';

export function declareSignPresets(sign: Command, context: CliContext): void {
  const command = sign
    .command('presets')
    .summary('list common recipes, or print one')
    .description('List the built-in recipes; with a name, print that recipe as JSON.')
    .argument('[name]', 'recipe to print')
    .addHelpText(
      'after',
      examples(
        ['userinfo sign presets', 'all presets'],
        ['userinfo sign presets taobao > recipe.json', 'a recipe to start from'],
      ),
    )
    .action((name: string | undefined) => runPresets(context, name, command.optsWithGlobals()));
}

async function runPresets(
  { io }: CliContext,
  name: string | undefined,
  options: CommonOptions,
): Promise<void> {
  const style = await outputStyle(options, io);
  if (name !== undefined) {
    const recipe = formatRecipe(requirePreset(name).recipe);
    if (isPlainTable(style)) await write(io.stdout, `${JSON.stringify(recipe, null, 2)}\n`);
    else await printData(recipe, io, style);
    return;
  }
  const list = presets.map(({ recipe, ...preset }) =>
    isPlainTable(style) ? preset : { ...preset, recipe: formatRecipe(recipe) },
  );
  await printData(list, io, style);
}
