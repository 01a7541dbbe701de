import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Md5 } from '../../src/signing/solve/search/md5.js';
import { MessageBytes } from '../../src/signing/solve/search/message-bytes.js';

/** Around the lengths at which one more block begins. */
const text = fc.string({ unit: 'binary', minLength: 0, maxLength: 150 });
const lead = fc.constantFrom(0, 1, 2).map((blocks) => Buffer.alloc(blocks * 64, 0x36));

function hexOf(words: Int32Array): string {
  return Buffer.from(words.buffer, words.byteOffset, words.byteLength).toString('hex');
}

it('digests what crypto.hash digests, however a message is parted and whatever was digested before', () => {
  const message = new MessageBytes();
  fc.assert(
    fc.property(
      text,
      text,
      fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 4 }),
      lead,
      (...given) => {
        const [before, block, ends, bytes] = given;
        const md5 = new Md5(bytes);
        message.begin(before, block);
        for (const [end, more] of ends) {
          message.end(end, more);
          const whole = Buffer.concat([bytes, Buffer.from(before + block + end + more)]);
          expect(message.text).toBe(before + block + end + more);
          expect(hexOf(md5.digest(message))).toBe(hash('md5', whole, 'hex'));
        }
      },
    ),
    { numRuns: 150 },
  );
});
