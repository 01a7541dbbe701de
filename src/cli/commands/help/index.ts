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

const topicColumns = formatColumns(Object.entries(helpTopics)).trimEnd();
/** The topics at the end of the program's help. */
export const topicList = `\nTopics (userinfo help <topic>):\n${topicColumns}`;

export function declareHelp(program: Command, context: CliContext): void {
  const command = program
    .helpCommand(false)
    .command('help')
    .summary('show help for a command or a topic')
    .argument('[words...]', 'a command, a topic or an option')
    .addHelpText('after', topicList)
    .action((words: string[]) => showHelp(program, context, words));
  setHelpText(command, () => import('./help.txt?raw'));
  showCommon(command, []);
}

/** Shows the page of a topic, the help of a command, or what else the words name. */
async function showHelp(
  program: Command,
  { io }: CliContext,
  words: readonly string[],
): Promise<void> {
  const [word = ''] = words;
  const topics = Object.keys(helpTopics);
  if (words.length <= 1 && topics.includes(word)) {
    const { topicPage } = await import('./topics.late.js');
    const { chatPrefix } = profileOutline(io.env);
    return write(io.stdout, topicPage(word, chatPrefix));
  }
  const command = commandAt(program, words);
  if (command !== undefined) return command.outputHelp();
  const { lookUp } = await import('./look-up.late.js');
  await write(io.stdout, lookUp(program, words, topics));
}

/** The command that the words name, one after the other; the program, if there are none. */
function commandAt(program: Command, words: readonly string[]): Command | undefined {
  let command: Command | undefined = program;
  for (const word of words) command = command?.commands.find((inner) => inner.name() === word);
  return command;
}
