import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Beginning } from '../../src/signing/solve/lanes/beginning.js';
import { type ByteText, byteText } from '../../src/signing/solve/lanes/byte-text.js';
import { type Compressor, compressors, Room } from '../../src/signing/solve/lanes/lane-memory.js';
import { Lanes, mostWords } from '../../src/signing/solve/lanes/lanes.js';

/** Around the lengths at which one more block begins. */
const text = fc.string({ unit: 'binary', minLength: 0, maxLength: 150 });
const lead = fc.constantFrom(0, 1, 2).map((blocks) => Buffer.alloc(blocks * 64, 0x36));
/** The beginning of a message, and three texts behind it. */
const message = fc.tuple(text, text, text, text);

function hexOf(digests: Int32Array, lane: number, { initial, bigEndian }: Compressor): string {
  const bytes = Buffer.alloc(initial.length * 4);
  initial.forEach((_, index) => {
    const word = digests[lane * mostWords + index] ?? 0;
    if (bigEndian) bytes.writeInt32BE(word, index * 4);
    else bytes.writeInt32LE(word, index * 4);
  });
  return bytes.toString('hex');
}

it.each(['md5', 'sha1', 'sha256'] as const)(
  'digests up to four messages by %s as crypto.hash does, whatever was digested before',
  (algorithm) => {
    const compressor = compressors[algorithm];
    if (compressor === null) throw new Error('this machine has no vector instructions');
    const lanes = new Lanes(compressor, new Room(), 1800);
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 4 }), lead, (messages, bytes) => {
        const beginning = new Beginning(compressor, bytes);
        messages.forEach(([begin, ...texts], lane) => {
          const [one, two, three] = texts.map(byteText) as [ByteText, ByteText, ByteText];
          beginning.set(byteText(begin));
          expect(lanes.hasRoomFor(one.length + two.length + three.length)).toBe(true);
          lanes.put(lane, beginning, one, two, three);
        });
        const digests = lanes.digest(messages.length);
        messages.forEach((texts, lane) => {
          const whole = Buffer.concat([bytes, Buffer.from(texts.join(''))]);
          expect(hexOf(digests, lane, compressor)).toBe(hash(algorithm, whole, 'hex'));
        });
      }),
      { numRuns: 150 },
    );
  },
);
