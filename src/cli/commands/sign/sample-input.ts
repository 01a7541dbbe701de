import type { Command } from 'commander';
import { InvalidInputError } from '../../../protocol/errors.js';
import { quoteName } from '../../../protocol/unsafe-text.js';
import type { Sample } from '../../../signing/request.js';
import { readSample } from '../../../signing/samples/read-sample.js';
import type { CliContext } from '../../context.js';
import { inputName, parseJson, readText } from '../../input.js';

export interface SampleOptions {
  /** Path of a file; `-` for standard input. */
  readonly sample?: string | undefined;
  readonly signParam?: string | undefined;
}

export function addSampleOptions(command: Command): Command {
  return command
    .option('--sample <file>', 'file with the request; - for standard input')
    .option('--sign-param <name>', 'parameter with the signature (default: sign)');
}

/**
 * Reads the request of a command: its argument (`-` for standard input) or `--sample`.
 *
 * @throws InvalidInputError if the request is missing or given twice, SampleError for a text that is not a request
 */
export async function readSampleInput(
  context: CliContext,
  argument: string | undefined,
  { sample, signParam }: SampleOptions,
): Promise<Sample> {
  if (argument !== undefined && sample !== undefined) {
    throw new InvalidInputError('a request and --sample are both given: use one of them');
  }
  const file = argument === '-' ? argument : sample;
  if (file === undefined && argument === undefined) {
    throw new InvalidInputError('no request is given', {
      hint: 'Give a URL or a curl command in quotes, - for standard input, or --sample <file>.',
    });
  }
  const what = 'a request (URL, curl command, HTTP text or JSON)';
  const text = file === undefined ? (argument ?? '') : await readText(context, file, what);
  if (/^\s*\{/.test(text)) parseJson(text, file === undefined ? 'the request' : inputName(file));
  return readSample(text, { signParam });
}

/**
 * Reads a request whose signature is needed.
 *
 * @throws InvalidInputError if the signature is masked, as `userinfo` and its service show it
 */
export async function readSignedInput(...input: Parameters<typeof readSampleInput>): Promise<Sample> {
  const sample = await readSampleInput(...input);
  if (!/…|\*{4}/.test(sample.signature ?? '')) return sample;
  throw new InvalidInputError(`the signature is masked: ${quoteName(sample.signature ?? '')}`, {
    hint: 'Take the request as it was sent: userinfo prints it with --print-curl --reveal.',
  });
}
