import { quoteName } from '../../../protocol/unsafe-text.js';
import { checkVectors, makeVectors, parseVectors, type VectorCheck } from '../../../signing-tools/vectors.js';
import { addRecipeOption, choiceOf, type RecipeOptions, selectRule } from '../../call/resolve-signing.js';
import { type Call, command } from '../../command.js';
import { readJson } from '../../input.js';
import { write } from '../../io.js';
import { CheckFailedError } from '../../report-error.js';
import { markDifference } from './explain.js';

const declareExport = command({
  name: 'export',
  common: ['profile', 'output'],
  summary: 'print test vectors as JSON',
  takes: addRecipeOption,
  run: async ({ context, io, options, isTable, print }: Call<RecipeOptions>) => {
    const file = makeVectors((await selectRule(context, options)).signing);
    if (isTable) await write(io.stdout, `${JSON.stringify(file, null, 2)}\n`);
    else await print(file);
  },
});

const declareVerify = command({
  name: 'verify',
  common: ['profile', 'output'],
  summary: 'check vectors that another team computed',
  takes: (command) => addRecipeOption(command.argument('<file>', 'returned file; - for standard input')),
  run: verifyVectors,
});

export const declareSignVectors = command({
  name: 'vectors',
  summary: 'test vectors for a team that signs in another language',
  commands: [declareExport, declareVerify],
});

async function verifyVectors(
  { context, options, isTable, print }: Call<RecipeOptions>,
  file: string,
): Promise<void> {
  const { recipes, vectors, secret } = parseVectors(await readJson(context, file));
  const useFile = options.recipe === undefined && recipes !== null;
  const signing = useFile ? choiceOf(recipes) : (await selectRule(context, options)).signing;
  const checks = checkVectors(signing, vectors, secret);
  const failed = checks.filter(({ result }) => result !== 'right');
  await print(isTable ? showChecks(checks) : { right: failed.length === 0, checks });
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
