import { Option } from 'commander';
import { command, type Invocation } from '../../command.js';
import { addConnectionOptions, parseCount, parseRate } from '../../command-line/options.js';
import type { TryOptions } from './try-rules.late.js';

export const declareSignTry = command({
  name: 'try',
  common: ['profile', 'output', 'network', 'confirm'],
  summary: 'find the rules by asking a test deployment',
  takes: (command) =>
    addConnectionOptions(
      command
        .addOption(
          new Option('--rate <n/s>', 'maximum number of requests per second')
            .argParser(parseRate)
            .default(5, '5/s'),
        )
        .option('--save <profile>', 'write the rules found into a profile')
        .option('--skip <n>', 'number of rules that were refused before', parseCount),
    ),
  action: async (invocation: Invocation<TryOptions>) => {
    const { tryRules } = await import('./try-rules.late.js');
    await tryRules(invocation);
  },
});
