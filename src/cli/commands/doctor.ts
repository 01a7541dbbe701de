import type { Command } from 'commander';
import type { CliContext } from '../context.js';
import type { Check } from '../doctor/checkup.js';
import { writeStyled } from '../io.js';
import { addConnectionOptions, type CommonOptions, type ConnectionOptions, examples } from '../options.js';
import { printData } from '../output/print.js';
import { colorsFor, isPlainTable, outputStyle } from '../output/style.js';

export function declareDoctor(program: Command, context: CliContext): void {
  const command = program
    .command('doctor')
    .summary('find out why requests fail')
    .description(
      'Check each step from the profile to an answer of the service. This sends one read with a code ' +
        'that was never issued: nothing is written.',
    );
  addConnectionOptions(command)
    .addHelpText(
      'after',
      examples(
        ['userinfo doctor', 'with the active profile'],
        ["userinfo doctor -p local --query '[?status==`failed`]' --json", 'what failed, for a program'],
      ),
    )
    .action(() => runDoctor(context, command.optsWithGlobals()));
}

async function runDoctor(context: CliContext, options: CommonOptions & ConnectionOptions): Promise<void> {
  const { io } = context;
  const style = await outputStyle(options, io);
  const { Checkup, formatCheck, runCheckup } = await import('../doctor/checkup.js');
  const colors = colorsFor(io.stdout, io.env, options.color);
  const print = (check: Check) => writeStyled(io.stdout, formatCheck(check, colors));
  const checkup = new Checkup(isPlainTable(style) ? print : async () => {});
  await runCheckup(checkup, context, options);
  if (!isPlainTable(style)) await printData(checkup.checks, io, style);
  checkup.conclude();
}
