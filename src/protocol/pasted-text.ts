import { memoize } from '../support/memoize.js';
import { decodePercent } from '../support/percent-encoding.js';
import { spaceAround } from './unsafe-text.js';

/**
 * Where a text from a person goes: `code`: an authorization code. `user`: it names a user. `name`: a key or a column.
 * `info`: the name of information. `setting`: a tenant, a channel, an app key. `secret`: an app secret. `special`: the
 * value of a key with a special meaning (§4.2 rule 4), `mobile` one of digits alone. `pair`: another value, as an
 * argument. `cell`: another value in a file.
 */
export type PastedKind =
  | 'code'
  | 'user'
  | 'name'
  | 'info'
  | 'setting'
  | 'secret'
  | 'special'
  | 'mobile'
  | 'pair'
  | 'cell';

/** A likely mistake in a text. */
export interface PasteFault {
  /** What follows the name of the text, such as "has a space after it". */
  readonly what: string;
  /** The text without what was not meant, with U+0000 where another argument begins; `null` if it cannot be known. */
  readonly meant: string | null;
  /** Whether it may well be meant: a warning is enough. */
  readonly isDoubt: boolean;
  /** What to do instead of correcting the text alone. */
  readonly hint: string | undefined;
}

type Rule = readonly [
  /** The kinds that it judges; one with `?` is warned of. */
  kinds: string,
  find: RegExp | ((text: string) => string | null),
  /** What follows the name of the text; `null`: what `find` returns. */
  what?: string | null,
  /** The text without it, or what takes the place of what was found; without it, the text cannot be restored. */
  restore?: string | null | ((text: string, found: RegExpExecArray) => string | null),
  hint?: string,
];

const exact = 'code user name info setting special mobile';
const all = `${exact} secret pair? cell?`;
const names = 'code user name info setting';

/** Characters that no screen shows, and the spaces that look like the usual one. */
const invisible = /(?!\0)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]|(?! )\p{Zs}/gu;
/** Of these, what belongs into text of some languages or between the parts of an emoji is left out. */
const invisibleInText = /(?![\0\t\n\r\u{e0020}-\u{e007f}]|\u200c|\u200d)[\p{Cc}\p{Cf}\u00a0]/u;

const namesOfInvisible = (pattern: RegExp) => (text: string) => {
  const [found] = text.match(pattern) ?? [];
  const code = found?.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  return code === undefined ? null : `has an invisible character (U+${code})`;
};

const inner = (text: string) => text.slice(1, -1);

/** Texts that templates, spreadsheets, databases, shells and programs write for a missing value. */
const noValue =
  /^(?:undefined|null|NULL|None|nil|NaN|nan|N\/A|n\/a|#N\/A|#{3,}|#REF!|#VALUE!|#NAME\?|#DIV\/0!|\\N|\(null\)|\[object Object\]|\{\{[^{}]*\}\}|\$\{[^{}]*\}|\$(?:env:)?[A-Za-z_]\w*|\$\([^()]*\)|%[A-Za-z_]\w*%|<[A-Za-z_][\w -]*>)$/;

/** A number as Excel shows it from 12 digits on, and one with the `.0` of a column of floating-point numbers. */
const shortened = /^-?\d(?:[.,]\d+)?E\+\d{2}$/;
const damaged = /^-?\d(?:[.,]\d+)?E\+?\d+$|^\d+\.0+$/i;
const damagedNumber = [
  'is a number that a spreadsheet damaged, like 1.38E+10 or 138.0',
  null,
  'Give all of its digits: format the column as text.',
] as const;

/** A text with its name before it, as JSON, YAML, a query and a form write it. */
const behindName = (names: string) =>
  new RegExp(`^["'“]?(?:${names})["'”]?\\s{0,9}[:=：＝]\\s{0,9}(?=\\S)`, 'i');
/** A word that looks like a code: long, and with a digit. */
const codeWord = /[\w-]{12,}/g;

const nameBefore = ['begins with its name', ''] as const;

/** Digits of Arabic and Persian; with the letters of Cyrillic and Greek that look like Latin ones. */
const digits = '٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹';
const alike = `${digits}аеорсухіјѕοАВЕКМНОРСТУХІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧ`;
const latin = '01234567890123456789aeopcyxijsoABEKMHOPCTYXIJSABEZHIKMNOPTYX';

/** Also the number of a Chinese ID card (GB 11643) with 15 digits and zeros, which its check digit contradicts. */
function isDamaged(text: string): boolean {
  if (!/^\d{6}(?:19|20)\d\d[01]\d[0-3]\d\d000$/.test(text)) return damaged.test(text);
  return [...text].reduce((sum, digit) => (sum * 2 + Number(digit)) % 11, 0) !== 1;
}

/** In the order in which they are looked for. */
const rules: readonly Rule[] = [
  [all, spaceAround, null, (text) => text.trim()],
  // A mail breaks lines by =.
  [
    'code setting secret',
    /[\r\n\u2028\u2029]/,
    'has a line break inside',
    (text) => text.replace(/=?[\r\n\u2028\u2029]/g, ''),
  ],
  // Of two cells, it is not known which one was meant; names on two lines are two, or one that was broken.
  ['user name info special mobile', /[\r\n\u2028\u2029]/, 'has a line break inside'],
  [`${exact} secret`, /\t/, 'has a tab inside, as between two cells'],
  ['secret', /\0/, 'has a character U+0000, as text in UTF-16 has'],
  [`${exact} secret`, namesOfInvisible(invisible), null, (text) => text.replace(invisible, '')],
  ['pair? cell?', namesOfInvisible(invisibleInText)],
  [
    `${exact} secret`,
    /[\uff01-\uff5e]/,
    'has full-width characters',
    (text) => text.replace(/[\uff01-\uff5e]/g, (one) => String.fromCharCode(one.charCodeAt(0) - 0xfee0)),
  ],
  [
    `${exact} secret`,
    new RegExp(`^(?=.*[A-Za-z${digits}])[!-~${alike}]*[${alike}][!-~${alike}]*$`),
    'has letters or digits of another alphabet',
    (text) => [...text].map((one) => latin[alike.indexOf(one)] ?? one).join(''),
  ],
  ['pair? cell?', /^[\uff10-\uff19]+$/, 'is written in full-width digits'],
  [`${names} special mobile secret? pair`, /[,;]$/, 'has a delimiter after it', ''],
  [`${names} mobile`, /(?<=[^.])[.。，；、…]$/, 'ends with a punctuation mark', ''],
  [
    'code user name info setting mobile',
    /^(?:[$%#>❯»•*-]|PS [^>]{0,80}>|export) (?=\S)/,
    'begins with a prompt or a mark',
    '',
  ],
  [
    'code user name info setting mobile secret? pair?',
    /^(\*{1,2}|~~)(?=[^\s*~]).*[^\s*~]\1$/s,
    'is in marks of Markdown',
    (text) => text.replace(/[*~]/g, ''),
  ],
  ['user', /^@(?=\w)/, 'begins with "@"', ''],
  [
    `${exact} pair`,
    /^(["'])[^"']*\1\s{1,9}#/,
    'has a comment after it',
    (text) => text.slice(0, text.lastIndexOf('#')).trimEnd(),
  ],
  ['pair?', /\s#\s/, 'has a comment after it'],
  ['cell', /^=[A-Z]{2,}\(/, 'is a formula'],
  ['info', /^(?:all|everything|\*)$/i, 'is no name', null, 'Without names, everything is read.'],
  [all, /^(?:(["'`]).*\1|[“”„].*[“”]|[‘’‚].*[‘’]|「.*」|『.*』|«.*»)$/s, 'is in quotes', inner],
  [all, /^["'`](?!\d)[^"'`]*$|^["`]\d[^"'`]*$/, 'has a quote before it', (text) => text.slice(1)],
  [all, /^'(?=\d)/, 'has an apostrophe before it, as spreadsheets mark text', ''],
  [`${exact} secret pair cell`, /\ufffd/, 'has U+FFFD: it was read in another encoding'],
  [`${exact} secret pair cell`, noValue, 'stands for a missing value'],
  [all, /\*{3}|[•●]{3}/, 'is masked'],
  ['code user setting', /^([^\s()]+)\s?\([^()]*\)$/, 'has a remark in brackets', '$1'],
  ['code user info setting secret', /^[{[]/, 'is JSON', textsIn],
  [`${exact} secret?`, /^<.+>$/s, 'is in angle brackets', inner],
  [
    'code',
    /^(?:\S*[?&#]code=([^&#\s]+)|code=([^&#\s]+)&\S*)/i,
    'is a URL, with the code in its parameter "code"',
    (_, [, inUrl, inQuery]) => decodePercent(inUrl ?? inQuery ?? ''),
  ],
  [names, /^[a-z][\w+.-]*:\/\//i, 'is a URL'],
  ['code user setting', /^[^\0-\x7f]+(?:ID|code)?\s?[:=]\s*(?=\S)/i, ...nameBefore],
  ['user', behindName('(?:(?:union|user|open)[_ ]?)?id|uid|user'), ...nameBefore],
  ['setting', behindName('(?:tenant|channel)(?:[_ ]?code)?|app[_ ]?(?:key|id)'), ...nameBefore],
  ['mobile', behindName('mobile|phone|tel'), ...nameBefore],
  ['secret', /^(?:export\s+)?\w*(?:secret|key|token|password)(?:=[^=]|: ?\S)/i, 'begins with a name'],
  ['secret?', /^(?:export\s+)?[A-Za-z_]\w*(?:=[^=]|: ?\S)/, 'begins with a name'],
  ['secret?', /[^\0-\x7f]/, 'has letters that are not ASCII'],
  [
    'code',
    /^[A-Za-z_ -]{0,30}?(?:code|bearer|token)["']?(?:\s*[:=：＝]\s*|\s+)(?=\S+$)|^code(?=[\da-f]{16})/i,
    ...nameBefore,
  ],
  ['code', /^(?:(?:the|your|my)[_-])?(?:auth[_-]?)?code$/i, 'is a word for a code'],
  ['code', /%[\da-f]{2}/i, 'is percent-encoded', decodePercent],
  ['code', /^\S+ \S+$/, 'has a space inside', (text) => onlyCode(text) ?? text.replace(' ', '')],
  [
    'code',
    /[\s,;，；。、]/,
    'is more than one word',
    (text) => onlyCode(text) ?? text.split(/[\s,;，；。、]/)[0] ?? null,
  ],
  ['name?', /\s/, 'has a space inside'],
  ['setting', /[\s,;]/, 'has a space or a delimiter inside'],
  [
    'user',
    /^[A-Za-z_]\w*:?=(?!=*$)/,
    'is a pair',
    null,
    'Give the ID of the user after --union-id, then the pair.',
  ],
  ['user', /^\w+(?:[,;]\w+)+$/, 'has more than one user'],
  ['user mobile', (text) => (isDamaged(text) ? text : null), ...damagedNumber],
  ['code pair cell', shortened, ...damagedNumber],
  ['info', /^(?!\w+$)\w[\w;|\s、；]+\w$/, 'is more than one name', (text) => text.replace(/\W+/g, ',')],
  ['info', /[;|\s、；[\]{}"]|^-|^(?:data|basic_info|extension_info)\./, 'is not a name'],
  [
    'pair',
    /^[^\s,;&=]*[,;&]\s?[A-Za-z_]\w*:?=/,
    'has another pair',
    (text) => text.replace(/[,;&]\s?(?=[A-Za-z_]\w*:?=)/g, '\0'),
  ],
  [
    'pair special mobile',
    / --?(?:union-id|primary-key)\b/,
    'contains an option',
    (text) => text.replace(/ (?=--)|(?<=--[a-z-]{1,20})[ =]/g, '\0'),
  ],
  [
    'mobile',
    /^\+(?=\d[\d ().-]*$)/,
    'begins with a dialling code, which has a key of its own',
    (text) => /^\+86(1\d{10})$/.exec(bareDigits(text))?.[1] ?? null,
  ],
  [
    'mobile',
    /\D/,
    'is not digits alone',
    (text) => (/^\d+$/.test(bareDigits(text)) ? bareDigits(text) : null),
  ],
  ['pair', /^=+\s*/, 'begins with "="', '', 'Write key=text for text, key:=28 for JSON.'],
];

/** The rules that judge a kind, and whether each only warns of it. */
const rulesFor = memoize((kind: PastedKind) =>
  rules.flatMap((rule) => {
    const [given] = rule[0].split(' ').filter((one) => one.replace('?', '') === kind);
    return given === undefined ? [] : [[rule, given !== kind] as const];
  }),
);

/** Texts in which no rule finds anything but a missing value or a damaged number: most cells, in one look. */
const plain: Readonly<Partial<Record<PastedKind, RegExp>>> = {
  cell: /^[\w.@:/+\u3040-\u30ff\u4e00-\u9fff-]+$/,
  user: /^[\w-]+$/,
  name: /^[\w-]+$/,
  special: /^[\w-]+$/,
  mobile: /^\d+$/,
};

/** What a rule finds in a text, and the text without it; `null` if it finds nothing. */
function judge([, find, what, restore]: Rule, text: string): { what: string; rest: string | null } | null {
  const found = typeof find === 'function' ? find(text) : find.exec(text);
  if (found === null) return null;
  const words = what ?? String(found);
  if (typeof restore === 'string') return { what: words, rest: text.replace(find as RegExp, restore) };
  return { what: words, rest: restore?.(text, found as RegExpExecArray) ?? null };
}

/** Finds a likely mistake in a text; `null` if nothing is suspicious. An empty text is not judged. */
export function pasteFault(text: string, kind: PastedKind): PasteFault | null {
  if (text === '' || (plain[kind]?.test(text) && !noValue.test(text) && !isDamaged(text))) return null;
  let fault: Omit<PasteFault, 'meant'> | undefined;
  let meant: string | null = text;
  // What is found below quotes or a space may be within quotes again.
  for (let layer = 0; layer < 4 && meant !== null; layer += 1) {
    const before: string = meant;
    for (const [rule, isDoubt] of rulesFor(kind)) {
      const found: ReturnType<typeof judge> = meant === null ? null : judge(rule, meant);
      if (found === null) continue;
      if (fault === undefined || (fault.isDoubt && !isDoubt))
        fault = { what: found.what, isDoubt, hint: rule[4] };
      meant = found.rest;
    }
    if (meant === before) break;
    if (layer === 3) meant = null;
  }
  return fault === undefined ? null : { ...fault, meant: meant === '' ? null : meant };
}

/** The value of a member in JSON that names what is looked for; else its texts, as a list of names. */
function textsIn(json: string): string | null {
  const [, value] = /"\w{0,20}(?:code|_id|Id|key|channel|names?)"\s*:\s*"([^"\\]+)"/.exec(json) ?? [];
  if (value !== undefined || json.includes(':')) return value ?? null;
  return [...json.matchAll(/"([^"\\]+)"/g)].map(([, text]) => text).join(',') || null;
}

/** The one word in a text that looks like a code. */
function onlyCode(text: string): string | null {
  const found = (text.match(codeWord) ?? []).filter((word) => /\d/.test(word));
  return found.length === 1 ? (found[0] ?? null) : null;
}

/** A mobile number without what is written between its digits. */
function bareDigits(text: string): string {
  return text.replace(/[ ().-]/g, '');
}
