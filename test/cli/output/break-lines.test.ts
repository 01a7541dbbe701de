import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import { breakText } from '../../../src/cli/output/break-lines.js';

it.each([30, 80])('prose is broken between words, in %i columns', (columns) => {
  const text = 'Signed with the secret of profile "shop", by the default recipes. 然后 See what is signed.';
  const lines = breakText(`    ${text}`, columns).split('\n');
  expect(lines.every((line) => line.startsWith('    ') && stringWidth(line) <= columns)).toBe(true);
  expect(lines.map((line) => line.trim()).join(' ')).toBe(text);
  // A line is broken only where the next word does not fit.
  for (const [index, line] of lines.slice(0, -1).entries()) {
    const [next = ''] = (lines[index + 1] ?? '').trim().split(' ');
    expect([line, stringWidth(`${line} ${next}`) > columns]).toEqual([line, true]);
  }
});
