import { type ParseArgsConfig, parseArgs } from 'node:util';
import { encoders } from '../../core/signing/encodings.js';
import { closingQuote } from '../../core/support/closing-quote.js';
import {
  type CapturedRequest,
  type Header,
  withQuery,
  withScheme,
  withType,
} from './captured-request.js';
import { unescapeText } from './literal.js';
import { SampleError } from './sample-error.js';
import type { SampleFormat } from './sample-format.js';

/** Options with a value, with their short names where they have one. */
const valueOptions =
  'user-agent:A cookie:b cookie-jar:c continue-at:C data:d dump-header:D referer:e cert:E form:F help:h header:H ' +
  'config:K max-time:m output:o ftp-port:P quote:Q range:r telnet-option:t upload-file:T user:u proxy-user:U ' +
  'write-out:w proxy:x request:X speed-time:y speed-limit:Y time-cond:z cacert capath ciphers connect-timeout ' +
  'connect-to data-ascii data-binary data-raw data-urlencode form-string interface json key limit-rate max-redirs ' +
  'noproxy oauth2-bearer pass resolve retry retry-delay retry-max-time stderr tls-max trace trace-ascii ' +
  'unix-socket url url-query';

/** For `parseArgs`. Other options are flags, which change nothing in the request. */
const curlOptions = {
  ...Object.fromEntries(
    valueOptions.split(' ').map((names) => {
      const [name = '', short] = names.split(':');
      return [
        name,
        { type: 'string' as const, multiple: true, ...(short !== undefined && { short }) },
      ];
    }),
  ),
  get: { type: 'boolean', short: 'G' },
  head: { type: 'boolean', short: 'I' },
} as const;

export const curl: SampleFormat = {
  name: 'a curl command',
  from: 'shells, PowerShell; "Copy as cURL (bash)" of browsers, proxies, Postman',
  find: ({ text }) =>
    commandsIn(text).map((command, index, { length }) => ({
      place: length === 1 ? null : `command ${index + 1}`,
      read: () => readCurl(command),
    })),
};

const unreadable = ['form', 'form-string', 'upload-file', 'config'];

const dataOptions = ['data', 'data-ascii', 'data-binary', 'data-raw', 'data-urlencode', 'json'];

/**
 * Reads a curl command. Options that do not affect what is signed are ignored.
 *
 * @throws SampleError for a command without a URL, or with a body from a file or of several parts
 */
function readCurl(text: string): CapturedRequest {
  const options = optionsIn(text, curlOptions);
  const has = (name: string) => options.some(([known]) => known === name);
  const valuesOf = (...names: readonly string[]) =>
    options.filter(([name]) => names.includes(name));

  const [elsewhere] = valuesOf(...unreadable);
  if (elsewhere !== undefined) throw notInCommand(`--${elsewhere[0]}`);
  const [url, ...others] = valuesOf('url').map(([, value]) => value);
  if (url === undefined) throw new SampleError('the curl command has no URL');
  if (others.length > 0) {
    throw new SampleError(
      `the curl command has ${others.length + 1} URLs`,
      'Put the URL in quotes, and take out options that change nothing in the request.',
    );
  }
  const headers = withType(
    has('json') ? 'application/json' : null,
    valuesOf('header').flatMap(([, text]) => readHeader(text)),
  );
  const given = valuesOf(...dataOptions);
  // Only --json goes without an & before it.
  const data = given
    .map((option, index) => (index === 0 || option[0] === 'json' ? '' : '&') + readData(option))
    .join('');
  const query = valuesOf('url-query').map(([, value]) =>
    value.startsWith('+') ? value.slice(1) : encodeData(value),
  );
  const body = given.length === 0 || has('get') ? null : data;
  const method =
    valuesOf('request').at(-1)?.[1] ?? (has('head') ? 'HEAD' : body === null ? 'GET' : 'POST');
  return {
    method,
    url: withQuery(
      withScheme(url),
      (has('get') && data !== '' ? [...query, data] : query).join('&'),
    ),
    headers,
    body,
  };
}

/**
 * `Name: value`, or `Name;` for an empty value. `Name:` takes a header away that curl would send.
 */
function readHeader(text: string): Header[] {
  const [, name, mark, rest = ''] = /^([^:;\s]+)([:;])(.*)$/s.exec(text) ?? [];
  const value = rest.trim();
  return name === undefined || (mark === ':') === (value === '') ? [] : [[name, value]];
}

function readData([name, value]: readonly [name: string, value: string]): string {
  if (name === 'data-urlencode') return encodeData(value);
  if (name !== 'data-raw' && value.startsWith('@')) throw notInCommand(`--${name} ${value}`);
  return value;
}

/** `name=content`, `=content` or `content`; the name is already encoded. */
function encodeData(text: string): string {
  const [, name, content = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? [undefined, undefined, text];
  if (name === undefined && content.includes('@')) throw notInCommand('--data-urlencode with @');
  const encoded = encoders.rfc3986(content).replaceAll('%20', '+');
  return name ? `${name}=${encoded}` : encoded;
}

function notInCommand(option: string): SampleError {
  return new SampleError(
    `the body of ${option} is not in the curl command`,
    'Put the body itself there with --data-raw, or write the request as a sample file.',
  );
}

/**
 * Words before a command on its line: a prompt, `sudo`, a variable, a comment, a sentence, the path
 * of the program.
 */
const anyWords = String.raw`(?<=^|[\s$%#>:;&|(\`：❯/\\])`;
// The name first: what is before it would be looked for at every character.
const curlStart = new RegExp(
  String.raw`(?=curl)${anyWords}curl(?:\.exe)?(?=[ \t^\`\\\r\n]+(?:[-'"^$“‘[{:]|[A-Z]{3,7}\s|https?:|[\w.-]+[.:/]\w))`,
  'gm',
);

/**
 * The curl commands in a text, each from it to the next one. It counts where an option, a quote or
 * an address follows: `curl failed` is not a command.
 */
function commandsIn(text: string): string[] {
  const at = [...text.matchAll(curlStart)].map(({ index }) => index);
  return at.map((index, place) => text.slice(index, at[place + 1]));
}

/** Maximum number of words of a command: parsing options takes time by their square. */
const maxWords = 2000;

/**
 * The words of a command without its name.
 *
 * @throws SampleError for an unclosed quote, a variable, whose value only the shell knew, or a
 * command for cmd.exe
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
  throw new SampleError(
    `the command has ${words.length} words`,
    'Give one command, without its output.',
  );
}

/**
 * The options of a command with their values, in order; a word that is neither is its `url`.
 *
 * @throws SampleError as `splitCommand`
 */
function optionsIn(command: string, options: ParseArgsConfig['options']): Option[] {
  const { tokens } = parseArgs({
    args: splitCommand(command),
    options,
    strict: false,
    tokens: true,
  });
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

/**
 * Ends a command, between words. A line break does not where an option, a quote or a URL follows.
 */
const end = /\d?>|[|;&<]|\r?\n(?!\s{0,200}(?:-|['"]|https?:))/y;

/** Blanks, then the kinds of quoting within a word. */
const shellPart = /([ \t]+|\r?\n)|'([^']*)'|(\$'|")|\\(\r?\n|.)|([^\s'"\\]+)/suy;

/**
 * The words of the first command in a shell's text, as the shell would pass them on. An `&` inside
 * a word is kept: a URL may have lost its quotes.
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
      word =
        (word ?? '') + (opened === '"' ? unescapeDouble(quoted) : unescapeText(quoted, 'shell'));
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
