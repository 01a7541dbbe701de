import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const project = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(project, 'docs/troubleshooting.md'), 'utf8');
const headings = [...page.matchAll(/^### (.+)$/gm)].map(([, text = '']) => text);
/** The words of a text, without what `…` stands for. */
const words = (text: string) => text.replace(/[…\s:]+/g, ' ').trim();
const sources = readdirSync(join(project, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join(project, 'src', name), 'utf8'))
  .map((text) => words(text.replace(/\$\{[^{}]*\}/g, '…')));

it.each(headings)('the program can say "%s"', (heading) => {
  expect(sources.some((source) => source.includes(words(heading)))).toBe(true);
});
