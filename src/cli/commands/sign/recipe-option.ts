import type { Command } from 'commander';

export function addRecipeOption(command: Command): Command {
  return command.option(
    '--recipe <name>',
    'a preset, or a file with one recipe or {app_sign, sign}; those of the profile unless given',
  );
}
