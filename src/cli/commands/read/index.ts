import { buildRead } from '../../../client/call/request.js';
import { InvalidInputError } from '../../../core/contract/errors.js';
import { parseInfoNames, specialInfoNames } from '../../../core/contract/info-names.js';
import { withoutUndefined } from '../../../core/support/without-undefined.js';
import { type CliContext, command, type Invocation } from '../../command.js';
import { asksForShortHelp, listNames } from '../../command-line/help-layout.js';
import { parseFilled } from '../../command-line/options.js';
import { cutSpaceAround } from '../../command-line/space-around.js';
import { readValue } from '../../input.js';
import { profileOutline } from '../../profile-outline.js';
import { callService } from '../../request/call-service.js';
import { nameDoubts, requestDoubts, specialNamesOf } from '../../request/doubts.js';
import { rowsFileDoubts } from '../../request/file-argument.js';
import type { OperationCall } from '../../request/operation-call.js';
import { addRequestOptions, type RequestOptions } from '../../request/preview.js';

interface ReadRequestOptions {
  readonly scope?: string;
}

type ReadOptions = ReadRequestOptions & RequestOptions;

/** A read that is sent or explained. */
export const readCall: OperationCall<ReadRequestOptions, [code: string, names: readonly string[]]> =
  {
    takesForRequest: (command) =>
      command
        .argument('<code>', 'authorization code; - for standard input')
        .argument('[names...]', 'names to read, separated by spaces or commas (default: all)')
        .option(
          '--scope <scope>',
          'authorization type (default: that of the service)',
          parseFilled('--scope'),
        ),
    takesForSending: addRequestOptions,
    request: async ({ context, options }, code, names) => {
      const { scope } = options;
      const infoNames = names.length === 0 ? undefined : parseInfoNames(names);
      const input = { code: await readCode(context, code), infoNames, scope };
      return buildRead(withoutUndefined(input));
    },
  };

export const declareRead = command({
  name: 'read',
  common: ['profile', 'output', 'network', 'confirm'],
  summary: "read a user's information with an authorization code",
  help: () => import('./help.txt?raw'),
  takes: (command, { io, args }) => {
    const special = () => {
      const { chatPrefix } = profileOutline(io.env, command.optsWithGlobals().profile);
      return listNames(Object.keys(specialInfoNames(chatPrefix)), 'Names with a special meaning');
    };
    const declared = readCall.takesForSending(readCall.takesForRequest(command));
    if (asksForShortHelp(args)) return declared;
    return declared.addHelpText(
      'after',
      () => `${special()}
Any other name is a key that an application passed back, such as acme_level.
Names missing from the answer are reported on stderr.`,
    );
  },
  action: async (invocation: Invocation<ReadOptions>, code: string, names: string[]) => {
    const request = await readCall.request(invocation, code, names);
    const namesInQuery = invocation.style.select?.names ?? [];
    const further = namesInQuery.filter((name) => !request.infoNames.includes(name));
    return callService(invocation, request, async (settings) => [
      ...requestDoubts(request, settings),
      ...rowsFileDoubts('the code', code),
      ...further.flatMap((name) => nameDoubts('name in --query', name, specialNamesOf(settings))),
    ]);
  },
});

/**
 * The code of the argument, or of standard input for `-`.
 *
 * @throws InvalidInputError if there is none
 */
async function readCode(context: CliContext, argument: string): Promise<string> {
  if (argument === '') {
    throw new InvalidInputError('the code is empty', {
      hint: 'If it is "$code", the variable is not set: the command that sets it may have failed.',
    });
  }
  if (argument !== '-') return argument;
  return cutSpaceAround(context.io, 'the code', await readValue(context, 'code'));
}
