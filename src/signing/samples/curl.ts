import { parseArgs } from 'node:util';
import { encoders } from '../encodings.js';
import { type CapturedRequest, SampleError } from './captured-request.js';
import { isCmd, splitCmdWords, splitShellWords } from './words.js';

/** Options with a value, with their short names where they have one. */
const valueOptions =
  'user-agent:A cookie:b cookie-jar:c continue-at:C data:d dump-header:D referer:e cert:E form:F help:h header:H ' +
  'config:K max-time:m output:o ftp-port:P quote:Q range:r telnet-option:t upload-file:T user:u proxy-user:U ' +
  'write-out:w proxy:x request:X speed-time:y speed-limit:Y time-cond:z cacert capath ciphers connect-timeout ' +
  'connect-to data-ascii data-binary data-raw data-urlencode form-string interface json key limit-rate max-redirs ' +
  'noproxy oauth2-bearer pass resolve retry retry-delay retry-max-time stderr tls-max trace trace-ascii ' +
  'unix-socket url url-query';

/** For `parseArgs`. Other options are flags, which change nothing in the request. */
const curlOptions = Object.fromEntries([
  ...valueOptions.split(' ').map((names) => {
    const [name = '', short] = names.split(':');
    return [name, { type: 'string' as const, multiple: true, ...(short !== undefined && { short }) }];
  }),
  ['get', { type: 'boolean' as const, short: 'G' }],
  ['head', { type: 'boolean' as const, short: 'I' }],
]);

const start = /^(?:[$%>#] +)?curl(?:\.exe)?(?=[\s^])/;

export function isCurl(text: string): boolean {
  return start.test(text);
}

/** The parts of a command read so far. */
interface Command {
  readonly urls: string[];
  readonly query: string[];
  readonly data: string[];
  method: string | null;
  contentType: string | null;
  get: boolean;
  head: boolean;
}

/**
 * Reads a curl command. Options that do not affect what is signed are ignored.
 *
 * @throws SampleError for a command without a URL, or with a body from a file or of several parts
 */
export function readCurl(text: string): CapturedRequest {
  const rest = text.replace(start, '');
  const command: Command = {
    urls: [],
    query: [],
    data: [],
    method: null,
    contentType: null,
    get: false,
    head: false,
  };
  const args = isCmd(rest) ? splitCmdWords(rest) : splitShellWords(rest);
  const { tokens } = parseArgs({ args, options: curlOptions, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind === 'positional') command.urls.push(token.value);
    else if (token.kind === 'option') readOption(token.name, token.value ?? '', command);
  }
  return toRequest(command);
}

function readOption(name: string, value: string, command: Command): void {
  switch (name) {
    case 'url':
      command.urls.push(value);
      return;
    case 'request':
      command.method = value;
      return;
    case 'get':
      command.get = true;
      return;
    case 'head':
      command.head = true;
      return;
    case 'header':
      if (/^content-type\s*:/i.test(value)) command.contentType = value.slice(value.indexOf(':') + 1).trim();
      return;
    case 'data':
    case 'data-ascii':
    case 'data-binary':
      if (value.startsWith('@')) throw unreadable(`--${name} ${value}`);
      command.data.push(value);
      return;
    case 'data-raw':
      command.data.push(value);
      return;
    case 'data-urlencode':
      command.data.push(encodeData(value));
      return;
    case 'json':
      if (value.startsWith('@')) throw unreadable(`--json ${value}`);
      command.contentType ??= 'application/json';
      command.data.push(value);
      return;
    case 'url-query':
      command.query.push(value.startsWith('+') ? value.slice(1) : encodeData(value));
      return;
    case 'form':
    case 'form-string':
    case 'upload-file':
    case 'config':
      throw unreadable(`--${name}`);
  }
}

/** `name=content`, `=content` or `content`; the name is already encoded. */
function encodeData(text: string): string {
  const [, name, content = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? [undefined, undefined, text];
  if (name === undefined && content.includes('@')) throw unreadable('--data-urlencode with @');
  const encoded = encoders.rfc3986(content).replaceAll('%20', '+');
  return name ? `${name}=${encoded}` : encoded;
}

function toRequest({ urls, query, data, get, head, ...command }: Command): CapturedRequest {
  const [url, ...more] = urls;
  if (url === undefined) throw new SampleError('the curl command has no URL');
  if (more.length > 0) {
    throw new SampleError(
      `the curl command has ${urls.length} URLs`,
      'Put the URL in quotes, and take out options that change nothing in the request.',
    );
  }
  const body =
    data.length === 0 || get ? null : data.join(command.contentType === 'application/json' ? '' : '&');
  const method = command.method ?? (head ? 'HEAD' : body === null ? 'GET' : 'POST');
  return {
    method,
    url: appendQuery(url, get ? [...query, ...data] : query),
    body,
    contentType: command.contentType,
  };
}

function appendQuery(url: string, parts: readonly string[]): string {
  if (parts.length === 0) return url;
  return url + (url.includes('?') ? '&' : '?') + parts.join('&');
}

function unreadable(option: string): SampleError {
  return new SampleError(
    `the body of ${option} is not in the curl command`,
    'Put the body itself there with --data-raw, or write the request as a sample file.',
  );
}
