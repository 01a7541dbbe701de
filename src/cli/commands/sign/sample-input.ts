import type { Command } from 'commander';
import { InvalidInputError } from '../../../protocol/errors.js';
import { quoteName } from '../../../protocol/unsafe-text.js';
import type { Sample } from '../../../signing/request.js';
import { readSamples, type TakenSamples } from '../../../signing-tools/samples/read-sample.js';
import { SampleError } from '../../../signing-tools/samples/sample-error.js';
import { parseCount } from '../../command-line/option-values.js';
import type { CliContext } from '../../context.js';
import { inputName, parseJson, readText } from '../../input.js';
import { printMessage } from '../../io.js';

export interface SampleOptions {
  /** Path of a file; `-` for standard input. */
  readonly sample?: string | undefined;
  readonly signParam?: string | undefined;
  /** Numbers of the requests to take, from 1. */
  readonly pick?: readonly number[] | undefined;
}

export function addSampleOptions(command: Command): Command {
  return command
    .option('--sample <file>', 'file with the request; - for standard input')
    .option(...signParamOption)
    .option(
      '--pick <n>',
      'number of the request to take, where there are several',
      (text): readonly number[] => [parseCount(text)],
    );
}

/** The option of all commands that read a signed request. */
export const signParamOption = [
  '--sign-param <name>',
  'parameter, header or JSON member with the signature (default: sign)',
] as const;

/**
 * Reads the request of a command: its argument (`-` for standard input) or `--sample`.
 *
 * @throws InvalidInputError if the request is missing or given twice, SampleError for a text that is not a request
 */
export async function readSampleInput(
  context: CliContext,
  argument: string | undefined,
  options: SampleOptions,
): Promise<Sample> {
  const [sample] = await readSampleInputs(context, argument, options);
  if (sample === undefined) throw new InvalidInputError('no request is given');
  return sample;
}

/** `readSampleInput` for a text of which several requests may be taken; it says which, if that is not all of it. */
async function readSampleInputs(
  context: CliContext,
  argument: string | undefined,
  { sample, signParam, pick }: SampleOptions,
): Promise<readonly Sample[]> {
  if (argument !== undefined && sample !== undefined) {
    throw new InvalidInputError('a request and --sample are both given: use one of them');
  }
  const file = argument === '-' ? argument : sample;
  if (file === undefined && argument === undefined) {
    throw new InvalidInputError('no request is given', {
      hint: 'Give a URL or a curl command in quotes, - for standard input, or --sample <file>.',
    });
  }
  const what = 'a request (URL, curl command, HTTP text, line of a log, HAR, …)';
  const text = file === undefined ? (argument ?? '') : await readText(context, file, what);
  const { samples, taken } = readOrExplain(text, file === undefined ? 'the request' : inputName(file), {
    signParam,
    pick,
  });
  for (const words of taken) await printMessage(context.io, `taken: ${words}`);
  return samples;
}

/** @throws InvalidInputError with the place of the error in a text that is meant to be JSON, SampleError */
function readOrExplain(text: string, name: string, options: SampleOptions): TakenSamples {
  try {
    return readSamples(text, options);
  } catch (error) {
    if (error instanceof SampleError && /^\s*[{[]/.test(text)) parseJson(text, name);
    throw error;
  }
}

/**
 * Reads a request whose signature is needed.
 *
 * @throws InvalidInputError if the signature is masked, as `userinfo` and its service show it
 */
export async function readSignedInput(...input: Parameters<typeof readSampleInput>): Promise<Sample> {
  return refuseMasked(await readSampleInput(...input));
}

/** `readSignedInput` for a text of which several requests may be taken. */
export async function readSignedInputs(...input: Parameters<typeof readSampleInputs>): Promise<Sample[]> {
  return (await readSampleInputs(...input)).map(refuseMasked);
}

function refuseMasked(sample: Sample): Sample {
  if (!/…|\*{4}/.test(sample.signature ?? '')) return sample;
  throw new InvalidInputError(`the signature is masked: ${quoteName(sample.signature ?? '')}`, {
    hint: 'Take the request as it was sent: userinfo prints it with --print-curl --reveal.',
  });
}
