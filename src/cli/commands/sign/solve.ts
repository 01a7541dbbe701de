import type { Sample } from '../../../lab/samples/captured-request.js';
import { command, type Invocation } from '../../command.js';
import { addText, parseCount } from '../../command-line/options.js';
import { readSignedInputs } from './sample-input.js';
import type { SolveOptions } from './solve-samples.late.js';

export const declareSignSolve = command({
  name: 'solve',
  common: ['profile', 'output'],
  summary: 'find the rule by which requests were signed',
  takes: (command) =>
    command
      .argument('[requests...]', 'such as signed URLs or curl commands; - for standard input')
      .option(
        '--sample <file>',
        'file with a signed request, repeatable; - for standard input',
        addText,
      )
      .option('--pick <n,…>', 'numbers of the requests to take, where there are several', (text) =>
        text.split(',').map(parseCount),
      )
      .option(
        '--recipe <file>',
        'what a document says: a recipe, or {app_sign, sign}, ' +
          'with "?" for each value that it leaves open',
      )
      .option('--save <profile>', 'write the found recipes into a profile'),
  action: async (invocation: Invocation<SolveOptions>, requests: string[]) => {
    const { solveSamples } = await import('./solve-samples.late.js');
    await solveSamples(invocation, await readSamples(invocation, requests));
  },
});

async function readSamples(
  { context, options }: Invocation<SolveOptions>,
  requests: readonly string[],
): Promise<readonly Sample[]> {
  const { sample: files = [], pick } = options;
  const wanted = { pick, accepted: true };
  const samples: Sample[] = [];
  for (const request of requests) {
    samples.push(...(await readSignedInputs(context, request, wanted)));
  }
  for (const sample of files) {
    samples.push(...(await readSignedInputs(context, undefined, { ...wanted, sample })));
  }
  if (samples.length > 0) return samples;
  return readSignedInputs(context, undefined, {});
}
