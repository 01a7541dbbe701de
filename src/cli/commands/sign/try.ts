import { type Call, command } from '../../command.js';
import { parseRate } from '../../option-values.js';
import { addConnectionOptions, type ConnectionOptions } from '../../options.js';

export interface TryOptions extends ConnectionOptions {
  /** Requests a second. */
  readonly rate: number;
  /** Name of the profile that receives the presets. */
  readonly save?: string;
}

export const declareSignTry = command({
  name: 'try',
  common: ['profile', 'output', 'network', 'confirm'],
  summary: 'try the presets against a test deployment',
  description:
    'Find the rules of a test deployment without an accepted request: send reads of a code that nobody has, signed by ' +
    'one preset after the other, until the answer is another one than a wrong app_sign or sign. It asks first, and ' +
    'stops at the first other answer. The exit status is 4 if no preset fits.',
  examples: [
    ['userinfo sign try -p shop-test', 'at most two reads a preset, one a second'],
    ['userinfo sign try -p shop-test --save shop-test --yes', 'write the presets found into the profile'],
  ],
  takes: (command) =>
    addConnectionOptions(
      command
        .option('--rate <n/s>', 'maximum number of requests a second', parseRate, 1)
        .option('--save <profile>', 'write the presets found into a profile'),
    ),
  run: async (call: Call<TryOptions>) => {
    const { tryPresets } = await import('./try-presets.js');
    await tryPresets(call);
  },
});
