import type { Command } from 'commander';
import { passbackRequest } from '../../../client/request.js';
import type { CliContext } from '../../context.js';
import { addConnectionOptions, examples } from '../../options.js';
import type { RecipeOptions } from '../../resolve-signing.js';
import { addPassbackArguments, type PassbackOptions, readUserInfo } from '../passback.js';
import { addMomentOptions, explainRequest, type MomentOptions } from './explain-request.js';

type ExplainPassbackOptions = PassbackOptions & MomentOptions & RecipeOptions;

export function declareExplainPassback(explain: Command, context: CliContext): void {
  const command = explain
    .command('passback')
    .summary('show how a passback would be signed')
    .description('Show how "userinfo passback" with these arguments would be signed. Nothing is sent.');
  addConnectionOptions(addMomentOptions(addPassbackArguments(command)))
    .addHelpText(
      'after',
      examples(
        [
          'userinfo sign explain passback name=张三 age:=28 --union-id u001',
          'both signatures, stage by stage',
        ],
        ['userinfo sign explain passback mobile=13800138000 --primary-key mobile --json', 'for a program'],
      ),
    )
    .action((pairs: string[]) => runExplainPassback(context, pairs, command.optsWithGlobals()));
}

async function runExplainPassback(
  context: CliContext,
  pairs: readonly string[],
  options: ExplainPassbackOptions,
): Promise<void> {
  const { unionId, primaryKey } = options;
  const userInfo = await readUserInfo(context, pairs, options.userInfo);
  await explainRequest(context, passbackRequest({ unionId, primaryKey, userInfo }), options);
}
