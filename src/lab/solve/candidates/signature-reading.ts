import {
  type Algorithm,
  algorithmFacts,
  algorithms,
  type Output,
  writtenLength,
} from '../../../core/signing/digest-algorithms.js';
import type { SignableRequest } from '../../../core/signing/request.js';
import type { SolveTask } from '../tasks.js';
import type { Weighted } from './cost.js';
import { bracedToken, literal, modifierNamed } from './pieces.js';

/** One interpretation of a signature: its digest algorithm and its format. */
export interface SignatureReading extends Weighted {
  readonly algorithm: Algorithm;
  /** The digest, or the part of it that is left, in lower-case hex. */
  readonly digest: string;
  /** The part of the whole digest that is left; null for all of it. */
  readonly cut: readonly [from: number, to: number] | null;
  readonly output: Output;
  /** Steps after the digest, such as `slice:8:24` or `append:,$param:timestamp`. */
  readonly after: readonly string[];
}

/** The shortest digest that cannot match by chance, in hex digits. */
const shortestHex = 16;

/**
 * Every interpretation of a signature by its length and alphabet; none where no recipe can write
 * such a text.
 */
export function readSignature({
  signature,
  request,
  secret,
}: Omit<SolveTask, 'otherParams'>): SignatureReading[] {
  const whole = [...readDigest(signature), ...readPadded(signature), ...readUnpadded(signature)];
  if (whole.length > 0) return whole;
  // The text around a digest is sent, so it cannot hold the secret, and a recipe must not either.
  const hidden = literal(secret.reveal()).tokens.join('');
  return readAmid(signature, request).filter(
    ({ after }) => !after.some((step) => step.includes(hidden)),
  );
}

/**
 * Digests with text around them: hex amid other text (`d5bc…,1453014943466`), and base64 behind a
 * label (`KEY:…`).
 */
const shapesAmid = [
  /^(.*?)(?<![\da-z])([\da-f]{128}|[\da-f]{64}|[\da-f]{40}|[\da-f]{32})(?![\da-z])(.*)$/is,
  /^(.*[=: ,.])([\w+/-]{22,}={0,2})$/s,
];

function readAmid(signature: string, request: SignableRequest): SignatureReading[] {
  return shapesAmid.flatMap((shape) => {
    const [, before = '', digest = '', after = ''] = shape.exec(signature) ?? [];
    const around = [
      ...(before === '' ? [] : [`prepend:${asTemplate(before, request)}`]),
      ...(after === '' ? [] : [`append:${asTemplate(after, request)}`]),
    ];
    return [...readDigest(digest), ...readPadded(digest)].map((reading) => ({
      ...reading,
      after: [...reading.after, ...around],
      bits: reading.bits + 4,
    }));
  });
}

/**
 * base64url with the padding of base64, which a recipe appends. A digest without - and _ is
 * likelier base64.
 */
function readPadded(text: string): SignatureReading[] {
  const [, digest = '', padding = ''] = /^([\w-]+)(={1,2})$/.exec(text) ?? [];
  if (padding === '' || text.length % 4 !== 0) return [];
  const bits = /[-_]/.test(digest) ? 1 : 6;
  return readAs('base64url', digest).map((reading) => ({
    ...reading,
    after: [`append:${padding}`],
    bits,
  }));
}

/** Base64 without its padding. */
function readUnpadded(text: string): SignatureReading[] {
  if (!/[+/]/.test(text) || text.length % 4 === 0) return [];
  const whole = readAs('base64', text.padEnd(Math.ceil(text.length / 4) * 4, '='));
  return whole.map((reading) => ({ ...reading, after: [`slice:0:${text.length}`], bits: 1 }));
}

/**
 * The text with the values of parameters and headers, and the days of times, replaced by tokens,
 * where they are too long to occur by accident.
 */
function asTemplate(text: string, request: SignableRequest): string {
  const { params, extra } = request;
  const values = [
    ...params.map((param) => ['param', ...param] as const),
    ...Object.entries(extra).map((value) => ['extra', ...value] as const),
  ].filter(([, name]) => name !== '' && !/[{}]/.test(name));
  const known = values.flatMap(([source, name, value]) => {
    const token = bracedToken(source, name);
    const day = modifierNamed('date')(value);
    return [
      [token, value] as const,
      ...(/^20\d{6}$/.test(day) ? [[`${token}.date`, day] as const] : []),
    ];
  });
  const longest = known.sort(([, one], [, other]) => other.length - one.length);
  const found = longest.find(([, value]) => value.length >= 4 && text.includes(value));
  if (found === undefined) return literal(text).tokens.join('');
  const [token, value] = found;
  return text
    .split(value)
    .map((part) => asTemplate(part, request))
    .join(token);
}

/** A digest, or a part of one; only a whole one is written in base64. */
function readDigest(text: string): SignatureReading[] {
  const hex = [...readAs('hex', text), ...readAs('HEX', text)];
  return hex.length > 0
    ? hex
    : (['base64', 'base64url', 'base64-of-hex'] as const).flatMap((output) => readAs(output, text));
}

function readAs(output: Output, text: string): SignatureReading[] {
  const digest = decoders[output](text) ?? '';
  return algorithms.flatMap((algorithm) =>
    cutsOf(digest.length, writtenLength(algorithm, 'hex'), algorithm)
      .filter(({ cut }) => cut === null || /^hex$/i.test(output))
      .map(({ cut, bits }) => ({
        algorithm,
        digest,
        cut,
        output,
        after: cut === null ? [] : [`slice:${cut[0]}:${cut[1]}`],
        bits,
      })),
  );
}

/** The digest in lower-case hex; undefined for a text in another format. */
const decoders: Readonly<Record<Output, (text: string) => string | undefined>> = {
  hex: (text) => (/^[\da-f]+$/.test(text) ? text : undefined),
  HEX: (text) => (/^[\dA-F]+$/.test(text) ? text.toLowerCase() : undefined),
  base64: (text) => decodeBase64(text, 'base64')?.toString('hex'),
  base64url: (text) => decodeBase64(text, 'base64url')?.toString('hex'),
  'base64-of-hex': (text) => decoders.hex(decodeBase64(text, 'base64')?.toString('latin1') ?? ''),
};

function decodeBase64(text: string, encoding: 'base64' | 'base64url'): Buffer | undefined {
  const bytes = Buffer.from(text, encoding);
  return bytes.toString(encoding) === text ? bytes : undefined;
}

type Cut = Pick<SignatureReading, 'cut' | 'bits'>;

/** All of a digest, or the beginning, middle or end of a longer one. */
function cutsOf(length: number, whole: number, algorithm: Algorithm): Cut[] {
  if (length === whole) return [{ cut: null, bits: 0 }];
  if (length > whole || length < shortestHex) return [];
  const { cutBits: rare } = algorithmFacts[algorithm];
  const middle = (whole - length) / 2;
  const cuts: Cut[] = [
    { cut: [0, length], bits: rare + 1 },
    { cut: [whole - length, whole], bits: rare + 3 },
  ];
  if (Number.isInteger(middle)) cuts.push({ cut: [middle, middle + length], bits: rare + 1 });
  return cuts;
}
