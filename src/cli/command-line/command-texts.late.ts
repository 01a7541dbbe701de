// Help alone loads it.
import type { Command } from 'commander';
import { fullName } from './command-line.js';
import commands from './commands.txt?raw';
import { examples, firstExamples } from './help-layout.js';

/** A part of a text, from behind its heading `## name`. */
export function sectionOf(text: string, name: string): string | undefined {
  const [, section] = `\n${text}`.split(`\n## ${name}\n\n`);
  return section?.split(/^## /m, 1)[0];
}

/**
 * Adds descriptions and examples to a command and to those below it, once. The short help has two
 * examples.
 */
export function addTexts(command: Command, isShort: boolean): void {
  const section = command.description() === '' ? sectionOf(commands, fullName(command)) : undefined;
  if (section !== undefined) {
    const [description = '', shown = ''] = section.split('\n\n');
    const lines = [...shown.matchAll(/^ {2}# (.+)\n {2}\$ (.+)$/gm)];
    command.description(description.replaceAll('\n', ' '));
    const shownExamples = lines.map(([, purpose = '', line = '']) => [line, purpose] as const);
    command.addHelpText(
      'after',
      isShort ? firstExamples(...shownExamples) : examples(...shownExamples),
    );
  }
  for (const inner of command.commands) addTexts(inner, isShort);
}
