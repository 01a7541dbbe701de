import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { errorTexts } from './messages.js';

const page = readFileSync(join(import.meta.dirname, '../../docs/troubleshooting.md'), 'utf8');
const headings = [...page.matchAll(/^### (.+)$/gm)].map(([, text = '']) => text);
/** The words of a text, without what `…` stands for. */
const words = (text: string) => text.replace(/[…\s:]+/g, ' ').trim();
const messages = [...errorTexts().values()].flat().map(({ message }) => words(message));

it.each(headings)('the program can say "%s"', (heading) => {
  expect(messages.some((message) => message.startsWith(words(heading)))).toBe(true);
});
