import { type CapturedRequest, type Header, headerValue, SampleError } from './captured-request.js';
import type { SampleFormat } from './sample-format.js';

/** The text of HTTP requests, each with or without its response behind it. */
export const httpText: SampleFormat = {
  name: 'the text of an HTTP request',
  from: 'Fiddler, Burp and other proxies; headers that a browser shows',
  find({ text }) {
    const requests = requestsIn(text);
    return requests.map(({ lines, isAnswered }, index) => {
      const place = requests.length > 1 ? `request ${index + 1}` : isAnswered ? 'without its response' : null;
      return { place, read: () => readHttpText(lines) };
    });
  },
};

const requestLine = /^([A-Z]+) +(\S+)(?: +HTTP\/[\d.]+)?\s*$/;
/** Further requests of a text are recognized by their version, too. */
const nextRequest = /^(?:GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS) \S+ HTTP\/[\d.]+\s*$/;
const response = /^HTTP\/[\d.]+ \d{3}\b/;
const pseudoHeader = /^:(?:method|path|scheme|authority):/;

interface RequestText {
  readonly lines: string[];
  /** Whether a response is behind it. */
  isAnswered: boolean;
}

/** The lines of each request, without those of its response. */
function requestsIn(text: string): RequestText[] {
  const lines = text.split('\n');
  const [start = ''] = lines;
  if (!requestLine.test(start) && !pseudoHeader.test(start)) return [];
  const requests: RequestText[] = [];
  let request: RequestText = { lines: [], isAnswered: false };
  for (const [index, line] of lines.entries()) {
    if (index === 0 || nextRequest.test(line)) {
      dropEnd(request.lines);
      request = { lines: [], isAnswered: false };
      requests.push(request);
    } else if (response.test(line)) {
      dropEnd(request.lines);
      request.isAnswered = true;
    }
    if (!request.isAnswered) request.lines.push(line);
  }
  return requests;
}

/** Removes empty lines between a request and what is behind it. */
function dropEnd(lines: string[]): void {
  while (lines.at(-1)?.trim() === '') lines.pop();
}

/**
 * Reads the lines of an HTTP request: request line, headers, an empty line, body. A line break at the end of the text
 * belongs to the file, not the body. A target without a scheme is of `scheme`; by default http for a loopback host,
 * else https.
 *
 * @throws SampleError for an invalid header, or a target without a host
 */
export function readHttpText(lines: readonly string[], scheme?: string): CapturedRequest {
  const end = lines.findIndex((line) => line.trim() === '');
  const head = lines.slice(0, end < 0 ? lines.length : end).map((line) => line.trimEnd());
  const body =
    end < 0
      ? ''
      : lines
          .slice(end + 1)
          .join('\n')
          .replace(/\r?\n$|\r$/, '');
  const { first, headers } = headOf(head);
  const [, method = '', target = ''] = requestLine.exec(first) ?? [];
  const pseudo = (name: string) => headerValue(headers, `:${name}`);
  const path = pseudo('path') ?? target;
  const host = pseudo('authority') ?? headerValue(headers, 'host');
  return {
    method: pseudo('method') ?? method,
    url: /^[a-z][a-z\d+.-]*:\/\//i.test(path) ? path : origin(host, pseudo('scheme') ?? scheme) + path,
    headers: headers.filter(([name]) => !name.startsWith(':')),
    body: body === '' ? null : body,
  };
}

/** The request line, if there is one, and the headers. A browser may put a value on the line after its name. */
function headOf(head: readonly string[]): { readonly first: string; readonly headers: Header[] } {
  const [first = '', ...rest] = head;
  const hasLine = requestLine.test(first);
  const lines = hasLine ? rest : head;
  if (hasLine || !/^:\w+:\s*$/.test(first)) {
    return { first, headers: lines.map((line, index) => readHeader(line, index + (hasLine ? 2 : 1))) };
  }
  const headers = lines.flatMap((name, index): Header[] =>
    index % 2 === 0 ? [[name.trim().replace(/:$/, ''), lines[index + 1]?.trim() ?? '']] : [],
  );
  return { first: '', headers };
}

function readHeader(line: string, number: number): Header {
  const [, name = '', value = ''] = /^(:?[^\s:]+)[ \t]*:[ \t]*(.*)$/.exec(line) ?? [];
  if (name !== '') return [name, value];
  throw new SampleError(
    `line ${number} of the HTTP request is no header`,
    'Headers are name: value; an empty line ends them.',
  );
}

function origin(host: string | undefined, scheme: string | undefined): string {
  if (host === undefined) {
    throw new SampleError('the HTTP request has no Host header', 'Add a line such as Host: api.example.com.');
  }
  const isLoopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i.test(host);
  return `${scheme ?? (isLoopback ? 'http' : 'https')}://${host}`;
}
