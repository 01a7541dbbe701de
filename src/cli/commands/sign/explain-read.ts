import type { Command } from 'commander';
import { readRequest } from '../../../client/request.js';
import type { CliContext } from '../../context.js';
import { addConnectionOptions, examples } from '../../options.js';
import type { RecipeOptions } from '../../resolve-signing.js';
import { addReadArguments, type ReadOptions, readInputOf } from '../read.js';
import { addMomentOptions, explainRequest, type MomentOptions } from './explain-request.js';

type ExplainReadOptions = ReadOptions & MomentOptions & RecipeOptions;

export function declareExplainRead(explain: Command, context: CliContext): void {
  const command = explain
    .command('read')
    .summary('show how a read would be signed')
    .description('Show how "userinfo read" with these arguments would be signed. Nothing is sent.');
  addConnectionOptions(addMomentOptions(addReadArguments(command)))
    .addHelpText(
      'after',
      examples(
        ['userinfo sign explain read some-code mobile', 'both signatures, stage by stage'],
        [
          'userinfo sign explain read some-code --timestamp 1700000001 --random 0123456789 --json',
          'those of a given request',
        ],
      ),
    )
    .action((code: string, names: string[]) =>
      runExplainRead(context, code, names, command.optsWithGlobals()),
    );
}

async function runExplainRead(
  context: CliContext,
  code: string,
  names: readonly string[],
  options: ExplainReadOptions,
): Promise<void> {
  await explainRequest(context, readRequest(readInputOf(code, names, options)), options);
}
