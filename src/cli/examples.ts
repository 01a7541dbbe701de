/** The examples at the end of a command's help: what to type, and what it is for. */
export function examples(...lines: readonly (readonly [command: string, purpose: string])[]): string {
  const shown = lines.map(([command, purpose]) => `  # ${purpose}\n  $ ${command}`);
  return `\nExamples:\n${shown.join('\n')}`;
}
