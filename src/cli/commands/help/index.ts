import type { Command } from 'commander';
import { InvalidInputError } from '../../../protocol/errors.js';
import { quoteName } from '../../../protocol/unsafe-text.js';
import { nearestName } from '../../../support/nearest-name.js';
import type { CliContext } from '../../context.js';
import { examples, formatColumns, showCommon } from '../../help-layout.js';
import { write } from '../../io.js';
import { profileOutline } from '../../profile-outline.js';

/** The pages of `userinfo help` that belong to no single command: names and summaries. */
export const helpTopics = {
  connection: 'the deployment that a command calls',
  environment: 'environment variables',
  'exit-codes': 'exit status of every command',
  'info-names': 'names and keys with a special meaning',
  'many-rows': 'options of runs over many rows',
  operation: 'settings of a service in operation',
  output: 'output formats, and how to print only a part',
  requests: 'signed requests that the commands of "sign" can read',
  signing: 'how requests are signed, and how to find out',
} as const;
export type HelpTopic = keyof typeof helpTopics;

/** The topics at the end of the program's help. */
export const topicList = `\nTopics (userinfo help <topic>):\n${formatColumns(Object.entries(helpTopics)).trimEnd()}`;

export function declareHelp(program: Command, context: CliContext): void {
  const command = program
    .helpCommand(false)
    .command('help')
    .summary('show help for a command or a topic')
    .description('Show the help of a command, such as "userinfo help profile add", or a topic.')
    .argument('[words...]', 'a command or a topic')
    .addHelpText('after', topicList)
    .addHelpText(
      'after',
      examples(['userinfo help profile add', 'a command'], ['userinfo help exit-codes', 'a topic']),
    )
    .action(async (words: string[]) => {
      const topic = words.length === 1 ? words[0] : undefined;
      if (topic === undefined || !Object.hasOwn(helpTopics, topic)) findCommand(program, words).outputHelp();
      else {
        const { topicPage } = await import('./topics.js');
        const { chatPrefix } = profileOutline(context.io.env);
        await write(context.io.stdout, topicPage(topic as HelpTopic, chatPrefix));
      }
    });
  showCommon(command, []);
}

/** @throws InvalidInputError for an unknown command */
function findCommand(program: Command, words: readonly string[]): Command {
  let command = program;
  for (const word of words) {
    const names = command.commands.map((one) => one.name());
    const inner = command.commands[names.indexOf(word)];
    if (inner === undefined) {
      const nearest = nearestName(word, command === program ? [...names, ...Object.keys(helpTopics)] : names);
      throw new InvalidInputError(`there is no command or topic ${quoteName(word)}`, {
        hint:
          nearest === null
            ? '"userinfo --help" lists the commands and topics.'
            : `Did you mean ${quoteName(nearest)}?`,
      });
    }
    command = inner;
  }
  return command;
}
