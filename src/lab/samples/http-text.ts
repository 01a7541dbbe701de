import { type CapturedRequest, type Header, headerValue, originOf } from './captured-request.js';
import { SampleError } from './sample-error.js';
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
    const starts = lines.flatMap((_, at) => (isStart(lines, at) ? [at] : []));
    return starts.map((start, index) => foundAt(lines, start, starts[index + 1] ?? lines.length));
  },
};

const maxLines = 200_000;
const requestLine = /^(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) +(\S+?)(?: +(HTTP\/[\d.]+))? *$/;
const statusLine = /^HTTP\/[\d.]+ (\d{3})\b/;

/**
 * Whether a request begins in a line: amid other lines it has the version and a header, or an
 * address.
 */
function isStart(lines: readonly string[], at: number): boolean {
  const [, , target = '', version] = requestLine.exec(lines[at] ?? '') ?? [];
  if (target === '' || at === 0) return target !== '';
  const isAddressed = /^\w+:\/\//.test(target) || /^[\w-]+ ?: /.test(lines[at + 1] ?? '');
  return version !== undefined && isAddressed;
}

function foundAt(lines: readonly string[], start: number, next: number): FoundRequest {
  const own = lines.slice(start, next);
  const status = own.findIndex((line) => statusLine.test(line));
  const sent = status < 0 ? own : own.slice(0, status);
  const isWhole = start === 0 && next === lines.length && status < 0;
  const place = start > 0 ? `line ${start + 1}` : 'without its response';
  const [, code] = statusLine.exec(own[status] ?? '') ?? [];
  return {
    place: isWhole ? null : place,
    status: code === undefined ? undefined : Number(code),
    read: () => readLines(sent),
  };
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
  const end = rest.findIndex((line) => line.trim() === '');
  const head = end < 0 ? rest : rest.slice(0, end);
  const body =
    end < 0
      ? ''
      : rest
          .slice(end + 1)
          .join('\n')
          .trimEnd();
  const headers = head.map((line, index) => readHeader(line, index + 2));
  const host = headerValue(headers, 'host');
  const isWhole = /^[a-z][a-z\d+.-]*:\/\//i.test(target);
  if (!isWhole && host === undefined) {
    throw new SampleError(
      'the HTTP request has no Host header',
      'Add a line such as Host: api.example.com.',
    );
  }
  return {
    method,
    url: isWhole || host === undefined ? target : originOf(host) + target,
    headers,
    body: body === '' ? null : body,
  };
}

function readHeader(line: string, number: number): Header {
  const at = line.indexOf(':');
  const name = line.slice(0, Math.max(0, at)).trimEnd();
  if (name !== '' && !/\s/.test(name)) return [name, line.slice(at + 1).trim()];
  throw new SampleError(
    `line ${number} of the HTTP request is not a header`,
    'Headers are name: value; an empty line ends them.',
  );
}
