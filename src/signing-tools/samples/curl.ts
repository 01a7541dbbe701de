import { encoders } from '../../signing/encodings.js';
import { type CapturedRequest, type Header, withQuery, withScheme, withType } from './captured-request.js';
import { commandsIn, optionsIn } from './command-words.js';
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
      return [name, { type: 'string' as const, multiple: true, ...(short !== undefined && { short }) }];
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
  const valuesOf = (...names: readonly string[]) => options.filter(([name]) => names.includes(name));

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
  const method = valuesOf('request').at(-1)?.[1] ?? (has('head') ? 'HEAD' : body === null ? 'GET' : 'POST');
  return {
    method,
    url: withQuery(withScheme(url), (has('get') && data !== '' ? [...query, data] : query).join('&')),
    headers,
    body,
  };
}

/** `Name: value`, or `Name;` for an empty value. `Name:` takes a header away that curl would send. */
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
