import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import {
  checkedInput,
  type InputDigest,
  preflight,
} from '../../../../../src/cli/commands/bulk/source/checked-input.js';
import {
  type Input,
  inputChunkBytes,
  openFile,
} from '../../../../../src/cli/commands/bulk/source/input.js';
import { ndjson } from '../../../../support/read-rows.js';

const folder = mkdtempSync(join(tmpdir(), 'userinfo-input-'));
const path = join(folder, 'input');
afterAll(() => rmSync(folder, { recursive: true }));

const block = inputChunkBytes;

async function digestOf(input: Input): Promise<InputDigest> {
  const text = { encoding: 'utf-8' };
  const isPlainUtf8 = () => true;
  return (await preflight({ input, text, parse: ndjson(), isPlainUtf8 }, null)).digest;
}

/** What is read of an input that is changed after it was checked, up to the error. */
async function readAfter(content: Buffer, change: () => void) {
  writeFileSync(path, content);
  const input = await openFile(path);
  try {
    const checked = checkedInput(input, await digestOf(input));
    change();
    const read: Buffer[] = [];
    const error = await (async () => {
      for await (const chunk of checked.read()) read.push(chunk);
    })().then(
      () => null,
      (thrown: Error) => thrown,
    );
    return { bytes: Buffer.concat(read), error };
  } finally {
    await input.close();
  }
}

const patterned = (size: number) =>
  Buffer.from(Array.from({ length: size }, (_, i) => 97 + ((i * 7 + (i >> 8)) % 26)));

describe('a checked input', () => {
  it.each([0, 1, block - 1, block, block + 1, 3 * block])(
    'of %i bytes is read unchanged',
    async (size) => {
      const content = patterned(size);
      const { bytes, error } = await readAfter(content, () => {});
      expect(error).toBeNull();
      expect(bytes.equals(content)).toBe(true);
    },
  );

  it.each<[string, number, () => void, number]>([
    ['cut at the end of a block', 2 * block, () => truncateSync(path, block), block],
    ['cut in a block', 2 * block, () => truncateSync(path, block + 100), block],
    ['emptied', 2 * block, () => truncateSync(path, 0), 0],
    ['continued behind a part of a block', block + 10, () => appendFileSync(path, 'x'), block],
    ['continued behind a whole block', block, () => appendFileSync(path, 'x'), 0],
  ])('and %s ends with an error', async (_, size, change, readable) => {
    const content = patterned(size);
    const { bytes, error } = await readAfter(content, change);
    expect(error?.message).toContain('was changed after it was checked');
    expect(bytes.equals(content.subarray(0, readable))).toBe(true);
  });

  it('that is rewritten anywhere yields nothing of the block that differs', async () => {
    const content = patterned(2 * block + 1000);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: content.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (at, bits) => {
          const changed = Buffer.from(content);
          changed.writeUInt8(changed.readUInt8(at) ^ bits, at);
          const { bytes, error } = await readAfter(content, () => writeFileSync(path, changed));
          expect(error?.message).toContain('was changed after it was checked');
          expect(bytes.equals(content.subarray(0, Math.floor(at / block) * block))).toBe(true);
        },
      ),
      { numRuns: 20 },
    );
  });
});
