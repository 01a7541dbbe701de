import { Option } from 'commander';
import { type LanguageName, languageNames } from '../../../lab/export/digest-names.js';
import type { Language } from '../../../lab/export/languages.js';
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
    const exportFile = test ? exportTest : exportRule;
    await write(io.stdout, exportFile(rule.signing, lang, rule));
    if (!io.stderr.isTTY) return;
    await printMessage(io, howToSave(languages[lang], test));
  },
});

function howToSave({ files, run }: Language, isTest: boolean): string {
  const runTest = `Run the test: ${run}`;
  if (isTest) {
    return (
      `Save it as ${files.test}, and the rule (without --test) as ${files.rule} beside it. ` +
      runTest
    );
  }
  return `Save it as ${files.rule}, and the test (--test) as ${files.test} beside it. ${runTest}`;
}
