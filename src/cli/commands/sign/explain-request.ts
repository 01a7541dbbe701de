import { type Command, InvalidArgumentError, Option } from 'commander';
import { type PlainRequest, signableRequest } from '../../../client/request.js';
import { InvalidInputError } from '../../../protocol/errors.js';
import { randomLength, timestampDigits } from '../../../protocol/limits.js';
import { explainBoth } from '../../../signing/app-signatures.js';
import { readSecretOf, resolveService } from '../../connect.js';
import type { CliContext } from '../../context.js';
import type { CommonOptions, ConnectionOptions } from '../../options.js';
import { outputStyle } from '../../output/style.js';
import { pairOf, type RecipeOptions, signingInForce } from '../../resolve-signing.js';
import { printExplanation } from './print-explanation.js';
import type { SampleOptions } from './sample-input.js';

/** What makes one request like another, so that its signatures can be compared. */
export interface MomentOptions {
  readonly timestamp: string;
  readonly random: string;
}

export function addMomentOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--timestamp <seconds>', 'timestamp of the request')
        .default('1700000000')
        .argParser((text) => {
          if (new RegExp(`^\\d{${timestampDigits}}$`).test(text)) return text;
          throw new InvalidArgumentError(`Give Unix seconds, ${timestampDigits} digits.`);
        }),
    )
    .addOption(
      new Option('--random <text>', 'random string of the request')
        .default('fixed-for-explain')
        .argParser((text) => {
          const { min, max } = randomLength;
          if (text.length >= min && text.length <= max) return text;
          throw new InvalidArgumentError(`Give ${min} to ${max} characters.`);
        }),
    );
}

/** Shows how a request would be signed, stage by stage. Nothing is sent. */
export async function explainRequest(
  context: CliContext,
  request: PlainRequest,
  options: CommonOptions & ConnectionOptions & RecipeOptions & SampleOptions & MomentOptions,
): Promise<void> {
  const style = await outputStyle(options, context.io);
  if (options.sample !== undefined) {
    throw new InvalidInputError('--sample is a request of its own: it does not go with read and passback');
  }
  const settings = await resolveService(context, options);
  const signing =
    options.recipe === undefined
      ? await pairOf(context, settings.signing)
      : await signingInForce(context, options);
  if (signing.kind === 'one') {
    throw new InvalidInputError('--recipe holds one recipe; a request carries app_sign and sign', {
      hint: 'Write {"app_sign": …, "sign": …}, or explain one signature of a --sample.',
    });
  }
  const signable = signableRequest(
    request,
    settings.base_url.value,
    {
      tenantCode: settings.tenant_code.value,
      appKey: settings.app_key.value,
      channel: settings.channel.value,
    },
    { random: options.random, timestamp: Number(options.timestamp) },
  );
  const secret = await readSecretOf(context, settings);
  await printExplanation(context, explainBoth(signing.signers, signable, secret), style);
}
