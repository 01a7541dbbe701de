import type { Sample, SignableRequest } from '../request.js';
import {
  type CapturedRequest,
  defaultSignParam,
  SampleError,
  takeSignature,
  toSignable,
} from './captured-request.js';
import { isCurl, readCurl } from './curl.js';
import { readSampleFile } from './sample-file.js';

/**
 * Reads a request: a sample file (JSON), a URL, a curl command or the text of an HTTP request. `signParam` is the
 * parameter that carries the signature. Default: the one that the sample file names, else `sign`.
 *
 * @throws SampleError for any other text, or for a part that cannot be read
 */
export function readSample(
  text: string,
  { signParam }: { readonly signParam?: string | undefined } = {},
): Sample {
  const given = text.replace(/^[\ufeff\s]+/, '');
  if (given.startsWith('{')) return readSampleFile(given, signParam);
  return { ...takeSignature(readRequest(given), signParam ?? defaultSignParam), secret: null };
}

function readRequest(text: string): SignableRequest {
  if (isCurl(text)) return toSignable(readCurl(text));
  if (isHttpText(text)) return toSignable(readHttpText(text));
  const url = text.trim().replace(/^(['"])(.*)\1$/s, '$2');
  if (/^[a-z][a-z\d+.-]*:\/\/\S+$/i.test(url)) {
    return toSignable({ method: 'GET', url, body: null, contentType: null });
  }
  throw new SampleError(
    text === '' ? 'the request is empty' : 'this does not look like a request',
    'Give a URL, a curl command, an HTTP request as text, or a sample file (JSON).',
  );
}

const requestLine = /^([A-Z]+) +(\S+)(?: +HTTP\/[\d.]+)?[ \t]*$/;

function isHttpText(text: string): boolean {
  return requestLine.test(text.split(/\r?\n/, 1)[0] ?? '');
}

/**
 * Reads an HTTP request: request line, headers, an empty line, body. A line break at the end of the text belongs
 * to the file, not the body. A target without a scheme is http for a loopback host, else https.
 *
 * @throws SampleError for an invalid header, or a target without a host
 */
function readHttpText(text: string): CapturedRequest {
  const [, head = '', body = ''] = /^(.*?)(?:\r?\n[ \t]*\r?\n(.*))?$/s.exec(text) ?? [];
  const [first = '', ...lines] = head.trimEnd().split(/\r?\n/);
  const sent = body.replace(/\r?\n$/, '');
  const [, method = '', target = ''] = requestLine.exec(first) ?? [];
  const headers = new Map(lines.map(readHeader));
  return {
    method,
    url: /^[a-z][a-z\d+.-]*:\/\//i.test(target) ? target : origin(headers.get('host')) + target,
    body: sent === '' ? null : sent,
    contentType: headers.get('content-type') ?? null,
  };
}

function readHeader(line: string, index: number): [name: string, value: string] {
  const [, name = '', value = ''] = /^([^\s:]+)[ \t]*:[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
  if (name !== '') return [name.toLowerCase(), value];
  throw new SampleError(
    `line ${index + 2} of the HTTP request is no header`,
    'Headers are name: value; an empty line ends them.',
  );
}

function origin(host: string | undefined): string {
  if (host === undefined) {
    throw new SampleError('the HTTP request has no Host header', 'Add a line such as Host: api.example.com.');
  }
  const isLoopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i.test(host);
  return `${isLoopback ? 'http' : 'https'}://${host}`;
}
