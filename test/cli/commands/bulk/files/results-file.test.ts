import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { appendRecord, appendResults } from '../../../../../src/cli/commands/bulk/files/journal.js';
import { RunFiles } from '../../../../../src/cli/commands/bulk/files/run-files.js';
import { passbackOperation } from '../../../../../src/cli/commands/bulk/operations.js';

const folder = mkdtempSync(
  join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'userinfo-results-'),
);
afterAll(() => rmSync(folder, { recursive: true }));
const paths = { journal: join(folder, 'journal'), results: join(folder, 'results'), failed: null };
const operation = passbackOperation({ by: 'union_id', column: 'union_id' });

const line = (number: number, outcome = 'ok') =>
  `{"line":${number},"outcome":"${outcome}","code":200,"msg":"m"}\n`;
const first = line(2);
const whole = first + line(3) + line(4, 'failed');

/** A run whose journal has rows 2 to 4, in two records, when it is killed. */
beforeEach(async () => {
  for (const path of [paths.journal, paths.results]) rmSync(path, { force: true });
  const files = new RunFiles(paths, 'new', operation);
  await files.claim();
  const record = await files.open({ run: 'it' });
  for (const text of [first, whole.slice(first.length)]) {
    record.results.append(text);
    appendResults(record, []);
  }
  files.release();
});

it.each([
  ['as the journal says', whole],
  ['with a line that the journal does not have yet', whole + line(5)],
  ['with a line that was being written', `${whole}{"line":5,"outc`],
])('results are continued: %s', async (_, text) => {
  writeFileSync(paths.results, text);
  const files = new RunFiles(paths, 'resume', operation);
  await files.claim();
  files.release();
  expect(readFileSync(paths.results, 'utf8')).toBe(text);
});

it.each([
  ['a new line twice', whole + line(5) + line(5)],
  ['a line again that the journal has', whole + line(3)],
  ['another outcome than in the journal', first + line(3, 'failed')],
  ['a line twice instead of another', first + line(3) + line(3)],
  ['cut at the end of a line', first + line(3)],
  ['lines in another order', first + line(4, 'failed') + line(3)],
  ['without its last line end', whole.slice(0, -1)],
  ['with the line ends of Windows', whole.replaceAll('\n', '\r\n')],
  ['with NUL at its end', whole.slice(0, -20) + '\0'.repeat(20)],
  ['all lines, and fewer bytes', first + line(3) + line(4, 'failed').replace('"m"', '""')],
])('results that somebody edited are refused, and stay: %s', async (_, text) => {
  writeFileSync(paths.results, text);
  const files = new RunFiles(paths, 'resume', operation);
  await expect(files.claim().finally(() => files.release())).rejects.toThrow('is not what');
  expect(readFileSync(paths.results, 'utf8')).toBe(text);
});

it('results that grew after the end of their run are refused', async () => {
  const files = new RunFiles(paths, 'resume', operation);
  await files.claim();
  const { journal, results } = await files.open({ run: 'it' });
  appendRecord(journal, { record: 'end', finished: false, results: results.contents() });
  files.release();
  writeFileSync(paths.results, whole + line(5, 'unknown'));
  const next = new RunFiles(paths, 'resume', operation);
  await expect(next.claim().finally(() => next.release())).rejects.toThrow('is not what');
});
