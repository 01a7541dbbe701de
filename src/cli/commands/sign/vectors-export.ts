import type { Command } from 'commander';
import { formatRecipe } from '../../../signing/recipe-json.js';
import type { SigningChoice } from '../../../signing/signing-choice.js';
import { makeVectors, vectorSecret } from '../../../signing/vectors/make-vectors.js';
import type { VectorFile } from '../../../signing/vectors/vector-file.js';
import type { CliContext } from '../../context.js';
import { write } from '../../io.js';
import { type CommonOptions, examples } from '../../options.js';
import { printData } from '../../output/print-data.js';
import { isPlainTable, outputStyle } from '../../output/style.js';
import { type RecipeOptions, signingInForce } from '../../resolve-signing.js';
import { addRecipeOption } from './recipe-option.js';

const about =
  'Sign each request with the secret, and compare your params, message and digest with those under "signatures". ' +
  'The params of a request are in request order, as plain text. Write your own values in their place and send the ' +
  'file back: "userinfo sign vectors verify" tells the first stage that differs.';

export function declareVectorsExport(vectors: Command, context: CliContext): void {
  const command = vectors
    .command('export')
    .summary('print test vectors as JSON')
    .description(
      'Print test vectors for the recipes of the profile, or for --recipe. No secret of yours is used.',
    );
  addRecipeOption(command)
    .addHelpText(
      'after',
      examples(
        ['userinfo sign vectors export > vectors.json', 'for the recipes of the profile'],
        ['userinfo sign vectors export --recipe taobao > vectors.json', 'for any recipe'],
      ),
    )
    .action(() => runVectorsExport(context, command.optsWithGlobals()));
}

async function runVectorsExport(context: CliContext, options: CommonOptions & RecipeOptions): Promise<void> {
  const { io } = context;
  const style = await outputStyle(options, io);
  const signing = await signingInForce(context, options);
  const file: VectorFile = {
    about,
    ...recipesOf(signing),
    secret: vectorSecret,
    vectors: makeVectors(signing),
  };
  if (isPlainTable(style)) await write(io.stdout, `${JSON.stringify(file, null, 2)}\n`);
  else await printData(file, io, style);
}

/** Without those that a module stands for. */
function recipesOf(signing: SigningChoice): Pick<VectorFile, 'recipe' | 'recipes'> {
  if (signing.kind === 'one') return { recipe: formatRecipe(signing.recipe) };
  const { app_sign, sign } = signing.recipes;
  if (app_sign === null || sign === null) return {};
  return { recipes: { app_sign: formatRecipe(app_sign), sign: formatRecipe(sign) } };
}
