import type { Command } from 'commander';
import { InvalidInputError, quoteName } from '../../../core/contract/errors.js';
import type { Sample } from '../../../lab/samples/captured-request.js';
import type { TakenSamples } from '../../../lab/samples/read-sample.js';
import type { CliContext } from '../../command.js';
import { parseCount } from '../../command-line/options.js';
import { inputName, parseJson, readText } from '../../input.js';
import { printMessage } from '../../io.js';
import { requestFileError } from '../../request/file-argument.js';

export interface SampleOptions {
  /** Path of a file; `-` for standard input. */
  readonly sample?: string | undefined;
  /** Numbers of the requests to take, from 1; by default there may be one. */
  readonly pick?: readonly number[] | 'all' | undefined;
  /** Whether requests are refused that the platform refused, as far as the text has its answers. */
  readonly accepted?: boolean;
}

export function addSampleOptions(command: Command): Command {
  return command
    .option('--sample <file>', 'file with the request; - for standard input')
    .option(
      '--pick <n>',
      'number of the request to take, where there are several',
      (text): readonly number[] => [parseCount(text)],
    );
}

/**
 * Reads the requests of a command, one at least: from its argument (`-` for standard input) or
 * `--sample`. Says which are taken of a text that holds more.
 *
 * @throws InvalidInputError if the request is missing or given twice, SampleError for a text that
 * is not a request
 */
export async function readSampleInputs(
  context: CliContext,
  argument: string | undefined,
  { sample, pick, accepted = false }: SampleOptions,
): Promise<readonly [Sample, ...Sample[]]> {
  if (argument !== undefined && sample !== undefined) {
    throw new InvalidInputError('a request and --sample are both given: use one of them');
  }
  const input = await readInput(context, argument, sample);
  const { name } = input;
  const { samples: all, taken, refused } = await readOrExplain(input, context.args, { pick });
  const samples = accepted ? all.filter((request) => !refused.has(request)) : all;
  const isRefused = samples.length < all.length;
  const someAreEnough = pick === 'all' && samples.length > 0;
  if (isRefused && !someAreEnough) {
    throw new InvalidInputError(`${name} was refused by the platform (status 401 or 403)`, {
      hint:
        'Its signature proves nothing: take a request that the platform accepted. ' +
        '"sign verify" says why one is refused.',
    });
  }
  for (const words of taken) await printMessage(context.io, `taken: ${words}`);
  const [first, ...others] = samples;
  if (first === undefined) throw noRequest();
  return [first, ...others];
}

interface InputText {
  readonly text: string;
  /** A noun for it in an error, such as the name of its file. */
  readonly name: string;
  /** Whether it is that argument of the command line, and no file. */
  readonly isArgument: boolean;
}

/** @throws InvalidInputError where there is neither an argument nor a file */
async function readInput(
  context: CliContext,
  argument: string | undefined,
  sample: string | undefined,
): Promise<InputText> {
  const file = argument === '-' ? argument : sample;
  if (file !== undefined) {
    const what = 'a request (URL, curl command, HAR, HTTP text, line of a log, …)';
    const text = await readText(context, file, what);
    return { text, name: inputName(file), isArgument: false };
  }
  if (argument === undefined) throw noRequest();
  return { text: argument, name: 'the request', isArgument: true };
}

function noRequest(): InvalidInputError {
  return new InvalidInputError('no request is given', {
    hint: 'Give a URL or a curl command in quotes, - for standard input, or --sample <file>.',
  });
}

/**
 * @throws InvalidInputError with the place of the error in a text that is meant to be JSON, and for
 * an argument that is the path of a file; SampleError
 */
async function readOrExplain(
  { text, name, isArgument }: InputText,
  args: readonly string[],
  options: SampleOptions,
): Promise<TakenSamples> {
  const [{ readSamples }, { SampleError }] = await Promise.all([
    import('../../../lab/samples/read-sample.js'),
    import('../../../lab/samples/captured-request.js'),
  ]);
  try {
    return readSamples(text, options);
  } catch (error) {
    if (!(error instanceof SampleError)) throw error;
    const fileError = isArgument ? requestFileError(text, args) : undefined;
    if (fileError !== undefined) throw fileError;
    if (/^\s*[{[]/.test(text)) parseJson(text, name);
    throw error;
  }
}

/**
 * Reads requests whose signatures are needed.
 *
 * @throws InvalidInputError if one is masked, as `userinfo` and its service show it
 */
export async function readSignedInputs(...input: Parameters<typeof readSampleInputs>) {
  const samples = await readSampleInputs(...input);
  const masked = samples.find(({ signature }) => /…|\*{4}/.test(signature ?? ''));
  if (masked === undefined) return samples;
  throw new InvalidInputError(`the signature is masked: ${quoteName(masked.signature ?? '')}`, {
    hint: 'Take the request as it was sent: userinfo prints it with --print-curl --reveal.',
  });
}
