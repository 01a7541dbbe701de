import { Option } from 'commander';
import { type Call, command } from '../../command.js';
import { parseRate } from '../../command-line/option-values.js';
import { addConnectionOptions } from '../../command-line/options.js';
import type { TryOptions } from './try-presets.late.js';

export const declareSignTry = command({
  name: 'try',
  common: ['profile', 'output', 'network', 'confirm'],
  summary: 'try the presets against a test deployment',
  takes: (command) =>
    addConnectionOptions(
      command
        .addOption(
          new Option('--rate <n/s>', 'maximum number of requests per second')
            .argParser(parseRate)
            .default(1, '1/s'),
        )
        .option('--save <profile>', 'write the presets found into a profile'),
    ),
  run: async (call: Call<TryOptions>) => {
    const { tryPresets } = await import('./try-presets.late.js');
    await tryPresets(call);
  },
});
