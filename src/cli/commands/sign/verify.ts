import type { Command } from 'commander';
import { InvalidInputError } from '../../../protocol/errors.js';
import { verifySignature } from '../../../signing/verify/verify-signature.js';
import type { CliContext } from '../../context.js';
import { type CommonOptions, examples } from '../../options.js';
import { printData } from '../../output/print-data.js';
import { isPlainTable, outputStyle } from '../../output/style.js';
import { warn } from '../../output/warn.js';
import { type RecipeOptions, secretInForce, signingInForce } from '../../resolve-signing.js';
import { brokenRule } from './broken-rule.js';
import { type CheckedSignature, checkedSignatures } from './checked-signatures.js';
import { compareTheirs, readTheirs } from './compare-theirs.js';
import { knownSuspects } from './known-suspects.js';
import { addRecipeOption } from './recipe-option.js';
import { addSampleOptions, readSampleInput, type SampleOptions } from './sample-input.js';
import { faultOf, reportRecord, showReport, type VerifyReport } from './verify-report.js';

interface VerifyOptions extends CommonOptions, SampleOptions, RecipeOptions {
  readonly theirs?: string;
}

export function declareSignVerify(sign: Command, context: CliContext): void {
  const command = sign
    .command('verify')
    .summary('say whether a signed request is right, and if not, why')
    .description(
      'Check the signatures of a request: a URL, a curl command, an HTTP request as text, or a sample file. A wrong ' +
        "one is tried with the usual mistakes. --theirs compares the operator's text to sign with ours.",
    )
    .argument('[request]', 'a URL or a curl command; - reads standard input')
    .option('--theirs <text>', "the operator's text to sign; @file or - reads it from there");
  addSampleOptions(addRecipeOption(command))
    .addHelpText(
      'after',
      examples(
        [
          'USERINFO_APP_SECRET=s userinfo sign verify --recipe kv-suffix ' +
            "'https://example.com/api?b=2&a=1&sign=1d0396bcbc2c54e569e7af9cf9c4685e'",
          'whether a request is signed right',
        ],
        [
          'USERINFO_APP_SECRET=s userinfo sign verify --recipe kv-suffix ' +
            "\"curl 'https://example.com/api' -d 'b=2&a=1'\" --theirs 'a1b2******'",
          'whether the operator signs the same text',
        ],
      ),
    )
    .action((request: string | undefined) => runVerify(context, request, command.optsWithGlobals()));
}

async function runVerify(
  context: CliContext,
  request: string | undefined,
  options: VerifyOptions,
): Promise<void> {
  const { io } = context;
  const style = await outputStyle(options, io);
  const signing = await signingInForce(context, options);
  const sample = await readSampleInput(context, request, options);
  if (options.theirs === '-' && (request ?? options.sample) === '-') {
    throw new InvalidInputError('the request and --theirs cannot both come from standard input', {
      hint: 'Put one of them into a file: --sample <file>, or --theirs @<file>.',
    });
  }
  const theirs = options.theirs === undefined ? null : await readTheirs(context, options.theirs);
  const rule = brokenRule(sample);
  if (rule !== null) await warn(io, `the service refuses this request however it is signed: ${rule}`);
  const signatures = checkedSignatures(signing, sample);
  const judged = signaturesToJudge(signatures, theirs !== null);
  const secret = await secretInForce(context, options, sample.secret);
  const known = await knownSuspects(context, sample);

  const report: VerifyReport = {
    verdicts: new Map(
      judged.map(({ name, received, ...signature }) => [
        name,
        received === null ? null : verifySignature({ ...signature, ...known, secret, received }),
      ]),
    ),
    comparison: theirs === null ? null : compareTheirs(signatures, theirs, secret),
  };
  await printData(isPlainTable(style) ? showReport(report) : reportRecord(report), io, style);
  const fault = faultOf(report);
  if (fault !== null) throw fault;
}

/** With another's text to compare, a request need not be signed. */
function signaturesToJudge(
  signatures: readonly CheckedSignature[],
  canBeUnsigned: boolean,
): CheckedSignature[] {
  const received = signatures.filter((signature) => signature.received !== null);
  if (canBeUnsigned) return received;
  if (received.length > 0) return [...signatures];
  const names = signatures.map(({ name }) => name);
  throw new InvalidInputError(`the request carries no ${names.join(' and no ')}`, {
    hint: 'Name the parameter with the signature by --sign-param, or show how it should be made by "sign explain".',
  });
}
