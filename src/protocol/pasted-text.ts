import { spaceAround } from './unsafe-text.js';

/**
 * Where a text from a person goes. `identifier`: it names somebody, or is a key: a user ID, the value of a key that
 * identifies, a tenant, a channel, a name of a column. `special`: a value of a key with a special meaning (§4.2 rule
 * 4), `mobile` one of them, of digits alone. `value`: any other value, in which a typographic space or a quotation may
 * well be meant.
 */
export type PastedKind = 'identifier' | 'special' | 'mobile' | 'value';

/** A likely mistake in a text. */
export interface PasteFault {
  /** What follows the name of the text, such as "has a space after it". */
  readonly what: string;
  /** The text without what was not meant; `null` if it cannot be known. */
  readonly meant: string | null;
}

interface Rule {
  readonly kinds: readonly PastedKind[];
  /** What follows the name of the text; `null` if nothing is wrong. */
  find(text: string): string | null;
  /** The text without it; `null`, or no function, where the text cannot be restored. */
  restore?(text: string): string | null;
}

const all: readonly PastedKind[] = ['identifier', 'special', 'mobile', 'value'];
const exact: readonly PastedKind[] = ['identifier', 'special', 'mobile'];

/** Characters that no screen shows, and the spaces that look like the usual one. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]|(?! )\p{Zs}/u;
/** Of these, what belongs into text of some languages or between the parts of an emoji is left out. */
const invisibleInText = /(?![\t\n\r\u{e0020}-\u{e007f}]|\u200c|\u200d)[\p{Cc}\p{Cf}\u00a0]/u;
const everyInvisible = new RegExp(invisible, 'gu');

const namesOfInvisible = (pattern: RegExp) => (text: string) => {
  const [found] = pattern.exec(text) ?? [];
  const code = found?.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  return code === undefined ? null : `has an invisible character (U+${code})`;
};

const fullWidth = /[\uff01-\uff5e]/g;
const quoted = /^(?:(["'`]).*\1|[“”„].*[“”]|[‘’‚].*[‘’]|「.*」|『.*』|«.*»)$/s;
/** What quotes of another shell leave. */
const halfQuoted = /^["'`](?!\d)[^"'`]*$|^["`]\d[^"'`]*$/;
/** Texts that templates, spreadsheets, databases and programs write for a missing value. */
const noValue =
  /^(?:undefined|null|NULL|None|nil|NaN|nan|N\/A|n\/a|#N\/A|#REF!|#VALUE!|#NAME\?|#DIV\/0!|\\N|\(null\)|\[object Object\]|\{\{[^{}]*\}\}|\$\{[^{}]*\}|\$[A-Za-z_]\w*|%[A-Za-z_]\w*%|<[A-Za-z_][\w -]*>)$/;

/** A user ID with its name before it. */
const named = /^(?:union|user)_?id\s{0,9}[:=]\s{0,9}(?=\S)/i;

/** In the order in which they are looked for. */
const rules: readonly Rule[] = [
  {
    kinds: all,
    find: (text) => (spaceAround(text) === null ? null : `has ${spaceAround(text)}`),
    restore: (text) => text.trim(),
  },
  {
    kinds: exact,
    find: (text) => (/[\r\n\u2028\u2029]/.test(text) ? 'has a line break inside' : null),
    restore: (text) => text.replace(/[\r\n\u2028\u2029]+/g, ''),
  },
  {
    kinds: exact,
    find: namesOfInvisible(invisible),
    restore: (text) => text.replace(everyInvisible, ''),
  },
  { kinds: ['value'], find: namesOfInvisible(invisibleInText) },
  {
    kinds: exact,
    find: (text) => (text.search(fullWidth) >= 0 ? 'has full-width characters' : null),
    restore: (text) =>
      text.replace(fullWidth, (character) => String.fromCharCode(character.charCodeAt(0) - 0xfee0)),
  },
  {
    kinds: ['value'],
    find: (text) => (/^[\uff10-\uff19]+$/.test(text) ? 'is written in full-width digits' : null),
  },
  {
    kinds: all,
    find: (text) => (text.length > 1 && quoted.test(text) ? 'is in quotes' : null),
    restore: (text) => text.slice(1, -1),
  },
  {
    kinds: all,
    find: (text) => (halfQuoted.test(text) ? 'has a quote before it' : null),
    restore: (text) => text.slice(1),
  },
  {
    kinds: all,
    find: (text) => (/^'\d/.test(text) ? 'has an apostrophe before it, as spreadsheets mark text' : null),
    restore: (text) => text.slice(1),
  },
  {
    kinds: all,
    find: (text) => (text.includes('\ufffd') ? 'has U+FFFD: it was read in another encoding' : null),
  },
  { kinds: all, find: (text) => (noValue.test(text) ? 'stands for a missing value' : null) },
  { kinds: exact, find: (text) => (/\*{3}|[•●]{3}/.test(text) ? 'is masked' : null) },
  {
    kinds: exact,
    find: (text) => (/^<.+>$/s.test(text) ? 'is in angle brackets' : null),
    restore: (text) => text.slice(1, -1),
  },
  {
    kinds: ['identifier'],
    find: (text) => (named.test(text) ? 'begins with the name of the parameter' : null),
    restore: (text) => text.replace(named, ''),
  },
  {
    kinds: ['mobile'],
    find: (text) => (/^\+?[\d ().-]+$/.test(text) && /\D/.test(text.slice(1)) ? 'is not digits alone' : null),
    restore: (text) => text.replace(/[ ().-]/g, ''),
  },
  {
    kinds: ['mobile'],
    find: (text) => (/^\+\d/.test(text) ? 'begins with a dialling code, which has a key of its own' : null),
    restore: (text) => /^\+86(1\d{10})$/.exec(text)?.[1] ?? null,
  },
];

/** A text in which no rule finds anything but a missing value. The common case, in one look. */
const plain = /^[\w.@:/+\u3040-\u30ff\u4e00-\u9fff-]+$/;

/** Whether a text is what templates, spreadsheets, databases and programs write for a missing value. */
export const isNoValue = (text: string): boolean => noValue.test(text);

/** Finds a likely mistake in a text; `null` if nothing is suspicious. An empty text is not checked. */
export function pasteFault(text: string, kind: PastedKind): PasteFault | null {
  const isPlain = kind === 'mobile' ? /^\w+$/ : plain;
  if (text === '' || (isPlain.test(text) && !noValue.test(text) && !named.test(text))) return null;
  let what: string | null = null;
  let meant: string | null = text;
  // What is found below quotes or a space may be within quotes again.
  for (let layer = 0; layer < 4 && meant !== null; layer += 1) {
    const before: string = meant;
    for (const { kinds, find, restore } of rules) {
      const found: string | null = meant !== null && kinds.includes(kind) ? find(meant) : null;
      if (found === null) continue;
      what ??= found;
      meant = restore?.(meant ?? '') ?? null;
    }
    if (meant === before) break;
    if (layer === 3) meant = null;
  }
  if (what === null) return null;
  return { what, meant: meant === '' ? null : meant };
}

/**
 * The same for an authorization code, which holds neither white space nor a delimiter: also a URL, JSON, or a name
 * before it.
 */
export function codeFault(text: string): PasteFault | null {
  const fault = pasteFault(text, 'identifier');
  const bare = fault === null ? text : fault.meant;
  if (bare === null) return fault;
  const within = codeWithin(bare);
  return within ?? fault;
}

function codeWithin(text: string): PasteFault | null {
  const [, inUrl] = /^[a-z][\w+.-]*:\/\/\S*?[?&#]code=([^&#\s]+)/i.exec(text) ?? [];
  if (inUrl !== undefined)
    return { what: 'is a URL, with the code in its parameter "code"', meant: decoded(inUrl) };
  if (/^[a-z][\w+.-]*:\/\//i.test(text)) return { what: 'is a URL', meant: null };
  if (/^[{[]/.test(text)) {
    const [, inJson] = /"code"\s*:\s*"([^"\\]+)"/.exec(text) ?? [];
    return { what: 'is JSON', meant: inJson ?? null };
  }
  const [, name, value] = /^([A-Za-z_ -]{1,30}?)(?:\s*[:=]\s*|\s+)(\S+)$/.exec(text) ?? [];
  if (name !== undefined && value !== undefined && /(?:code|bearer|token)$/i.test(name))
    return {
      what: `begins with ${JSON.stringify(text.slice(0, text.length - value.length).trim())}`,
      meant: pasteFault(value, 'identifier')?.meant ?? value,
    };
  if (/%[\da-f]{2}/i.test(text)) {
    const plainText = decoded(text);
    return { what: 'is percent-encoded', meant: codeWithin(plainText)?.meant ?? plainText };
  }
  if (/[^.][.]$/.test(text)) return { what: 'ends with a full stop', meant: text.slice(0, -1) };
  if (/[\s,;，；。、]/.test(text)) {
    const [first = ''] = text.split(/[\s,;，；。、]/);
    const isBroken = /^\S+ \S+$/.test(text);
    return {
      what: isBroken ? 'has a space inside' : 'is more than one word',
      meant: isBroken ? text.replace(' ', '') : first,
    };
  }
  return null;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
