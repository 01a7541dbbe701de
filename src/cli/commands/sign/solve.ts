import { Option } from 'commander';
import { InvalidInputError, quoteName } from '../../../core/contract/errors.js';
import { algorithms } from '../../../core/signing/digest-algorithms.js';
import { parseDigest } from '../../../core/signing/digest-steps.js';
import type { Sample } from '../../../core/signing/request.js';
import { type Call, command } from '../../command.js';
import { addText, parseCount, parseDuration } from '../../command-line/option-values.js';
import { readSignedInputs } from './sample-input.js';
import type { SolveOptions } from './solve-samples.late.js';

const defaultTime = '20s';
/** Milliseconds. */
export const defaultTimeMs = parseDuration(defaultTime);

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
        'what a document says: a recipe with "?" for each value that it does not say',
      )
      .option('--steps <digest,…>', 'the digests, such as hmac-sha256', parseDigests)
      .option(
        '--join <text>',
        'the text between the parts of the message; \\n is a line break',
        parseText,
      )
      .option('--headers <name,…>', 'the signed headers or parameters, in order', (text) =>
        text.split(','),
      )
      .option(
        '--constant <text>',
        'a text in the message, repeatable, in order; \\n is a line break',
        (text: string, before: readonly string[]) => addText(parseText(text), before),
      )
      .addOption(
        new Option('--max-time <duration>', 'time limit of the search, on an idle machine')
          .argParser(parseDuration)
          .default(defaultTimeMs, defaultTime),
      )
      .option('--jobs <n>', 'number of threads (default: one per core)', parseCount)
      .option('--save <profile>', 'write the found recipes into a profile'),
  run: async (call: Call<SolveOptions>, requests: string[]) => {
    const { solveSamples } = await import('./solve-samples.late.js');
    await solveSamples(call, await readSamples(call, requests));
  },
});

async function readSamples(
  { context, options }: Call<SolveOptions>,
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
  return samples.length > 0 ? samples : readSignedInputs(context, undefined, {});
}

/** @throws InvalidInputError for what is not a digest */
function parseDigests(text: string): string[] {
  const steps = text.split(',');
  const wrong = steps.find((step) => parseDigest(step) === null);
  if (wrong === undefined) return steps;
  throw new InvalidInputError(`${quoteName(wrong)} is not a digest`, {
    hint: `Digests are ${algorithms.join(', ')}, each also as hmac-….`,
  });
}

function parseText(text: string): string {
  return text.replaceAll('\\r', '\r').replaceAll('\\n', '\n').replaceAll('\\t', '\t');
}
