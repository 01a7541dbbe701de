import { encoders } from '../encodings.js';
import type { CapturedRequest } from './captured-request.js';
import { SampleError } from './sample-error.js';
import { isCmd, splitCmdWords, splitShellWords } from './words.js';

/** Short options with a value, by their long names. */
const shortValues: Readonly<Record<string, string>> = {
  A: 'user-agent',
  b: 'cookie',
  c: 'cookie-jar',
  C: 'continue-at',
  d: 'data',
  D: 'dump-header',
  e: 'referer',
  E: 'cert',
  F: 'form',
  h: 'help',
  H: 'header',
  K: 'config',
  m: 'max-time',
  o: 'output',
  P: 'ftp-port',
  Q: 'quote',
  r: 'range',
  t: 'telnet-option',
  T: 'upload-file',
  u: 'user',
  U: 'proxy-user',
  w: 'write-out',
  x: 'proxy',
  X: 'request',
  y: 'speed-time',
  Y: 'speed-limit',
  z: 'time-cond',
};

const shortFlags: Readonly<Record<string, string>> = { G: 'get', I: 'head' };

const longValues: ReadonlySet<string> = new Set([
  ...Object.values(shortValues),
  'cacert',
  'capath',
  'ciphers',
  'connect-timeout',
  'connect-to',
  'data-ascii',
  'data-binary',
  'data-raw',
  'data-urlencode',
  'form-string',
  'interface',
  'json',
  'key',
  'limit-rate',
  'max-redirs',
  'noproxy',
  'oauth2-bearer',
  'pass',
  'resolve',
  'retry',
  'retry-delay',
  'retry-max-time',
  'stderr',
  'tls-max',
  'trace',
  'trace-ascii',
  'unix-socket',
  'url',
  'url-query',
]);

/** An option by its long name, or a word that is not an option. */
interface CurlOption {
  /** Empty for a word that is not an option: a URL. */
  readonly name: string;
  readonly value: string;
}

/** The options of a curl command, in order, each with its value; a flag has an empty one. */
function* readCurlOptions(words: Iterable<string>): Generator<CurlOption> {
  const rest = words[Symbol.iterator]();
  const next = (): string => {
    const { value, done } = rest.next();
    return done ? '' : value;
  };
  for (let { value: word, done } = rest.next(); !done; { value: word, done } = rest.next()) {
    if (word.startsWith('--')) {
      const [, name = '', value] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
      yield { name, value: value ?? (longValues.has(name) ? next() : '') };
    } else if (word.startsWith('-') && word.length > 1) {
      yield* readShortOptions(word.slice(1), next);
    } else {
      yield { name: '', value: word };
    }
  }
}

/** `-sXPUT` is `-s -X PUT`. */
function* readShortOptions(letters: string, next: () => string): Generator<CurlOption> {
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters[at] ?? '';
    const name = shortValues[letter];
    if (name !== undefined) {
      yield { name, value: letters.slice(at + 1) || next() };
      return;
    }
    yield { name: shortFlags[letter] ?? letter, value: '' };
  }
}

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
  for (const option of readCurlOptions(isCmd(rest) ? splitCmdWords(rest) : splitShellWords(rest))) {
    readOption(option, command);
  }
  return toRequest(command);
}

function readOption({ name, value }: CurlOption, command: Command): void {
  switch (name) {
    case '':
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
