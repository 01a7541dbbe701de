import { Option } from 'commander';
import { type Call, command } from '../../command.js';
import { parseRate } from '../../command-line/option-values.js';
import { addConnectionOptions } from '../../command-line/options.js';
import type { TryOptions } from './try-presets.late.js';

export const declareSignTry = command({
  name: 'try',
  common: ['profile', 'output', 'network', 'confirm'],
  summary: 'try the presets against a test deployment',
  description:
    'Find the rules of a test deployment without an accepted request: send reads with an invalid code, signed by one ' +
    'preset after another, until neither app_sign nor sign is refused. It asks first, and stops at any other answer. ' +
    'The exit status is 4 if no preset fits.',
  examples: [
    ['userinfo sign try -p local', 'at most two reads a preset, one a second'],
    ['userinfo sign try -p local --save local --yes', 'write the presets found into the profile'],
  ],
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
