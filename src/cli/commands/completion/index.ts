import { Argument } from 'commander';
import { command, type Declare } from '../../command.js';
import { write } from '../../io.js';
import bash from './userinfo.bash?raw';
import fish from './userinfo.fish?raw';
import zsh from './userinfo.zsh?raw';

/**
 * Each passes the words typed so far to `userinfo __complete`, which cli/main answers from one
 * table.
 */
const scripts = { bash, zsh, fish };

const declareScript = command({
  name: 'completion',
  common: [],
  summary: 'print a shell completion script',
  help: () => import('./help.txt?raw'),
  takes: (command) =>
    command.addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(scripts))),
  action: ({ io }, shell: keyof typeof scripts) => write(io.stdout, scripts[shell]),
});

export const declareCompletion: Declare = (program, context) => {
  program
    .command('completion-table', { hidden: true })
    .description('Print the table of all completions, for scripts/bundle.mjs.')
    .action(async () => {
      const { completionTable } = await import('./table.late.js');
      await write(context.io.stdout, JSON.stringify(completionTable(program)));
    });
  declareScript(program, context);
};
