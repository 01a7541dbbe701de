import type { Command } from 'commander';
import { quoteName } from '../../../protocol/text.js';
import type { SigningChoice } from '../../../signing/signing-choice.js';
import { checkVectors, type VectorCheck } from '../../../signing/vectors/check-vectors.js';
import { parseVectors, type ReturnedVectors } from '../../../signing/vectors/vector-file.js';
import type { CliContext } from '../../context.js';
import { readJson } from '../../input.js';
import { type CommonOptions, examples } from '../../options.js';
import { printData } from '../../output/print-data.js';
import { isPlainTable, outputStyle } from '../../output/style.js';
import { CheckFailedError } from '../../report-error.js';
import { choiceOf, type RecipeOptions, signingInForce } from '../../resolve-signing.js';
import { markDifference } from './mark-difference.js';
import { addRecipeOption } from './recipe-option.js';

export function declareVectorsVerify(vectors: Command, context: CliContext): void {
  const command = vectors
    .command('verify')
    .summary('check vectors that another team computed')
    .description(
      'Check the stages in a file of vectors, and tell for each signature the first one that differs. The recipes are ' +
        "those of --recipe, else the file's own, else the profile's.",
    )
    .argument('<file>', 'what came back; - reads standard input');
  addRecipeOption(command)
    .addHelpText(
      'after',
      examples(
        ['userinfo sign vectors export | userinfo sign vectors verify -', 'our own, which are right'],
        [
          'userinfo sign vectors export > ours.json; userinfo sign vectors verify ours.json --json',
          'for a program',
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
  const returned = parseVectors(await readJson(context, file));
  const signing = await chooseSigning(context, options, returned);
  const checks = checkVectors(signing, returned.vectors, returned.secret);
  const failed = checks.filter(({ result }) => result !== 'right');
  const record = isPlainTable(style) ? showChecks(checks) : { right: failed.length === 0, checks };
  await printData(record, io, style);
  const [first] = failed;
  if (first === undefined) return;
  throw new CheckFailedError(`${failed.length} of ${checks.length} signatures are not right`, {
    hint: `The first is ${first.signature} of ${quoteName(first.vector)}; "sign explain" shows how it should be made.`,
  });
}

async function chooseSigning(
  context: CliContext,
  options: CommonOptions & RecipeOptions,
  { recipes }: ReturnedVectors,
): Promise<SigningChoice> {
  if (options.recipe !== undefined || recipes === null) return signingInForce(context, options);
  return choiceOf(recipes);
}

/** What a person reads: how many are right, then each that is not, by itself. */
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
    'first difference': `in ${fault.stage}, at byte ${fault.offset} (from 0)`,
    ...markDifference(fault),
    cause: fault.causes.join(' ') || 'not known',
  };
}
