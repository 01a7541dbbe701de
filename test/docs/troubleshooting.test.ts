import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const project = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(project, 'docs/troubleshooting.md'), 'utf8');
const errors = [...page.matchAll(/^### (.+)$/gm)].map(([, text = '']) => text);
const source = readdirSync(join(project, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join(project, 'src', name), 'utf8'))
  .join('\n');

it.each(errors)('the program can say "%s"', (text) => {
  const parts = text.split('…').map((part) => part.trim());
  expect(parts.filter((part) => part.length > 2 && !source.includes(part))).toEqual([]);
});
