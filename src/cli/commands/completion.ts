import { Argument, type Command } from 'commander';
import type { CommandNode } from '../completion/command-tree.js';
import type { CliContext } from '../context.js';
import { write } from '../io.js';
import { examples } from '../options.js';

const scripts = {
  bash: async () => (await import('../completion/bash.js')).bashScript,
  zsh: async () => (await import('../completion/zsh.js')).zshScript,
  fish: async () => (await import('../completion/fish.js')).fishScript,
} satisfies Record<string, () => Promise<(tree: readonly CommandNode[]) => string>>;

export function declareCompletion(program: Command, context: CliContext): void {
  program
    .command('completion')
    .summary('print a shell completion script')
    .description(
      'Print a script that completes commands, options, option values, profile names and names of information.',
    )
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(scripts)))
    .addHelpText(
      'after',
      examples(
        ['userinfo completion bash > userinfo.bash', 'source it in ~/.bashrc; zsh likewise'],
        ['userinfo completion fish > userinfo.fish', 'put it in ~/.config/fish/completions'],
      ),
    )
    .action((shell: keyof typeof scripts) => runCompletion(context, shell));
}

async function runCompletion(context: CliContext, shell: keyof typeof scripts): Promise<void> {
  const [{ buildProgram }, { commandTree }, script] = await Promise.all([
    import('../program.js'),
    import('../completion/command-tree.js'),
    scripts[shell](),
  ]);
  await write(context.io.stdout, script(commandTree(await buildProgram(context, []))));
}
