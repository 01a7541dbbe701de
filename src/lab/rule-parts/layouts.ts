import type { SignatureName } from '../../core/signing/app-signatures.js';
import { memoize } from '../../core/support/memoize.js';
import { secretNames, type Writing } from './parameters.js';
import { byBits, type Choice, choices, type Rated } from './rarity.js';

/**
 * The text to sign around the parameters: entries of `message`, `$params` among them. Tokens and
 * literals alternate as they come; each is an entry of its own.
 */
export interface Layout extends Rated {
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly hasSecret: boolean;
}

/**
 * What is done to the parameters as a whole before they are put into the text: a modifier of
 * `$params`.
 */
export const blockChanges = choices<string>(
  [0, ''],
  [3.4, 'md5'],
  [8, 'MD5', 'upper', 'base64'],
  [9, 'lower', 'sha256', 'rfc3986', 'form'],
  [10, 'sha1', 'form-dotnet'],
);

/** The secret as it is signed. */
export const secretForms = choices<string>(
  [0.1, '$secret'],
  [2.6, '$secret.md5'],
  [7.5, '$secret.MD5'],
  [8.5, '$secret.sha256', '$secret.base64', '$secret.sha1'],
  [10, '$secret.upper', '$secret.lower'],
);

/** Texts between the secret and what it is glued to. */
const secretJoiners = choices<string>(
  [0.2, ''],
  [1.4, '&'],
  [2.2, ':', '|', ',', '\n'],
  [6, '-', '_', '.'],
  [9, '+', ' ', '#', ';', '@', '/', '='],
);

/** Texts between the parts of a message. */
export const partJoiners = choices<string>(
  [0.5, ''],
  [1, '&'],
  [1.2, '\n'],
  [5, '|', ':', ','],
  [9, '-', '_', ' ', '#', '.', ';', '+', '@'],
);

/** Other parts of the request, before the parameters and after them. */
interface Parts extends Rated {
  readonly front: readonly string[];
  readonly back: readonly string[];
}

function front(bits: number, ...tokens: string[]): Parts {
  return { front: tokens, back: [], bits };
}

function back(bits: number, ...tokens: string[]): Parts {
  return { front: [], back: tokens, bits };
}

function around(bits: number, before: readonly string[], after: readonly string[]): Parts {
  return { front: before, back: after, bits };
}

const noParts: Parts = { front: [], back: [], bits: 0.1 };

const parts: readonly Parts[] = [
  front(3, '$path'),
  front(3.1, '$endpoint'),
  front(3, '$url'),
  front(3.4, '$method'),
  front(3, '$method', '$path'),
  front(3.1, '$method', '$endpoint'),
  front(6, '$method', '$url'),
  front(7.5, '$method', '$host', '$path'),
  front(8, '$host', '$path'),
  front(9, '$host'),
  front(11, '$path', '$method'),
  front(8, '$param:app_key'),
  front(8, '$param:timestamp'),
  front(10, '$param:random'),
  front(10, '$param:tenant_code'),
  front(10, '$param:timestamp', '$param:random'),
  front(10, '$param:random', '$param:timestamp'),
  front(10, '$param:app_key', '$param:timestamp'),
  back(9, '$param:app_key'),
  back(8, '$param:timestamp'),
  back(10, '$param:random'),
  back(10, '$param:timestamp', '$param:random'),
  back(10, '$param:random', '$param:timestamp'),
  back(3.4, '$body'),
  back(3.6, '$body.md5'),
  back(8, '$body.MD5'),
  back(7, '$body.sha256'),
  back(7, '$param:user_info'),
  back(9, '$param:user_info.md5'),
  back(8, '$path'),
  back(8, '$endpoint'),
  back(8, '$method'),
  back(8, '$url'),
  around(7, ['$method', '$path'], ['$body']),
  around(7.2, ['$method', '$path'], ['$body.md5']),
  around(8.5, ['$method', '$path'], ['$body.sha256']),
  around(7.1, ['$method', '$endpoint'], ['$body']),
  around(7.3, ['$method', '$endpoint'], ['$body.md5']),
  around(8.6, ['$method', '$endpoint'], ['$body.sha256']),
  around(7.5, ['$path'], ['$body']),
  around(7.6, ['$endpoint'], ['$body']),
  around(8.5, ['$path'], ['$body.md5']),
  around(8, ['$url'], ['$body']),
  around(11, ['$param:app_key'], ['$param:timestamp']),
  around(11, ['$param:timestamp'], ['$param:timestamp']),
  around(10, ['$method', '$path', '$param:timestamp', '$param:random'], ['$body']),
];

/** `sign` may hold the other signature. */
const signParts: readonly Parts[] = [front(5, '$param:app_sign'), back(5, '$param:app_sign')];

/** The tokens of all parts, each with the bits of its most usual place. */
export const partTokens: readonly Choice<string>[] = distinctTokens([...parts, ...signParts]);

function distinctTokens(all: readonly Parts[]): Choice<string>[] {
  const tokens = new Set(all.flatMap(({ front, back }) => [...front, ...back]));
  return [...tokens].map((token) => {
    const withToken = all.filter(({ front, back }) => [...front, ...back].includes(token));
    return { value: token, bits: Math.min(...withToken.map(({ bits }) => bits)) };
  });
}

/**
 * How the parts are written: their tokens and literals before the parameters and after them.
 */
interface Surroundings extends Rated {
  readonly front: readonly string[];
  readonly back: readonly string[];
  /** The text between the parts. */
  readonly joiner: string;
}

/** How rare a `?` is between an address and the parameters, in bits. */
const bitsOfQuestionMark = 0.7;

function surroundingsOf({ front, back, bits }: Parts): Surroundings[] {
  if (front.length + back.length === 0) return [{ front, back, joiner: '', bits }];
  const last = front.at(-1) ?? '';
  const isAddress = ['$path', '$endpoint', '$url'].includes(last);
  return partJoiners.flatMap(({ value: joiner, bits: joinerBits }) => {
    const join = (tokens: readonly string[]) =>
      tokens.flatMap((token, index) => (index === 0 ? [token] : [joiner, token]));
    const written = (beforeParams: string, moreBits: number): Surroundings => ({
      front: front.length === 0 ? [] : [...join(front), beforeParams],
      back: back.length === 0 ? [] : [joiner, ...join(back)],
      joiner,
      bits: bits + joinerBits + moreBits,
    });
    const usual = written(joiner, 0);
    return isAddress ? [usual, written('?', bitsOfQuestionMark)] : [usual];
  });
}

/**
 * Bits beyond which a layout is not tried, and one that names the secret together with its writing.
 */
const maxBits = 12;
const maxNamedBits = 12;

function layout(
  before: readonly string[],
  after: readonly string[],
  hasSecret: boolean,
  bits: number,
): Layout {
  const filled = (entries: readonly string[]) => entries.filter((entry) => entry !== '');
  return { before: filled(before), after: filled(after), hasSecret, bits };
}

/** How rare the places of the secret are, in bits. */
const placeBits = {
  atEnd: 1,
  atStart: 1.6,
  atBothEnds: 1.9,
  afterParams: 3,
  beforeParams: 3,
  beforeParamsAndAtEnd: 3.3,
} as const;

/** The same of a pair that names the secret. */
const namedPlaceBits = { atEnd: 0.8, atStart: 4 } as const;

/** How rare it is that the secret has the same separator as the parts: less than another one. */
const bitsOfSameSeparator = 0.5;

/**
 * Where the secret stands: before, after or around, glued to the text or after a separator; or
 * nowhere.
 */
function* placedSecrets({ front, back, joiner, bits }: Surroundings): Generator<Layout> {
  yield layout(front, back, false, bits);
  const hasParts = front.length + back.length > 0;
  for (const { value: secret, bits: formBits } of secretForms) {
    for (const { value: separator, bits: joinerBits } of secretJoiners) {
      const separatorBits = hasParts && separator === joiner ? bitsOfSameSeparator : joinerBits;
      const base = bits + formBits + separatorBits;
      if (base + placeBits.atEnd > maxBits) continue;
      const atStart = [secret, separator, ...front];
      const atEnd = [...back, separator, secret];
      yield layout(front, atEnd, true, base + placeBits.atEnd);
      yield layout(atStart, back, true, base + placeBits.atStart);
      yield layout(atStart, atEnd, true, base + placeBits.atBothEnds);
      if (back.length > 0)
        yield layout(front, [separator, secret, ...back], true, base + placeBits.afterParams);
      if (front.length > 0) {
        const beforeParams = [...front, secret, separator];
        yield layout(beforeParams, back, true, base + placeBits.beforeParams);
        yield layout(beforeParams, atEnd, true, base + placeBits.beforeParamsAndAtEnd);
      }
    }
  }
}

/** How a pair is written that names the secret. */
interface PairStyle extends Rated {
  readonly kvSep: string;
  readonly pairSep: string;
}

/** The secret as a pair at the end or at the beginning. */
function* namedSecrets(
  { front, back, bits }: Surroundings,
  style: PairStyle,
  most: number,
): Generator<Layout> {
  const { kvSep, pairSep } = style;
  const { atEnd, atStart } = namedPlaceBits;
  for (const name of secretNames) {
    const named = bits + style.bits + name.bits;
    if (named + atEnd > most) break;
    for (const { value: secret, bits: formBits } of secretForms) {
      const base = named + formBits;
      if (base + atEnd > most) break;
      const nameText = `${name.value}${kvSep}`;
      yield layout(front, [...back, `${pairSep}${nameText}`, secret], true, base + atEnd);
      if (base + atStart > most) continue;
      yield layout([nameText, secret, pairSep, ...front], back, true, base + atStart);
    }
  }
}

/** The layouts of parameters in any writing, the most usual first. */
export const layoutsFor = memoize((signature: SignatureName): readonly Layout[] => {
  const layouts = surroundingsFor(signature).flatMap((surroundings) => [
    ...placedSecrets(surroundings),
  ]);
  return byBits(layouts.filter(({ bits }) => bits <= maxBits));
});

/** The layouts that name the secret, for parameters in this writing, the most usual first. */
export const namedLayoutsFor = memoize((signature: SignatureName) =>
  memoize((writing: Writing) => makeNamedLayouts(signature, writing)),
);

function makeNamedLayouts(signature: SignatureName, { rule, bits }: Writing): Layout[] {
  const { names, kvSep, pairSep } = rule;
  const styles: PairStyle[] = [];
  if (names) styles.push({ kvSep, pairSep, bits: 0 });
  // Whatever the parameters look like, the secret is often appended as `&key=…`.
  if (!names || kvSep !== '=' || pairSep !== '&')
    styles.push({ kvSep: '=', pairSep: '&', bits: 1.5 });
  const most = maxNamedBits - bits;
  const layouts: Layout[] = [];
  for (const style of styles)
    for (const surroundings of surroundingsFor(signature)) {
      if (surroundings.bits + style.bits > most) break;
      layouts.push(...namedSecrets(surroundings, style, most));
    }
  return byBits(layouts);
}

const surroundingsFor = memoize((signature: SignatureName): readonly Surroundings[] =>
  byBits([noParts, ...parts, ...(signature === 'sign' ? signParts : [])].flatMap(surroundingsOf)),
);

/**
 * What is done to the whole text, the secret included: a modifier of each token, and the literals
 * changed alike.
 */
export const messageChanges = choices<'' | 'upper' | 'lower' | 'rfc3986' | 'form'>(
  [0, ''],
  [8, 'upper'],
  [8.5, 'lower'],
  [10, 'rfc3986', 'form'],
);
