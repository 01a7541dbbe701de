import { type Call, command } from '../../command.js';
import { writeStyled } from '../../io.js';
import { addConnectionOptions, type ConnectionOptions } from '../../options.js';
import type { Check } from './checkup.js';

export const declareDoctor = command({
  name: 'doctor',
  common: ['profile', 'output', 'network'],
  summary: 'find out why requests fail',
  description:
    'Check each step from the profile to an answer of the service. This sends one read with a code ' +
    'that was never issued: nothing is written.',
  examples: [
    ['userinfo doctor', 'with the active profile'],
    ["userinfo doctor -p local --query '[?status==`failed`]' --json", 'what failed, for a program'],
  ],
  takes: addConnectionOptions,
  run: async ({ context, io, options, style, isTable, print }: Call<ConnectionOptions>) => {
    const { formatCheck, runCheckup } = await import('./checkup.js');
    const checks: Check[] = [];
    const failure = await runCheckup({ context, options }, async (check) => {
      checks.push(check);
      if (isTable) await writeStyled(io.stdout, formatCheck(check, style.colors));
    });
    if (!isTable) await print(checks);
    if (failure !== undefined) throw failure;
  },
});
