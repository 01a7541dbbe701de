import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Language, type Node, Parser } from '@vscode/tree-sitter-wasm';

const grammar = join(
  dirname(createRequire(import.meta.url).resolve('@vscode/tree-sitter-wasm')),
  'tree-sitter-powershell.wasm',
);

/** Where a script breaks PowerShell's grammar: the faulty stretches of text. */
export async function faultsOfPowerShell(script: string): Promise<string[]> {
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Language.load(readFileSync(grammar)));
  const tree = parser.parse(script);
  return tree === null ? [script] : faultsIn(tree.rootNode);
}

function faultsIn(node: Node): string[] {
  if (!node.hasError) return [];
  if (node.isError || node.isMissing) return [node.text];
  return node.children.flatMap((child) => (child === null ? [] : faultsIn(child)));
}
