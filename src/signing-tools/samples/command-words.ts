import { type ParseArgsConfig, parseArgs } from 'node:util';
import { closingQuote } from '../../support/closing-quote.js';
import { unescapeText } from './literal.js';
import { SampleError } from './sample-error.js';

/** Words before a command on its line: a prompt, `sudo`, a variable, a comment, a sentence, the path of the program. */
const anyWords = String.raw`(?<=^|[\s$%#>:;&|(\`：❯/\\])`;
// The name first: what is before it would be looked for at every character.
const curlStart = new RegExp(
  String.raw`(?=curl)${anyWords}curl(?:\.exe)?(?=[ \t^\`\\\r\n]+(?:[-'"^$“‘[{:]|[A-Z]{3,7}\s|https?:|[\w.-]+[.:/]\w))`,
  'gm',
);

/**
 * The curl commands in a text, each from it to the next one. It counts where an option, a quote or an address follows:
 * `curl failed` is not a command.
 */
export function commandsIn(text: string): string[] {
  const at = [...text.matchAll(curlStart)].map(({ index }) => index);
  return at.map((index, place) => text.slice(index, at[place + 1]));
}

/** Maximum number of words of a command: parsing options takes time by their square. */
const maxWords = 2000;

/**
 * The words of a command without its name.
 *
 * @throws SampleError for an unclosed quote, a variable, whose value only the shell knew, or a command for cmd.exe
 */
function splitCommand(command: string): string[] {
  // PowerShell has a backtick before a line break.
  const rest = straightenQuotes(command.replace(/^\S+/, '').replace(/`\r?\n/g, ' '));
  if (/\^(?:["%]|\r?\n)/.test(rest)) {
    throw new SampleError(
      'the command is written for cmd.exe',
      'In the browser, take "Copy as cURL (bash)".',
    );
  }
  const words = splitShellWords(rest);
  if (words.length <= maxWords) return words;
  throw new SampleError(`the command has ${words.length} words`, 'Give one command, without its output.');
}

/**
 * The options of a command with their values, in order; a word that is neither is its `url`.
 *
 * @throws SampleError as `splitCommand`
 */
export function optionsIn(command: string, options: ParseArgsConfig['options']): Option[] {
  const { tokens } = parseArgs({ args: splitCommand(command), options, strict: false, tokens: true });
  return tokens.flatMap((token): Option[] => {
    if (token.kind === 'positional') return [['url', token.value]];
    return token.kind === 'option' ? [[token.name, token.value ?? '']] : [];
  });
}

type Option = readonly [name: string, value: string];

/** A word processor or a chat program writes curly quotes. */
function straightenQuotes(text: string): string {
  return /['"]/.test(text) ? text : text.replace(/[“”„]/g, '"').replace(/[‘’]/g, "'");
}

/** Ends a command, between words. A line break does not where an option, a quote or a URL follows. */
const end = /\d?>|[|;&<]|\r?\n(?!\s{0,200}(?:-|['"]|https?:))/y;

/** Blanks, then the kinds of quoting within a word. */
const shellPart = /([ \t]+|\r?\n)|'([^']*)'|(\$'|")|\\(\r?\n|.)|([^\s'"\\]+)/suy;

/**
 * The words of the first command in a shell's text, as the shell would pass them on. An `&` inside a word is kept:
 * a URL may have lost its quotes.
 *
 * @throws SampleError for an unclosed quote, or a variable, whose value only the shell knew
 */
function splitShellWords(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let at = 0;
  while (at < text.length) {
    end.lastIndex = at;
    if (word === null && end.test(text)) break;
    shellPart.lastIndex = at;
    const found = shellPart.exec(text);
    if (found === null) throw new SampleError('a quote of the command is not closed');
    at = shellPart.lastIndex;
    const [, blank, single, opened, escaped, bare] = found;
    if (blank !== undefined) {
      if (word !== null) words.push(word);
      word = null;
      end.lastIndex = at - blank.length;
      if (end.test(text)) break;
    } else if (escaped !== undefined) {
      if (!escaped.endsWith('\n')) word = (word ?? '') + escaped;
    } else if (opened !== undefined) {
      // A pattern would overflow the stack in a text of millions of characters.
      const close = closingQuote(text, at - 1);
      if (close < 0) throw new SampleError('a quote of the command is not closed');
      const quoted = text.slice(at, close);
      word = (word ?? '') + (opened === '"' ? unescapeDouble(quoted) : unescapeText(quoted, 'shell'));
      at = close + 1;
    } else word = (word ?? '') + (single ?? checkBare(bare ?? ''));
  }
  return word === null ? words : [...words, word];
}

function unescapeDouble(text: string): string {
  checkBare(text.replace(/\\./gs, ''));
  return text.replace(/\\(?:\r?\n|([$`"\\]))/g, (_, character = '') => character);
}

function checkBare(text: string): string {
  const [variable] = /\$\w+|\$[{(]|`/.exec(text) ?? [];
  if (variable === undefined) return text;
  throw onlyShellKnows(variable);
}

function onlyShellKnows(variable: string): SampleError {
  return new SampleError(
    `the command holds ${variable}, which only the shell can replace`,
    'Put the value in its place, or use single quotes where the text itself is meant.',
  );
}
