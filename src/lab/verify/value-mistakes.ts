import { encoders, folds } from '../../core/signing/encodings.js';
import { decodePercent } from '../../core/support/percent-encoding.js';
import { jsonLayouts } from './json-layouts.js';
import { pasted } from './suspect.js';

/** A mistake in the text of a value; the name of the value stands at `NAME` in its sentences. */
export interface TextMistake {
  readonly id: string;
  readonly how: string;
  readonly advice: string;
  readonly change: (text: string) => string;
}

function textMistakes(
  id: string,
  advice: string,
  rows: readonly (readonly [how: string, change: TextMistake['change']])[],
): TextMistake[] {
  return rows.map(([how, change]) => ({ id, advice, how, change }));
}

/** Texts as people spoil them, by how often it happens. */
export const valueMistakes: readonly TextMistake[] = [
  ...textMistakes(
    'time-unit',
    'Sign and send NAME as the same text: Unix time in seconds, 10 digits.',
    [
      [
        'with NAME in milliseconds, and sent in seconds',
        (text) => (/^1\d{9}$/.test(text) ? `${text}000` : text),
      ],
      [
        'with NAME in seconds, and sent in milliseconds',
        (text) => (/^1\d{12}$/.test(text) ? text.slice(0, 10) : text),
      ],
    ],
  ),
  ...textMistakes(
    'plus',
    'Sign the text before it is encoded; send a + as %2B, and a space as %20.',
    [
      [
        'with + in NAME where the request, once decoded, has a space',
        (text) => text.replaceAll(' ', '+'),
      ],
      ['with a space in NAME where the request has +', (text) => text.replaceAll('+', ' ')],
    ],
  ),
  ...textMistakes(
    'encoded-twice',
    'Encode NAME once: a library that builds the query does it already.',
    [
      ['before NAME was encoded a first time, and sent encoded twice', decodePercent],
      ['with NAME decoded as a form', (text) => decodePercent(text.replaceAll('+', ' '))],
    ],
  ),
  ...textMistakes(
    'encoded-once-more',
    'Sign NAME as the recipe says: encode it once, or not at all.',
    [
      ['with NAME percent-encoded once more', encoders.rfc3986],
      ['with NAME form-encoded once more', encoders.form],
    ],
  ),
  ...textMistakes('value-space', 'Clean the value before it is signed and sent, or not at all.', [
    ['without the white space around the value of NAME', (text) => text.trim()],
    ['with a space after the value of NAME', (text) => `${text} `],
    ['with a space before the value of NAME', (text) => ` ${text}`],
    ['without the quotes or invisible characters in NAME', (text) => text.replace(pasted, '')],
    [
      'with ASCII in NAME where the request has full-width characters',
      (text) => text.normalize('NFKC'),
    ],
  ]),
  ...textMistakes(
    'line-end',
    'Sign the bytes that are sent: a command that prints a text, or an editor, adds a line break.',
    [
      ['with a line break at the end of NAME', (text) => `${text}\n`],
      ['with a line break (CR LF) at the end of NAME', (text) => `${text}\r\n`],
      ['with LF in NAME where the request has CR LF', (text) => text.replaceAll('\r\n', '\n')],
    ],
  ),
  ...textMistakes('empty-word', 'Sign an empty value as it is sent: empty.', [
    ['with the word null for NAME, which is empty', (text) => text || 'null'],
    ['with the word None for NAME, which is empty', (text) => text || 'None'],
    ['with the word undefined for NAME, which is empty', (text) => text || 'undefined'],
  ]),
  ...textMistakes('value-case', 'Sign NAME in the letter case in which it is sent.', [
    ['with NAME in lower case', folds.lower],
    ['with NAME in upper case', folds.upper],
  ]),
  ...textMistakes(
    'unicode-form',
    'Sign the bytes that are sent: normalize before, or not at all.',
    [
      ['with NAME in another Unicode normal form', (text) => text.normalize('NFD')],
      ['with NAME in another Unicode normal form', (text) => text.normalize('NFC')],
    ],
  ),
  ...jsonMistakes(),
];

function jsonMistakes(): TextMistake[] {
  return textMistakes(
    'json-text',
    'Make the JSON text once, then sign and send that same text.',
    jsonLayouts.map(([how, write]) => [
      `with NAME ${how}`,
      (text) => {
        if (!/^\s*[{[]/.test(text)) return text;
        try {
          return write(JSON.parse(text), text);
        } catch {
          return text;
        }
      },
    ]),
  );
}
