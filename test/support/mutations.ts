import fc from 'fast-check';

/** A query or a form as it is on the wire: names and values encoded. */
export type WirePairs = (readonly [name: string, value: string])[];

/** Changes pairs in place; `pick` says which one, whatever their number. */
export type PairMutation = (pairs: WirePairs) => void;

/** Changes the bytes of a whole request. */
export type ByteMutation = (bytes: Uint8Array) => Uint8Array;

/** What finds its way into names and values of an attack, encoded as it is to be sent. */
const oddTexts = [
  '',
  '%00',
  'a%00b',
  '%',
  '%4',
  '%zz',
  '%c0%80', // U+0000, overlong
  '%c0%af', // a slash, overlong
  '%e0%80%af',
  '%f4%90%80%80', // past the last character
  '%ed%a0%80', // half of a surrogate pair
  '%ff%fe',
  '%ef%bb%bfx',
  '%0d%0aSet-Cookie:%20a=b',
  '%1b%5b2J',
  '%e2%80%ae', // turns the direction of writing
  '%F0%9F%98%80',
  '+++',
  '%2B',
  '%2526',
  ...'__proto__ constructor toString hasOwnProperty'.split(' '),
  "'%20OR%201=1%20--",
  '$%7B7*7%7D',
  '../../etc/passwd',
  ...'0 -1 1e999 99999999999999999999 NaN true'.split(' '),
  'x'.repeat(5000),
  '%41'.repeat(1000),
];
const oddText = fc.constantFrom(...oddTexts);

/** Names that are another's, or nearly. */
const nameSuffix = fc.constantFrom(
  ...'[] [0] [__proto__] . %00 %20 + %5B%5D ; %EF%BB%BF'.split(' '),
);
const knownName = fc.constantFrom(
  ...'tenant_code app_key app_sign channel code scope random timestamp sign info_name union_id primary_key user_info'.split(
    ' ',
  ),
);
const pick = fc.nat({ max: 1000 });

function change(
  pairs: WirePairs,
  picked: number,
  to: (pair: WirePairs[number]) => WirePairs,
): void {
  const index = picked % Math.max(1, pairs.length);
  const pair = pairs[index];
  if (pair !== undefined) pairs.splice(index, 1, ...to(pair));
}

export const pairMutation: fc.Arbitrary<PairMutation> = fc.oneof(
  fc.tuple(pick).map(
    ([at]): PairMutation =>
      (pairs) =>
        change(pairs, at, () => []),
  ),
  fc.tuple(pick).map(
    ([at]): PairMutation =>
      (pairs) =>
        change(pairs, at, (pair) => [pair, pair]),
  ),
  fc.tuple(pick, oddText).map(
    ([at, text]): PairMutation =>
      (pairs) =>
        change(pairs, at, (pair) => [pair, [pair[0], text]]),
  ),
  fc.tuple(pick, oddText).map(
    ([at, text]): PairMutation =>
      (pairs) =>
        change(pairs, at, ([name]) => [[name, text]]),
  ),
  fc.tuple(pick, oddText).map(
    ([at, text]): PairMutation =>
      (pairs) =>
        change(pairs, at, ([name, value]) => [[name, value + text]]),
  ),
  fc.tuple(pick, oddText).map(
    ([at, text]): PairMutation =>
      (pairs) =>
        change(pairs, at, ([, value]) => [[text, value]]),
  ),
  fc.tuple(pick, nameSuffix).map(
    ([at, end]): PairMutation =>
      (pairs) =>
        change(pairs, at, ([name, value]) => [[name + end, value]]),
  ),
  fc.tuple(pick).map(
    ([at]): PairMutation =>
      (pairs) =>
        change(pairs, at, ([name, value]) => [[name.toUpperCase(), value]]),
  ),
  fc.tuple(pick, knownName).map(
    ([at, other]): PairMutation =>
      (pairs) =>
        change(pairs, at, ([, value]) => [[other, value]]),
  ),
  fc.tuple(knownName, oddText).map(
    (pair): PairMutation =>
      (pairs) =>
        pairs.push(pair),
  ),
  fc.tuple(oddText, oddText).map(
    (pair): PairMutation =>
      (pairs) =>
        pairs.push(pair),
  ),
  fc.tuple(pick, pick).map(
    ([first, second]): PairMutation =>
      (pairs) => {
        const [a, b] = [pairs[first % pairs.length], pairs[second % pairs.length]];
        if (a === undefined || b === undefined) return;
        pairs[first % pairs.length] = [a[0], b[1]];
        pairs[second % pairs.length] = [b[0], a[1]];
      },
  ),
  fc.nat({ max: 1500 }).map(
    (count): PairMutation =>
      (pairs) => {
        for (let i = 0; i < count; i++) pairs.push([`n${i}`, '']);
      },
  ),
  fc.constant<PairMutation>((pairs) => pairs.reverse()),
);

/** Other ways to write the same text, and what looks like one. */
const encodingChange = fc.constantFrom<(text: string) => string>(
  (text) => text.replace(/%[0-9A-F]{2}/g, (found) => found.toLowerCase()),
  (text) => text.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  (text) => text.replaceAll('%20', '+'),
  (text) => text.replaceAll('%', '%25'),
  (text) =>
    text.replace(/%[0-9a-f]{2}/gi, (found) =>
      String.fromCharCode(Number.parseInt(found.slice(1), 16)),
    ),
  (text) => text.replace('%', ''),
  (text) => text.replaceAll('&', ';'),
  (text) => text.replaceAll('&', '&&'),
  (text) => text.replaceAll('=', '%3D'),
  (text) => text.replace('=', ''),
  (text) => text.replace('?', ''),
  (text) => text.replace('?', '%3F'),
  (text) => text.replace('&', '?'),
);

const oddBytes = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 8 }),
  fc
    .constantFrom(
      ...'\r\n|\n|\r|\0| |\t|\r\n\r\n|: |%|&|=|?|\xff|\x1b[2J|GET / HTTP/1.1\r\n'.split('|'),
    )
    .map((text) => Buffer.from(text, 'latin1')),
);

export const byteMutation: fc.Arbitrary<ByteMutation> = fc.oneof(
  fc.tuple(pick, oddBytes).map(([at, odd]): ByteMutation => splice(at, 0, odd)),
  fc.tuple(pick, oddBytes).map(([at, odd]): ByteMutation => splice(at, odd.length, odd)),
  fc
    .tuple(pick, fc.nat({ max: 40 }))
    .map(([at, count]): ByteMutation => splice(at, count, new Uint8Array())),
  fc.tuple(pick).map(
    ([at]): ByteMutation =>
      (bytes) =>
        bytes.subarray(0, Math.floor((bytes.length * at) / 1001)),
  ),
  fc.tuple(pick, pick).map(
    ([from, at]): ByteMutation =>
      (bytes) => {
        const start = Math.floor((bytes.length * from) / 1001);
        return splice(at, 0, bytes.subarray(start, start + 50))(bytes);
      },
  ),
  encodingChange.map(
    (rewrite): ByteMutation =>
      (bytes) =>
        Buffer.from(rewrite(Buffer.from(bytes).toString('latin1')), 'latin1'),
  ),
);

/** `at` is in thousandths of the length. */
function splice(at: number, remove: number, insert: Uint8Array): ByteMutation {
  return (bytes) => {
    const start = Math.floor((bytes.length * at) / 1001);
    return Buffer.concat([bytes.subarray(0, start), insert, bytes.subarray(start + remove)]);
  };
}
