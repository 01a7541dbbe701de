import type { Command } from 'commander';
import { InvalidInputError } from '../../protocol/errors.js';
import { quoteName } from '../../protocol/text.js';
import { nearestName } from '../../support/nearest-name.js';
import type { CliContext } from '../context.js';
import { helpTopics } from '../help-topics/index.js';
import { write } from '../io.js';

export function declareHelp(program: Command, context: CliContext): void {
  const topics = helpTopics.map(({ name, summary }) => `  ${name.padEnd(13)}${summary}`);
  program
    .helpCommand(false)
    .command('help')
    .summary('show help for a command or a topic')
    .description('Show the help of a command, such as "userinfo help profile add", or a topic.')
    .argument('[words...]', 'a command or a topic')
    .addHelpText('after', `\nTopics:\n${topics.join('\n')}`)
    .action((words: string[]) => runHelp(program, context, words));
}

async function runHelp(program: Command, { io }: CliContext, words: readonly string[]): Promise<void> {
  const topic = words.length === 1 ? helpTopics.find(({ name }) => name === words[0]) : undefined;
  if (topic === undefined) findCommand(program, words).outputHelp();
  else await write(io.stdout, await topic.load());
}

/** @throws InvalidInputError for an unknown command */
function findCommand(program: Command, words: readonly string[]): Command {
  let command = program;
  for (const word of words) {
    const inner = command.commands.find((one) => one.name() === word);
    if (inner === undefined) throw unknownWord(word, command, command === program);
    command = inner;
  }
  return command;
}

function unknownWord(word: string, command: Command, isFirst: boolean): InvalidInputError {
  const known = [
    ...command.commands.map((one) => one.name()),
    ...(isFirst ? helpTopics.map(({ name }) => name) : []),
  ];
  const nearest = nearestName(word, known);
  return new InvalidInputError(`there is no command or topic ${quoteName(word)}`, {
    hint:
      nearest === null
        ? '"userinfo --help" lists the commands, "userinfo help --help" the topics.'
        : `Did you mean ${quoteName(nearest)}?`,
  });
}
