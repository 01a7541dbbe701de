import type { Command } from 'commander';
import { explainBoth } from '../../../signing/app-signatures.js';
import type { CliContext } from '../../context.js';
import { type CommonOptions, examples } from '../../options.js';
import { outputStyle } from '../../output/style.js';
import { type RecipeOptions, secretInForce, signingInForce } from '../../resolve-signing.js';
import { declareExplainPassback } from './explain-passback.js';
import { declareExplainRead } from './explain-read.js';
import { printExplanation } from './print-explanation.js';
import { addRecipeOption } from './recipe-option.js';
import { addSampleOptions, readSampleInput, type SampleOptions } from './sample-input.js';

type ExplainOptions = CommonOptions & SampleOptions & RecipeOptions;

export function declareSignExplain(sign: Command, context: CliContext): void {
  const command = sign
    .command('explain')
    .summary('show how a request is signed, stage by stage')
    .description(
      'Show the parameters, the message and the digest of a request, the secret as <secret>. The request is one ' +
        'that "read" or "passback" would send, or any other: a URL, a curl command, HTTP text or a sample file.',
    )
    .argument('[request]', 'a URL or a curl command; - reads standard input');
  addSampleOptions(addRecipeOption(command))
    .addHelpText(
      'after',
      examples(
        [
          "USERINFO_APP_SECRET=s userinfo sign explain --recipe taobao 'https://example.com/api?b=2&a=1'",
          'any request by any recipe',
        ],
        [
          'echo \'{"url":"https://example.com/","params":{"b":"2","a":"1"},"secret":"s"}\' | ' +
            'userinfo sign explain --recipe kv-suffix --sample - --json',
          'a sample file, for a program',
        ],
      ),
    )
    .action((request: string | undefined) => runExplain(context, request, command.optsWithGlobals()));
  declareExplainRead(command, context);
  declareExplainPassback(command, context);
}

async function runExplain(
  context: CliContext,
  request: string | undefined,
  options: ExplainOptions,
): Promise<void> {
  const style = await outputStyle(options, context.io);
  const signing = await signingInForce(context, options);
  const sample = await readSampleInput(context, request, options);
  const secret = await secretInForce(context, options, sample.secret);
  const explained =
    signing.kind === 'one'
      ? signing.signer.explain(sample, secret)
      : explainBoth(signing.signers, sample, secret);
  await printExplanation(context, explained, style);
}
