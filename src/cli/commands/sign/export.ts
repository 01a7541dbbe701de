import { Option } from 'commander';
import { type LanguageName, languageNames } from '../../../core/signing/digest-algorithms.js';
import { command, type Invocation } from '../../command.js';
import { printMessage, write } from '../../io.js';
import { addRecipeOption, type RecipeOptions, selectRule } from '../../request/resolve-signing.js';

interface ExportOptions extends RecipeOptions {
  readonly lang: LanguageName;
  readonly test?: boolean;
}

export const declareSignExport = command({
  name: 'export',
  common: ['profile'],
  summary: 'print a signing rule as source code of another language',
  takes: (command) =>
    addRecipeOption(
      command
        .addOption(
          new Option('--lang <language>', 'language of the source file')
            .choices(languageNames)
            .makeOptionMandatory(),
        )
        .option('--test', 'print the test of that file'),
    ),
  action: async ({ context, io, options }: Invocation<ExportOptions>) => {
    const { exportRule, exportTest, languages } = await import('../../../lab/export/export.js');
    const { lang, test = false } = options;
    const rule = await selectRule(context, options);
    await write(io.stdout, (test ? exportTest : exportRule)(rule.signing, lang, rule));
    if (!io.stderr.isTTY) return;
    const { files, run } = languages[lang];
    await printMessage(
      io,
      `Save it as ${test ? files.test : files.rule}, and the ${test ? 'rule (without --test)' : 'test (--test)'} ` +
        `as ${test ? files.rule : files.test} beside it. Run the test: ${run}`,
    );
  },
});
