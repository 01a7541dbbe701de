import { type Algorithm, algorithms, type Output, writtenLength } from '../../signing/digests.js';
import type { SignableRequest } from '../../signing/request.js';
import { bracedToken, literal } from './pieces.js';
import type { SolveTask } from './search-space.js';
import type { Weighted } from './weighted.js';

/** One interpretation of a signature: its digest algorithm and its format. */
export interface SignatureReading extends Weighted {
  readonly algorithm: Algorithm;
  /** The digest, or the part of it that is left, in lower-case hex. */
  readonly digest: string;
  /** Which part of the whole digest it is; null for all of it. */
  readonly cut: readonly [from: number, to: number] | null;
  readonly output: Output;
  /** Steps after the digest, such as `slice:8:24` or `append:,$param:timestamp`. */
  readonly after: readonly string[];
}

/** The shortest digest that cannot match by chance, in hex digits. */
const shortestHex = 16;

/** Every interpretation of a signature by its length and alphabet; none where no recipe can write such a text. */
export function readSignature({
  signature,
  request,
  secret,
}: Omit<SolveTask, 'otherParams'>): SignatureReading[] {
  const whole = readDigest(signature);
  if (whole.length > 0) return whole;
  const amid = readAmid(signature, request);
  // The text around a digest is sent, so it cannot hold the secret, and a recipe must not either.
  return amid.filter(({ after }) => !after.some((step) => step.includes(secret.reveal())));
}

/** A digest with text before or after it: `d5bc…,1453014943466`. */
function readAmid(signature: string, request: SignableRequest): SignatureReading[] {
  const [, before = '', digest, after = ''] =
    /^(.*?)(?<![\da-z])([\da-f]{128}|[\da-f]{64}|[\da-f]{40}|[\da-f]{32})(?![\da-z])(.*)$/is.exec(
      signature,
    ) ?? [];
  if (digest === undefined) return [];
  const around = [
    ...(before === '' ? [] : [`prepend:${asTemplate(before, request)}`]),
    ...(after === '' ? [] : [`append:${asTemplate(after, request)}`]),
  ];
  return readDigest(digest).map((reading) => ({
    ...reading,
    after: [...reading.after, ...around],
    bits: reading.bits + 4,
  }));
}

/** The text with parameter values replaced by tokens, where they are too long to occur by accident. */
function asTemplate(text: string, { params }: SignableRequest): string {
  const known = params.filter(([name, value]) => value.length >= 4 && name !== '' && !/[{}]/.test(name));
  const longest = known.sort((a, b) => b[1].length - a[1].length);
  const found = longest.find(([, value]) => text.includes(value));
  if (found === undefined) return literal(text).tokens.join('');
  const [name, value] = found;
  return text
    .split(value)
    .map((part) => literal(part).tokens.join(''))
    .join(bracedToken('param', name));
}

function readDigest(text: string): SignatureReading[] {
  if (/^[\da-f]+$/.test(text) || /^[\dA-F]+$/.test(text)) return readHex(text);
  return readBase64(text);
}

function readHex(text: string): SignatureReading[] {
  const digest = text.toLowerCase();
  const outputs: Output[] = [];
  if (text === digest) outputs.push('hex');
  if (text === text.toUpperCase()) outputs.push('HEX');
  return outputs.flatMap((output) =>
    algorithms.flatMap((algorithm) =>
      cutsOf(text.length, writtenLength(algorithm, output), algorithm).map(({ cut, bits }) => ({
        algorithm,
        digest,
        cut,
        output,
        after: cut === null ? [] : [`slice:${cut[0]}:${cut[1]}`],
        bits,
      })),
    ),
  );
}

interface Cut extends Weighted {
  readonly cut: readonly [from: number, to: number] | null;
}

/** All of a digest, or the beginning, middle or end of a longer one. */
function cutsOf(length: number, whole: number, algorithm: Algorithm): Cut[] {
  if (length === whole) return [{ cut: null, bits: 0 }];
  if (length > whole || length < shortestHex) return [];
  const rare = algorithm === 'md5' ? 0.5 : 6;
  const middle = (whole - length) / 2;
  const cuts: Cut[] = [
    { cut: [0, length], bits: rare + 1 },
    { cut: [whole - length, whole], bits: rare + 3 },
  ];
  if (Number.isInteger(middle)) cuts.push({ cut: [middle, middle + length], bits: rare + 1 });
  return cuts;
}

function readBase64(text: string): SignatureReading[] {
  const output = base64Output(text);
  if (output === null) return [];
  const bytes = Buffer.from(text, output);
  const readings: SignatureReading[] = [];
  for (const algorithm of algorithms) {
    if (
      text.length === writtenLength(algorithm, output) &&
      bytes.length * 2 === writtenLength(algorithm, 'hex')
    ) {
      readings.push({ algorithm, digest: bytes.toString('hex'), cut: null, output, after: [], bits: 0 });
    }
    const inner = bytes.toString('latin1');
    if (output === 'base64' && /^[\da-f]+$/.test(inner) && inner.length === writtenLength(algorithm, 'hex')) {
      readings.push({ algorithm, digest: inner, cut: null, output: 'base64-of-hex', after: [], bits: 0 });
    }
  }
  return readings;
}

function base64Output(text: string): 'base64' | 'base64url' | null {
  if (/^[\w-]+$/.test(text)) return text.length % 4 === 0 && !/[_-]/.test(text) ? 'base64' : 'base64url';
  return /^[A-Za-z\d+/]+={0,2}$/.test(text) ? 'base64' : null;
}
