import { type Command, Option } from 'commander';
import type { Sample } from '../../../signing/request.js';
import type { CliContext } from '../../context.js';
import { type CommonOptions, examples, parseCount, parseDuration } from '../../options.js';
import { outputStyle } from '../../output/style.js';
import { readSampleFrom, readSampleInput } from './sample-input.js';

export interface SolveOptions extends CommonOptions {
  readonly sample?: readonly string[];
  readonly signParam?: string;
  /** Milliseconds. */
  readonly maxTime: number;
  /** Threads; one for each core unless given. */
  readonly jobs?: number;
  /** The profile that takes the recipes. */
  readonly save?: string;
}

const defaultTime = '20s';

export function declareSignSolve(sign: Command, context: CliContext): void {
  const command = sign
    .command('solve')
    .summary('find the rule by which requests were signed')
    .description(
      'Search the recipes that sign one or more good requests as they were signed, and list all that fit, the ' +
        'likeliest first. Where app_sign is among the parameters, its rule is found first. Ends with 4 where nothing ' +
        'fits. The secret comes from the profile, USERINFO_APP_SECRET or the sample file.',
    )
    .argument('[requests...]', 'URLs or curl commands, signed; - reads standard input')
    .option('--sample <file>', 'a file with a signed request, once for each; - reads standard input', collect)
    .option('--sign-param <name>', 'the parameter that carries the signature (default: sign)')
    .addOption(
      new Option('--max-time <duration>', 'how long to search')
        .argParser(parseDuration)
        .default(parseDuration(defaultTime), defaultTime),
    )
    .option('--jobs <n>', 'how many threads search (default: one for each core)', (text) =>
      parseCount(text, 'jobs'),
    )
    .option('--save <profile>', 'write what was found into a profile')
    .addHelpText(
      'after',
      examples(
        [
          "USERINFO_APP_SECRET=abc userinfo sign solve 'https://example.com/api?title=tea&nonce=x1&appid=7&sign=a07b348b57c50e569da34ea266d465eb'",
          'from a signed URL',
        ],
        [
          'echo \'{"url":"https://example.com/api","params":{"title":"tea","nonce":"x1","appid":"7"},' +
            '"signature":"5554941EBF8494E9245D3895A818F2DD","secret":"s"}\' | userinfo sign solve --sample - --json',
          'from a sample file, for a program',
        ],
      ),
    )
    .action((requests: string[]) => runSolve(context, requests, command.optsWithGlobals()));
}

async function runSolve(
  context: CliContext,
  requests: readonly string[],
  options: SolveOptions,
): Promise<void> {
  const { prepareSaving, solveSamples } = await import('./solve-samples.js');
  const style = await outputStyle(options, context.io);
  const samples = await readSamples(context, requests, options);
  const target = options.save === undefined ? null : await prepareSaving(context, options.save);
  await solveSamples(context, samples, options, style, target);
}

async function readSamples(
  context: CliContext,
  requests: readonly string[],
  { sample: files = [], signParam }: SolveOptions,
): Promise<Sample[]> {
  const named = signParam === undefined ? {} : { signParam };
  const samples: Sample[] = [];
  for (const request of requests) samples.push(await readSampleInput(context, request, named));
  for (const file of files) samples.push(await readSampleFrom(context, file, signParam));
  return samples.length > 0 ? samples : [await readSampleInput(context, undefined, named)];
}

function collect(file: string, files: readonly string[] = []): string[] {
  return [...files, file];
}
