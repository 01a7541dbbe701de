/**
 * What a text is for. `id`: an authorization code, a user, or a setting such as the channel.
 * `name`: a key, a column or the name of information. `value`: any other value of a user. `secret`:
 * an app secret.
 */
export type TextUse = 'id' | 'name' | 'value' | 'secret';

/** A reason to ask whether a text is meant. The contract allows the text: it is sent as it is. */
interface Doubt {
  readonly concerns: readonly TextUse[];
  /**
   * `special`: the names with a special meaning (§4.1, §4.2 rule 4), one of which a name may be
   * meant to be, and no ID.
   */
  readonly test: (text: string, special: readonly string[]) => boolean;
  /** What follows the name of the text in a message. */
  readonly sentence: string | ((text: string, special: readonly string[]) => string);
}

const all: readonly TextUse[] = ['id', 'name', 'value', 'secret'];

/** Characters that no screen shows, and spaces that look like the usual one. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]|(?! )\p{Zs}/u;
/**
 * The same without what belongs into text: line breaks, and what joins letters or the parts of an
 * emoji.
 */
const invisibleInText = /(?![\t\n\r\u{e0020}-\u{e007f}]|\u200c|\u200d)[\p{Cc}\p{Cf}\u00a0]/u;
const quotes = /^(?:(["'`]).*\1|[“”„].*[“”]|[‘’‚].*[‘’]|「.*」|『.*』|«.*»)$/s;
const placeholder = /^(?:\$\{[^{}]*\}|\{\{[^{}]*\}\}|undefined|\[object Object\])$/;
const noValue = /^(?:null|none|nil|nan|#?n\/a|\\n|\$[a-z_]\w*|%[a-z_]\w*%|<[a-z][\w -]*>)$/i;
const cellOfText = /^="[^"]*"$/;
const shortenedNumber = /^\d\.\d+E\+\d+$/;

const doubts: readonly Doubt[] = [
  {
    concerns: all,
    test: (text) => text !== text.trim(),
    sentence: 'has white space around it',
  },
  {
    concerns: ['id', 'name', 'secret'],
    test: (text) => invisible.test(text.trim()),
    sentence: (text) => `has an invisible character (${codePoint(invisible, text.trim())})`,
  },
  {
    concerns: ['value'],
    test: (text) => invisibleInText.test(text.trim()),
    sentence: (text) => `has an invisible character (${codePoint(invisibleInText, text.trim())})`,
  },
  {
    concerns: all,
    test: (text) => quotes.test(text.trim()),
    sentence: 'is in quotes',
  },
  {
    concerns: all,
    test: (text) => placeholder.test(text.trim()),
    sentence: 'is a placeholder that nothing filled in',
  },
  {
    concerns: ['id', 'secret'],
    test: (text) => noValue.test(text.trim()),
    sentence: 'stands for a missing value',
  },
  {
    concerns: all,
    test: (text) => text.includes('\ufffd'),
    sentence: 'has U+FFFD, which stands for text in another encoding',
  },
  {
    concerns: ['id', 'value'],
    test: (text) => isShortenedNumber(text.trim()),
    sentence: 'is a number that a spreadsheet shortened',
  },
  {
    concerns: ['id', 'value'],
    test: (text) => cellOfText.test(text.trim()),
    sentence: 'is the formula by which a spreadsheet keeps text',
  },
  {
    concerns: ['id'],
    test: (text, special) => special.includes(text),
    sentence: 'is the name of information or of a column',
  },
  {
    concerns: ['name'],
    test: (name, special) => nearSpecialName(name, special) !== undefined,
    sentence: (name, special) =>
      `is almost "${nearSpecialName(name, special)}", which has a special meaning`,
  },
];

/**
 * Matches most cells of a file in one test: text that can raise no doubt but that of a missing
 * value.
 */
const plain = /^[\w.@:/\u3040-\u30ff\u4e00-\u9fff-]+$/;
const missingValueWord = /^(?:undefined|null|none|nil|nan|n\/a)$/i;

/**
 * The doubts about a text, in words that follow its name; none about an empty one. `special`: the
 * names with a special meaning.
 */
export function doubtsAbout(text: string, use: TextUse, special: readonly string[] = []): string[] {
  if (text === '' || (use !== 'name' && isPlain(text, special))) return [];
  return doubts
    .filter(({ concerns, test }) => concerns.includes(use) && test(text, special))
    .map(({ sentence }) => {
      if (typeof sentence === 'string') return sentence;
      return sentence(text, special);
    });
}

function isPlain(text: string, special: readonly string[]): boolean {
  return plain.test(text) && !missingValueWord.test(text) && !special.includes(text);
}

/**
 * The doubts about an app secret, the most common cause of a wrong signature; none of them repeats
 * it.
 */
export function secretDoubts(secret: { reveal(): string }, appKey?: string): string[] {
  const text = secret.reveal();
  if (text === appKey) return ['the app secret is the app key'];
  return doubtsAbout(text, 'secret').map((doubt) => `the app secret ${doubt}`);
}

/** Whether a text is a number as a spreadsheet shortens it, such as `1.38E+10`. No ID looks so. */
export function isShortenedNumber(text: string): boolean {
  return shortenedNumber.test(text);
}

function codePoint(pattern: RegExp, text: string): string {
  const [character = ''] = pattern.exec(text) ?? [];
  return `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The special name that a name is, but for letter case, `-` for `_`, and a slip. */
function nearSpecialName(text: string, special: readonly string[]): string | undefined {
  if (special.includes(text)) return undefined;
  const written = text.trim().toLowerCase().replaceAll('-', '_');
  // Many names of three letters are a slip away from each other.
  return special.find((name) => written === name || (name.length > 3 && isSlip(written, name)));
}

/** Whether two names differ by at most one letter, or by two letters that are swapped. */
function isSlip(first: string, second: string): boolean {
  let start = 0;
  while (start < first.length && first[start] === second[start]) start += 1;
  let firstEnd = first.length;
  let secondEnd = second.length;
  while (firstEnd > start && secondEnd > start && first[firstEnd - 1] === second[secondEnd - 1]) {
    firstEnd -= 1;
    secondEnd -= 1;
  }
  // What is left between the same beginning and the same end.
  const left = first.slice(start, firstEnd);
  const right = second.slice(start, secondEnd);
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && right === `${left[1]}${left[0]}`;
}
