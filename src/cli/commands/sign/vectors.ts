import type { Command } from 'commander';
import { quoteName } from '../../../protocol/text.js';
import { checkVectors, makeVectors, parseVectors, type VectorCheck } from '../../../signing/vectors.js';
import type { CliContext } from '../../context.js';
import { readJson } from '../../input.js';
import { write } from '../../io.js';
import { type CommonOptions, examples } from '../../options.js';
import { printData } from '../../output/print.js';
import { isPlainTable, outputStyle } from '../../output/style.js';
import { CheckFailedError } from '../../report-error.js';
import { addRecipeOption, choiceOf, type RecipeOptions, selectSigning } from '../../resolve-signing.js';
import { markDifference } from './explain.js';

export function declareSignVectors(sign: Command, context: CliContext): void {
  const vectors = sign
    .command('vectors')
    .summary('test vectors for a team that signs in another language')
    .description('Requests signed with a throw-away secret, with the result of each stage.');
  declareVectorsExport(vectors, context);
  declareVectorsVerify(vectors, context);
}

function declareVectorsExport(vectors: Command, context: CliContext): void {
  const command = vectors
    .command('export')
    .summary('print test vectors as JSON')
    .description(
      'Print test vectors for the recipes of the profile, or for --recipe. Your secret is not used.',
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
  const signing = await selectSigning(context, options);
  const file = makeVectors(signing);
  if (isPlainTable(style)) await write(io.stdout, `${JSON.stringify(file, null, 2)}\n`);
  else await printData(file, io, style);
}

function declareVectorsVerify(vectors: Command, context: CliContext): void {
  const command = vectors
    .command('verify')
    .summary('check vectors that another team computed')
    .description(
      'Check the stages in a file of vectors, and report the first that differs for each signature. The recipes come ' +
        'from --recipe, else from the file, else from the profile.',
    )
    .argument('<file>', 'returned file; - for standard input');
  addRecipeOption(command)
    .addHelpText(
      'after',
      examples(
        ['userinfo sign vectors export | userinfo sign vectors verify -', 'check our own vectors'],
        [
          'userinfo sign vectors export > ours.json; userinfo sign vectors verify ours.json --json',
          'report as JSON',
        ],
      ),
    )
    .action((file: string) => runVectorsVerify(context, file, command.optsWithGlobals()));
}

async function runVectorsVerify(
  context: CliContext,
  file: string,
  options: CommonOptions & RecipeOptions,
): Promise<void> {
  const { io } = context;
  const style = await outputStyle(options, io);
  const { recipes, vectors, secret } = parseVectors(await readJson(context, file));
  const useFile = options.recipe === undefined && recipes !== null;
  const signing = useFile ? choiceOf(recipes) : await selectSigning(context, options);
  const checks = checkVectors(signing, vectors, secret);
  const failed = checks.filter(({ result }) => result !== 'right');
  const record = isPlainTable(style) ? showChecks(checks) : { right: failed.length === 0, checks };
  await printData(record, io, style);
  const [first] = failed;
  if (first === undefined) return;
  throw new CheckFailedError(`${failed.length} of ${checks.length} signatures are wrong or missing`, {
    hint: `The first is ${first.signature} of ${quoteName(first.vector)}; "sign explain" shows how it is made.`,
  });
}

/** Checks for a person: the number of each result, then each check that failed. */
function showChecks(checks: readonly VectorCheck[]): object {
  const count = (result: VectorCheck['result']) => checks.filter((check) => check.result === result).length;
  const wrong = checks.filter(({ result }) => result !== 'right');
  return {
    right: count('right'),
    wrong: count('wrong'),
    missing: count('missing'),
    ...Object.fromEntries(wrong.map((check) => [`${check.vector}: ${check.signature}`, showCheck(check)])),
  };
}

function showCheck({ result, fault }: VectorCheck): object {
  if (fault === null) return { result };
  return {
    'first difference': `in ${fault.stage}, at byte ${fault.offset} (0-based)`,
    ...markDifference(fault),
    cause: fault.causes.join(' ') || 'unknown',
  };
}
