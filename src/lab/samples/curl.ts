import { type ParseArgsConfig, parseArgs } from 'node:util';
import { encodeText } from '../../core/support/percent-encoding.js';
import { withoutUndefined } from '../../core/support/without-undefined.js';
import {
  type CapturedRequest,
  type Header,
  SampleError,
  withQuery,
  withScheme,
} from './captured-request.js';
import type { SampleFormat } from './sample-format.js';
import { shellWords } from './shell-words.js';

/** Options with a value, with their short names where they have one. */
const valueOptions =
  'user-agent:A cookie:b cookie-jar:c continue-at:C data:d dump-header:D referer:e cert:E form:F ' +
  'help:h header:H config:K max-time:m output:o ftp-port:P quote:Q range:r telnet-option:t ' +
  'upload-file:T user:u proxy-user:U write-out:w proxy:x request:X speed-time:y speed-limit:Y ' +
  'time-cond:z cacert capath ciphers connect-timeout connect-to data-ascii data-binary data-raw ' +
  'data-urlencode form-string interface json key limit-rate max-redirs noproxy oauth2-bearer ' +
  'pass resolve retry retry-delay retry-max-time stderr tls-max trace trace-ascii ' +
  'unix-socket url url-query';

/** An option with a value for `parseArgs`, of `name` or `name:short`. */
function valueOption(names: string) {
  const [name = '', short] = names.split(':');
  const option = withoutUndefined({ type: 'string' as const, multiple: true, short });
  return [name, option] as const;
}

/** For `parseArgs`. Other options are flags, which change nothing in the request. */
const curlOptions = {
  ...Object.fromEntries(valueOptions.split(' ').map(valueOption)),
  get: { type: 'boolean', short: 'G' },
  globoff: { type: 'boolean', short: 'g' },
  head: { type: 'boolean', short: 'I' },
} as const satisfies ParseArgsConfig['options'];

export const curl: SampleFormat = {
  name: 'a curl command',
  from: '"Copy as cURL (bash)" of a browser, in Firefox "Copy as cURL (POSIX)"; Postman, a shell',
  find({ text }) {
    refusePowerShell(text);
    const commands = commandsIn(text);
    return commands.map((command, index) => ({
      location: commands.length === 1 ? null : `command ${index + 1}`,
      read: () => readCurl(command),
    }));
  },
};

const forBash =
  'Copy it for bash: "Copy as cURL (bash)" in Chrome and Edge, "Copy as cURL (POSIX)" in Firefox.';

/** @throws SampleError for a request as a browser copies it for PowerShell */
function refusePowerShell(text: string): void {
  if (!powerShellRequest.test(text)) return;
  throw new SampleError('the command is written for PowerShell', forBash);
}

const powerShellRequest =
  /^(?:PS [^\n>]{0,200}> ?)?(?:Invoke-WebRequest|Invoke-RestMethod|iwr|irm)\s/im;

const notAForm = ['form', 'form-string', 'upload-file', 'config', 'json'];

const dataOptions = ['data', 'data-ascii', 'data-binary', 'data-raw', 'data-urlencode'];

/**
 * Reads a curl command. Options that do not affect what is signed are ignored.
 *
 * @throws SampleError for a command without a URL, for another shell, or with a body that is not a
 * form in it
 */
function readCurl(command: string): CapturedRequest {
  const options = optionsIn(command);
  const formElsewhere = options.find(({ name }) => notAForm.includes(name));
  if (formElsewhere !== undefined) throw noFormIn(`--${formElsewhere.name}`);

  const address = addressIn(options);
  const data = dataIn(options);
  const query = valuesOf(options, 'url-query').map(readQuery);
  const isGet = has(options, 'get');
  if (isGet && data) query.push(data);
  const body = isGet ? null : data;
  return {
    method: methodIn(options, body),
    url: withQuery(address, query.join('&')),
    headers: valuesOf(options, 'header').flatMap(readHeader),
    body,
  };
}

/** The form of a command; null where no option has a part of it. */
function dataIn(options: readonly Option[]): string | null {
  const dataInOrder = options.filter(({ name }) => dataOptions.includes(name));
  if (dataInOrder.length === 0) return null;
  return dataInOrder.map(readData).join('&');
}

function has(options: readonly Option[], name: string): boolean {
  return options.some((option) => option.name === name);
}

function valuesOf(options: readonly Option[], name: string): string[] {
  return options.filter((option) => option.name === name).map(({ value }) => value);
}

/** @throws SampleError for a command with no URL, or with several */
function addressIn(options: readonly Option[]): string {
  const [url, ...furtherUrls] = valuesOf(options, 'url');
  if (url === undefined) throw new SampleError('the curl command has no URL');
  if (furtherUrls.length > 0) {
    throw new SampleError(
      `the curl command has ${furtherUrls.length + 1} URLs`,
      'Put the URL in quotes, and take out options that change nothing in the request.',
    );
  }
  return withScheme(has(options, 'globoff') ? url : globbedUrl(url));
}

function methodIn(options: readonly Option[], body: string | null): string {
  const method = valuesOf(options, 'request').at(-1);
  if (method !== undefined) return method;
  if (has(options, 'head')) return 'HEAD';
  return body === null ? 'GET' : 'POST';
}

/**
 * `Name: value`, or `Name;` for an empty value. `Name:` takes a header away that curl would send.
 */
function readHeader(text: string): Header[] {
  const [, name, mark, rest = ''] = /^([^:;\s]+)([:;])(.*)$/s.exec(text) ?? [];
  if (name === undefined) return [];
  const value = rest.trim();
  if (mark === ':' && value !== '') return [[name, value]];
  if (mark === ';' && value === '') return [[name, value]];
  return [];
}

/** The value of `--url-query`: as it is after `+`, else it is encoded. */
function readQuery(value: string): string {
  if (value.startsWith('+')) return value.slice(1);
  return encodeData(value);
}

/** @throws SampleError for data that is in a file */
function readData({ name, value }: Option): string {
  if (name === 'data-urlencode') return encodeData(value);
  if (name !== 'data-raw' && value.startsWith('@')) throw noFormIn(`--${name} ${value}`);
  return value;
}

/**
 * `name=content`, `=content` or `content`; the name is already encoded.
 *
 * @throws SampleError for content that is in a file
 */
function encodeData(text: string): string {
  const [, name, content = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? [undefined, undefined, text];
  if (name === undefined && content.includes('@')) throw noFormIn('--data-urlencode with @');
  const encoded = encodeText(content).replaceAll('%20', '+');
  if (!name) return encoded;
  return `${name}=${encoded}`;
}

function noFormIn(option: string): SampleError {
  return new SampleError(
    `${option} is not a form in the curl command`,
    'Put the form itself there with --data-raw, or write the request as a sample file.',
  );
}

/**
 * Words before a command on its line: a prompt, `sudo`, a variable, a comment, a sentence, the path
 * of the program.
 */
const anyWords = String.raw`(?<=^|[\s$%#>:;&|(\`：❯/\\])`;
/** The start of an option, of a quote or of an address; a method. */
const firstWord = String.raw`[-'"^$“‘[{:]|[A-Z]{3,7}\s|https?:|[\w.-]+[.:/]\w`;
// The name first: what is before it would be looked for at every character.
const curlStart = new RegExp(
  String.raw`(?=curl)${anyWords}curl(?:\.exe)?(?=[ \t^\`\\\r\n]+(?:${firstWord}))`,
  'gm',
);

/**
 * The curl commands in a text, each from it to the next one. It counts where an option, a quote or
 * an address follows: `curl failed` is not a command.
 */
function commandsIn(text: string): string[] {
  const starts = [...text.matchAll(curlStart)].map(({ index }) => index);
  return starts.map((start, index) => text.slice(start, starts[index + 1]));
}

interface Option {
  readonly name: string;
  readonly value: string;
}

/** Maximum number of words of a command: parsing options takes time by their square. */
const maxWords = 2000;

/**
 * The options of a command with their values, in order; a word that is neither is its `url`.
 *
 * @throws SampleError for another shell than bash, and as `shellWords`
 */
function optionsIn(command: string): Option[] {
  const rest = straightenQuotes(command.replace(/^\S+/, ''));
  if (/\^(?:["%&]|\r?\n)/.test(rest))
    throw new SampleError('the command is written for cmd.exe', forBash);
  if (/[ \t]`\r?\n/.test(rest))
    throw new SampleError('the command is written for PowerShell', forBash);
  const words = shellWords(rest);
  if (words.length > maxWords) {
    throw new SampleError(
      `the command has ${words.length} words`,
      'Give one command, without its output.',
    );
  }
  const { tokens } = parseArgs({ args: words, options: curlOptions, strict: false, tokens: true });
  return tokens.flatMap((token): Option[] => {
    if (token.kind === 'positional') return [{ name: 'url', value: token.value }];
    if (token.kind === 'option') return [{ name: token.name, value: token.value ?? '' }];
    return [];
  });
}

/** A word processor or a chat program writes curly quotes. */
function straightenQuotes(text: string): string {
  if (/['"]/.test(text)) return text;
  return text.replace(/[“”„]/g, '"').replace(/[‘’]/g, "'");
}

const escapedMark = /\\(?<mark>[[\]{}])/;
const ipv6Address = /(?<address>\[[\da-f]*:[\da-f.]*:[\da-f:.]*(?:%[^\]]*)?\])/;
const alternatives = /\{(?<set>(?:\\[\s\S]|[^{}[\]\\])+)\}/;
const range = /\[(?<from>\d+|[a-z])-(?<to>\d+|[a-z])\]/;
const anyCharacter = /(?<character>[\s\S])/;

/** A URL in pieces. */
const pieces = new RegExp(
  [escapedMark, ipv6Address, alternatives, range, anyCharacter]
    .map(({ source }) => source)
    .join('|'),
  'gi',
);

/**
 * The URL that curl requests without `--globoff`: `{a,b}` and `[1-3]` are patterns there, and a
 * backslash before one of their marks takes it as it is.
 *
 * @throws SampleError for a pattern of several URLs, and for one that curl refuses
 */
function globbedUrl(url: string): string {
  let text = '';
  for (const { groups = {} } of url.matchAll(pieces)) {
    const { mark, address, set, from, to, character } = groups;
    if (set !== undefined) text += onlyAlternative(set);
    else if (from !== undefined && to !== undefined) text += onlyInRange(from, to);
    else if (character !== undefined && /[[\]{}]/.test(character)) {
      throw new SampleError(`curl refuses the ${character} in the URL`, howToWrite);
    } else text += mark ?? address ?? character ?? '';
  }
  return text;
}

const howToWrite =
  'curl takes [ ] and { } in a URL for a pattern: use --globoff, or write \\ before each.';

function onlyAlternative(set: string): string {
  const [first = '', ...others] = set.split(/(?<!\\),/);
  if (others.length > 0) throw severalUrls();
  return first.replace(/\\([\s\S])/g, '$1');
}

function onlyInRange(from: string, to: string): string {
  if (from !== to) throw severalUrls();
  return from;
}

function severalUrls(): SampleError {
  return new SampleError('the URL of the curl command stands for several requests', howToWrite);
}
