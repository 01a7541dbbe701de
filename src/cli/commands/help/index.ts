import type { Command } from 'commander';
import type { CliContext } from '../../command.js';
import { formatColumns, setHelpText, showCommon } from '../../command-line/help-layout.js';
import { write } from '../../io.js';
import { profileOutline } from '../../profile-outline.js';

/** The pages of `userinfo help` that belong to no single command: names and summaries. */
export const helpTopics = {
  connection: 'the deployment that a command calls',
  environment: 'environment variables',
  'exit-codes': 'exit status of every command',
  'info-names': 'names and keys with a special meaning',
  operation: 'settings of a service in operation',
  output: 'output formats, and how to print only a part',
  requests: 'signed requests that the commands of "sign" can read',
  signing: 'how requests are signed, and how to find out',
} as const;

/** The topics at the end of the program's help. */
export const topicList = `\nTopics (userinfo help <topic>):\n${formatColumns(Object.entries(helpTopics)).trimEnd()}`;

export function declareHelp(program: Command, context: CliContext): void {
  const command = program
    .helpCommand(false)
    .command('help')
    .summary('show help for a command or a topic')
    .argument('[words...]', 'a command, a topic or an option')
    .addHelpText('after', topicList)
    .action(async (words: string[]) => {
      const [word = ''] = words;
      const inside = (outer: Command | undefined, name: string) =>
        outer?.commands.find((one) => one.name() === name);
      const found = words.reduce<Command | undefined>(inside, program);
      const names = Object.keys(helpTopics);
      const topic = words.length > 1 ? undefined : names.find((name) => name === word);
      if (topic !== undefined) {
        const { topicPage } = await import('./topics.late.js');
        const { chatPrefix } = profileOutline(context.io.env);
        return write(context.io.stdout, topicPage(topic, chatPrefix));
      }
      if (found !== undefined) return found.outputHelp();
      const { lookUp } = await import('./look-up.late.js');
      await write(context.io.stdout, lookUp(program, words, names));
    });
  setHelpText(command, () => import('./help.txt?raw'));
  showCommon(command, []);
}
