import { type ParseArgsConfig, parseArgs } from 'node:util';
import { encodeText } from '../../core/support/percent-encoding.js';
import { type CapturedRequest, type Header, withQuery } from './captured-request.js';
import { globbedUrl } from './curl-globbing.js';
import { SampleError } from './sample-error.js';
import type { SampleFormat } from './sample-format.js';
import { shellWords } from './shell-words.js';

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
  globoff: { type: 'boolean', short: 'g' },
  head: { type: 'boolean', short: 'I' },
} as const satisfies ParseArgsConfig['options'];

export const curl: SampleFormat = {
  name: 'a curl command',
  from: '"Copy as cURL (bash)" of a browser, in Firefox "Copy as cURL (POSIX)"; Postman, a shell',
  find({ text }) {
    refusePowerShell(text);
    return commandsIn(text).map((command, index, { length }) => ({
      place: length === 1 ? null : `command ${index + 1}`,
      read: () => readCurl(command),
    }));
  },
};

const forBash =
  'Copy it for bash: "Copy as cURL (bash)" in Chrome and Edge, "Copy as cURL (POSIX)" in Firefox.';

/** @throws SampleError for a request as a browser copies it for PowerShell */
function refusePowerShell(text: string): void {
  if (!/^(?:PS [^\n>]{0,200}> ?)?(?:Invoke-WebRequest|Invoke-RestMethod|iwr|irm)\s/im.test(text))
    return;
  throw new SampleError('the command is written for PowerShell', forBash);
}

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
  const has = (name: string) => options.some(([known]) => known === name);
  const valuesOf = (...names: readonly string[]) =>
    options.filter(([name]) => names.includes(name));

  const [elsewhere] = valuesOf(...notAForm);
  if (elsewhere !== undefined) throw noFormIn(`--${elsewhere[0]}`);
  const [url, ...others] = valuesOf('url').map(([, value]) => value);
  if (url === undefined) throw new SampleError('the curl command has no URL');
  if (others.length > 0) {
    throw new SampleError(
      `the curl command has ${others.length + 1} URLs`,
      'Put the URL in quotes, and take out options that change nothing in the request.',
    );
  }
  const address = has('globoff') ? url : globbedUrl(url);
  const given = valuesOf(...dataOptions);
  const data = given.map(readData).join('&');
  const query = valuesOf('url-query').map(([, value]) =>
    value.startsWith('+') ? value.slice(1) : encodeData(value),
  );
  const body = given.length === 0 || has('get') ? null : data;
  return {
    method: methodIn(options, body),
    url: withQuery(
      /^\w+:\/\//.test(address) ? address : `http://${address}`,
      (has('get') && data !== '' ? [...query, data] : query).join('&'),
    ),
    headers: valuesOf('header').flatMap(([, text]) => readHeader(text)),
    body,
  };
}

function methodIn(options: readonly Option[], body: string | null): string {
  const named = options.findLast(([name]) => name === 'request')?.[1];
  if (named !== undefined) return named;
  if (options.some(([name]) => name === 'head')) return 'HEAD';
  return body === null ? 'GET' : 'POST';
}

/**
 * `Name: value`, or `Name;` for an empty value. `Name:` takes a header away that curl would send.
 */
function readHeader(text: string): Header[] {
  const [, name, mark, rest = ''] = /^([^:;\s]+)([:;])(.*)$/s.exec(text) ?? [];
  const value = rest.trim();
  return name === undefined || (mark === ':') === (value === '') ? [] : [[name, value]];
}

function readData([name, value]: Option): string {
  if (name === 'data-urlencode') return encodeData(value);
  if (name !== 'data-raw' && value.startsWith('@')) throw noFormIn(`--${name} ${value}`);
  return value;
}

/** `name=content`, `=content` or `content`; the name is already encoded. */
function encodeData(text: string): string {
  const [, name, content = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? [undefined, undefined, text];
  if (name === undefined && content.includes('@')) throw noFormIn('--data-urlencode with @');
  const encoded = encodeText(content).replaceAll('%20', '+');
  return name ? `${name}=${encoded}` : encoded;
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

type Option = readonly [name: string, value: string];

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
    if (token.kind === 'positional') return [['url', token.value]];
    return token.kind === 'option' ? [[token.name, token.value ?? '']] : [];
  });
}

/** A word processor or a chat program writes curly quotes. */
function straightenQuotes(text: string): string {
  return /['"]/.test(text) ? text : text.replace(/[“”„]/g, '"').replace(/[‘’]/g, "'");
}
