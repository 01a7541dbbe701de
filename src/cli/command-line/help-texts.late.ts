// Help alone loads it.
import type { Command } from 'commander';
import { fullName } from './command-line.js';
import { type Example, examples, firstExamples, helpTextOf } from './help-layout.js';

/** A part of a text, from behind its heading `## name`. */
export function sectionOf(text: string, name: string): string | undefined {
  const [, section] = `\n${text}`.split(`\n## ${name}\n\n`);
  return section?.split(/^## /m, 1)[0];
}

/**
 * Adds descriptions and examples to a command and to those below it, once. The short help has two
 * examples.
 */
export async function addTexts(command: Command, isShort: boolean): Promise<void> {
  if (command.description() === '') await addText(command, isShort);
  for (const inner of command.commands) await addTexts(inner, isShort);
}

/** Adds what the section of the command in the help.txt of its folder says. */
async function addText(command: Command, isShort: boolean): Promise<void> {
  const section = sectionOf(await helpTextOf(command), fullName(command));
  if (section === undefined) return;
  const [description = '', shown = ''] = section.split('\n\n');
  command.description(description.replaceAll('\n', ' '));
  const exampleLines = [...shown.matchAll(/^ {2}# (.+)\n {2}\$ (.+)$/gm)];
  const all = exampleLines.map(([, purpose = '', line = '']): Example => [line, purpose]);
  command.addHelpText('after', isShort ? firstExamples(...all) : examples(...all));
}
