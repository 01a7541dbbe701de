import { command, type Invocation } from '../../command.js';
import { addConnectionOptions, parseCount, rateOption } from '../../command-line/options.js';
import type { TryOptions } from './try-rules.late.js';

export const declareSignTry = command({
  name: 'try',
  common: ['profile', 'output', 'network', 'confirm'],
  summary: 'find the rules by asking a test deployment',
  takes: (command) =>
    addConnectionOptions(
      command
        .addOption(rateOption())
        .option('--save <profile>', 'write the rules found into a profile')
        .option('--skip <n>', 'number of rules that were refused before', parseCount),
    ),
  action: async (invocation: Invocation<TryOptions>) => {
    const { tryRules } = await import('./try-rules.late.js');
    await tryRules(invocation);
  },
});
