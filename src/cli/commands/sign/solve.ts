import { type Command, Option } from 'commander';
import type { Sample } from '../../../signing/request.js';
import { addCommand, type Call } from '../../command.js';
import type { CliContext } from '../../context.js';
import { parseCount, parseDuration } from '../../option-values.js';
import { readSampleInput } from './sample-input.js';

export interface SolveOptions {
  readonly sample?: readonly string[];
  readonly signParam?: string;
  /** Milliseconds. */
  readonly maxTime: number;
  /** Number of threads; one per core by default. */
  readonly jobs?: number;
  /** Name of the profile that receives the recipes. */
  readonly save?: string;
}

const defaultTime = '20s';

export function declareSignSolve(sign: Command, context: CliContext): void {
  addCommand(sign, context, {
    name: 'solve',
    common: ['profile', 'output'],
    summary: 'find the rule by which requests were signed',
    description:
      'Search for recipes that produce the signatures of one or more valid requests, and list all that fit, likeliest ' +
      'first. If app_sign is among the parameters, its rule is found first. The exit status is 4 if no recipe fits. ' +
      'The secret comes from the profile, USERINFO_APP_SECRET or the sample file.',
    examples: [
      [
        "USERINFO_APP_SECRET=abc userinfo sign solve 'https://example.com/api?title=tea&nonce=x1&appid=7&sign=a07b348b57c50e569da34ea266d465eb'",
        'from a signed URL',
      ],
      [
        'echo \'{"url":"https://example.com/api","params":{"title":"tea","nonce":"x1","appid":"7"},' +
          '"signature":"5554941EBF8494E9245D3895A818F2DD","secret":"s"}\' | userinfo sign solve --sample - --json',
        'from a sample file, as JSON',
      ],
    ],
    takes: (command) =>
      command
        .argument('[requests...]', 'signed URLs or curl commands; - for standard input')
        .option('--sample <file>', 'file with a signed request, repeatable; - for standard input', collect)
        .option('--sign-param <name>', 'parameter with the signature (default: sign)')
        .addOption(
          new Option('--max-time <duration>', 'maximum search time')
            .argParser(parseDuration)
            .default(parseDuration(defaultTime), defaultTime),
        )
        .option('--jobs <n>', 'number of threads (default: one per core)', (text) => parseCount(text, 'jobs'))
        .option('--save <profile>', 'write the found recipes into a profile'),
    run: async (call: Call<SolveOptions>, requests: string[]) => {
      const { solveSamples } = await import('./solve-samples.js');
      await solveSamples(call, await readSamples(call, requests));
    },
  });
}

async function readSamples(
  { context, options }: Call<SolveOptions>,
  requests: readonly string[],
): Promise<Sample[]> {
  const { sample: files = [], signParam } = options;
  const named = signParam === undefined ? {} : { signParam };
  const samples: Sample[] = [];
  for (const request of requests) samples.push(await readSampleInput(context, request, named));
  for (const sample of files) samples.push(await readSampleInput(context, undefined, { sample, ...named }));
  return samples.length > 0 ? samples : [await readSampleInput(context, undefined, named)];
}

function collect(file: string, files: readonly string[] = []): string[] {
  return [...files, file];
}
