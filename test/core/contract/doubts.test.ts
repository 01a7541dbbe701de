import { describe, expect, it } from 'vitest';
import { doubtsAbout, secretDoubts, type TextUse } from '../../../src/core/contract/doubts.js';
import { specialUserInfoKeys } from '../../../src/core/contract/user-info.js';
import { Secret } from '../../../src/core/signing/secret.js';

const uses: readonly TextUse[] = ['id', 'name', 'value', 'secret'];
const special = Object.keys(specialUserInfoKeys);

const doubtful: readonly (readonly [text: string, sentence: string, uses: readonly TextUse[]])[] = [
  [' abc', 'has white space around it', uses],
  ['abc\u3000', 'has white space around it', uses],
  ['a\u200bc', 'has an invisible character (U+200B)', uses],
  ['a\u202ec', 'has an invisible character (U+202E)', uses],
  ['a\u00a0c', 'has an invisible character (U+00A0)', uses],
  ['a\tc', 'has an invisible character (U+0009)', ['id', 'name', 'secret']],
  ['a\nc', 'has an invisible character (U+000A)', ['id', 'name', 'secret']],
  ['a\u200dc', 'has an invisible character (U+200D)', ['id', 'name', 'secret']],
  ['"abc"', 'is in quotes', uses],
  ['“abc”', 'is in quotes', uses],
  ['「abc」', 'is in quotes', uses],
  [`\${name}`, 'is a placeholder that nothing filled in', uses],
  ['{{ user.id }}', 'is a placeholder that nothing filled in', uses],
  ['undefined', 'is a placeholder that nothing filled in', uses],
  ['null', 'stands for a missing value', ['id', 'secret']],
  ['None', 'stands for a missing value', ['id', 'secret']],
  ['#N/A', 'stands for a missing value', ['id', 'secret']],
  ['$CODE', 'stands for a missing value', ['id', 'secret']],
  ['<code>', 'stands for a missing value', ['id', 'secret']],
  ['a\ufffdc', 'has U+FFFD, which stands for text in another encoding', uses],
  ['="007"', 'is the formula by which a spreadsheet keeps text', ['id', 'value']],
  ['1.38E+10', 'is a number that a spreadsheet shortened', ['id', 'value']],
  ['moblie', 'is almost "mobile", which has a special meaning', ['name']],
  ['Mobile', 'is almost "mobile", which has a special meaning', ['name']],
  ['id-card', 'is almost "id_card", which has a special meaning', ['name']],
  ['mobile', 'is the name of information or of a column', ['id']],
];

describe('a text is doubtful', () => {
  it.each(doubtful)('%j: %s', (text, sentence, concerned) => {
    const found = uses.filter((use) => doubtsAbout(text, use, special).includes(sentence));
    expect(found).toEqual(concerned);
  });
});

it('all doubts about a text are found', () => {
  expect(doubtsAbout(' "a\u200bc" ', 'id')).toEqual([
    'has white space around it',
    'has an invisible character (U+200B)',
    'is in quotes',
  ]);
});

describe('a text is not doubtful', () => {
  it.each<[TextUse, readonly string[]]>([
    [
      'id',
      [
        '7e100200',
        '5E10',
        '1.0',
        '1e5',
        'acme(test)',
        'a,b',
        'user:1',
        'web.',
        '张三',
        'ａ１',
        '@x',
        '-p',
      ],
    ],
    ['name', ['acme_level', 'my_mobile', 'gps_x', 'mob', 'a b', '张三', 'mobile']],
    [
      'value',
      [
        'null',
        'None',
        'see you;',
        '<VIP>',
        '+8613800138000',
        'a\nb',
        '👨‍👩‍👧',
        'می‌خواهم',
        "it's",
        '',
      ],
    ],
    ['secret', ['YWJj==', 'shop=abc', 'abcé', 'a"b']],
  ])('as %s', (use, texts) => {
    expect(texts.flatMap((text) => doubtsAbout(text, use, special))).toEqual([]);
  });
});

it('an app secret is doubtful as any text, and if it is the app key', () => {
  expect(secretDoubts(new Secret('abc\n'))).toEqual(['the app secret has white space around it']);
  expect(secretDoubts(new Secret('k1'), 'k1')).toEqual(['the app secret is the app key']);
});
