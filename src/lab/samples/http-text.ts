import {
  type CapturedRequest,
  type Header,
  headerValue,
  originOf,
  SampleError,
} from './captured-request.js';
import type { FoundRequest, SampleFormat } from './sample-format.js';

/**
 * The text of HTTP requests: request line, headers, an empty line, the form; perhaps with the
 * responses.
 */
export const httpText: SampleFormat = {
  name: 'the text of an HTTP request',
  from: 'request line, headers and form, as proxies copy them',
  find({ text }) {
    const lines = text.split('\n', maxLines).map((line) => line.replace(/\r$/, ''));
    const starts = [...lines.keys()].filter((number) => isStart(lines, number));
    return starts.map((start, index) => requestAt(lines, start, starts[index + 1] ?? lines.length));
  },
};

const maxLines = 200_000;
const requestLine = /^(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) +(\S+?)(?: +(HTTP\/[\d.]+))? *$/;
const statusLine = /^HTTP\/[\d.]+ (\d{3})\b/;

/**
 * Whether a request begins in a line: amid other lines it has the version and a header, or an
 * address.
 */
function isStart(lines: readonly string[], index: number): boolean {
  const [, , target = '', version] = requestLine.exec(lines[index] ?? '') ?? [];
  if (target === '') return false;
  if (index === 0) return true;
  const isAddressed = /^\w+:\/\//.test(target) || /^[\w-]+ ?: /.test(lines[index + 1] ?? '');
  return version !== undefined && isAddressed;
}

/** The request from the line `start` to the line `next`, and perhaps its response. */
function requestAt(lines: readonly string[], start: number, next: number): FoundRequest {
  const exchange = lines.slice(start, next);
  const answer = exchange.findIndex((line) => statusLine.test(line));
  if (answer < 0) {
    const isWhole = start === 0 && next === lines.length;
    return {
      location: isWhole ? null : locationOf(start),
      status: undefined,
      read: () => readLines(exchange),
    };
  }
  const [, status] = statusLine.exec(exchange[answer] ?? '') ?? [];
  return {
    location: locationOf(start),
    status: Number(status),
    read: () => readLines(exchange.slice(0, answer)),
  };
}

function locationOf(start: number): string {
  if (start === 0) return 'without its response';
  return `line ${start + 1}`;
}

/**
 * Reads the lines of a request. Line breaks at the end of the text belong to the file, not to the
 * form. A target without a scheme is of http for a loopback host, else of https.
 *
 * @throws SampleError for an invalid header, or a target without a host
 */
function readLines(lines: readonly string[]): CapturedRequest {
  const [first = '', ...rest] = lines;
  const [, method = '', target = ''] = requestLine.exec(first) ?? [];
  const emptyLine = rest.findIndex((line) => line.trim() === '');
  const end = emptyLine < 0 ? rest.length : emptyLine;
  const headers = rest.slice(0, end).map((line, index) => readHeader(line, index + 2));
  const body = rest
    .slice(end + 1)
    .join('\n')
    .trimEnd();
  return { method, url: urlOf(target, headers), headers, body: body || null };
}

/** @throws SampleError for a path without the host that it belongs to */
function urlOf(target: string, headers: readonly Header[]): string {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(target)) return target;
  const host = headerValue(headers, 'host');
  if (host !== undefined) return originOf(host) + target;
  throw new SampleError(
    'the HTTP request has no Host header',
    'Add a line such as Host: api.example.com.',
  );
}

/** @throws SampleError that names the line by its number from 1 */
function readHeader(line: string, number: number): Header {
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(0, colon)).trimEnd();
  if (name !== '' && !/\s/.test(name)) return [name, line.slice(colon + 1).trim()];
  throw new SampleError(
    `line ${number} of the HTTP request is not a header`,
    'Headers are name: value; an empty line ends them.',
  );
}
