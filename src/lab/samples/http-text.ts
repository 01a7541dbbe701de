import { type CapturedRequest, type Header, headerValue, originOf } from './captured-request.js';
import { unescapeText } from './literal.js';
import { SampleError } from './sample-error.js';
import type { FoundRequest, SampleFormat } from './sample-format.js';
import { Variables } from './variables.js';

/**
 * The text of HTTP requests anywhere: alone, with their responses, and in what tools print of a
 * connection.
 */
export const httpText: SampleFormat = {
  name: 'the text of an HTTP request',
  from: 'proxies; curl -v and --trace, wget -d, HTTPie, tcpdump, debug logs',
  find({ text }) {
    if (/^:(?:method|path|scheme|authority):/.test(text))
      throw new SampleError('this is a list of the headers of HTTP/2', 'Copy the request as cURL.');
    return httpIn(text).requests;
  },
};

/** Lines that are read, and how far into a line a request is looked for. */
const maxLines = 200_000;
const maxPrefix = 300;
/** Lines of a body whose line ends are told apart. */
const maxBodyLines = 2000;

interface HttpLines {
  readonly requests: FoundRequest[];
  /** The numbers, from 0, of the lines that are a part of a request or of a response. */
  readonly taken: ReadonlySet<number>;
}

/** The requests in a text. Lines behind a status line are a response, up to the next request. */
export function httpIn(text: string): HttpLines {
  const isDump = /^(?:[\d:.]{8,15} )?=> Send /m.test(text);
  // A dump of a connection has the response right behind the body.
  const whole = (isDump ? undump(text) : text).replace(
    /(?<=[^\s"'])(?=HTTP\/1\.[01] \d{3} [\w ]+\r?\n[\w-]+: )/g,
    '\n',
  );
  const raw = whole.split('\n', maxLines);
  const lines = raw.map((line) => line.replace(/\r$/, ''));
  const scheme = /^(?:\*|== Info:) .*\b(?:TLS|SSL)/m.test(text)
    ? 'https'
    : /^\* /m.test(text)
      ? 'http'
      : undefined;
  const requests: FoundRequest[] = [];
  const taken = new Set<number>();
  let isAnswer = false;
  let last = -1;
  for (let at = 0; at < lines.length; at++) {
    const start = requestStart(lines[at] ?? '', lines[at + 1] ?? '', at === 0);
    if (start === null) {
      const status = at > last && !isAnswer ? statusIn(lines[at] ?? '') : null;
      if (status !== null) {
        isAnswer = true;
        const [asked] = requests.splice(-1);
        if (asked !== undefined) requests.push({ status, ...asked });
      }
      if (isAnswer || at <= last) taken.add(at);
      continue;
    }
    const { own, end } = linesOf(lines, raw, at, start);
    const isBlurred = isDump && own.some((part) => /\.{3}/.test(part));
    [isAnswer, last] = [false, end - 1];
    taken.add(at);
    const isFirst = at === 0 && start.prefix === '';
    const rest = lines.slice(end, end + 3).find((line) => line.trim() !== '');
    const place = !isFirst ? `line ${at + 1}` : rest === undefined ? null : 'without its response';
    const read = () => {
      if (isBlurred) {
        throw new SampleError(
          'bytes beyond ASCII are dots in this dump',
          'curl --trace shows them, in hex.',
        );
      }
      return readHttpText(
        own.map((line) => noVariables.fill(line)),
        { scheme, needsHost: isFirst },
      );
    };
    requests.push({ place, read });
  }
  return { requests, taken };
}

/** The status in a status line; null for any other line. */
function statusIn(line: string): number | null {
  const [, before = '', status] = /^(.{0,300}?)HTTP\/\d[\d.]* (\d{3})\b/.exec(line) ?? [];
  return status === undefined || method.test(before) ? null : Number(status);
}

interface RequestStart {
  /** Text before the method. */
  readonly prefix: string;
  /** The line from the method on. */
  readonly line: string;
  /**
   * How the lines are written: as they are, each in quotes, or all of them in one pair of quotes.
   */
  readonly quoting: 'none' | 'lines' | 'whole';
}

const method = /(?:GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS) +(?=[^\s"'])/;

/**
 * The request line in a line; null where there is none, or where more is behind it, as in a log of
 * accesses.
 */
function requestStart(line: string, next: string, isFirst: boolean): RequestStart | null {
  // Without a version it is one only where headers follow, or nothing.
  if (
    /^[A-Z]{3,7} +\S+\s*$/.test(line) &&
    (isFirst ? /^(?:\s*$|[\w-]+ ?:)/ : /^[\w-]+: /).test(next)
  ) {
    return { prefix: '', line, quoting: 'none' };
  }
  const at = line.slice(0, maxPrefix).search(method);
  if (at < 0) return null;
  const prefix = line.slice(0, at);
  const rest = line.slice(at);
  if (prefix.endsWith('--> ')) return { prefix, line: rest, quoting: 'none' };
  const [target = '', version = ''] = rest.slice(rest.search(/ +/)).trimStart().split(' ', 2);
  const [whole = '', behind = ''] = /^HTTP\/\d[\d.]*(.*)$/s.exec(version) ?? [];
  if (whole === '') return null;
  const end =
    rest.indexOf(version, rest.indexOf(target) + target.length) + whole.length - behind.length;
  const tail = rest.slice(end).trim();
  if (tail === '') return { prefix, line: rest.slice(0, end), quoting: 'none' };
  if (/^(?:\\r\\n|\[\\r\]\[\\n\])["']?[ +,;)\]}]*$/.test(tail))
    return { prefix, line: rest.slice(0, end), quoting: 'lines' };
  return tail.startsWith('\\r\\n') ? { prefix, line: rest, quoting: 'whole' } : null;
}

/** The lines of a request, as they were sent, and the number of the line behind them. */
function linesOf(
  lines: readonly string[],
  raw: readonly string[],
  at: number,
  { prefix, line, quoting }: RequestStart,
) {
  if (quoting === 'whole') return quotedLines(lines, at, prefix, line);
  const clean = cleaner(prefix, lines[at + 1] ?? '', quoting === 'lines');
  const own = [line];
  let end = at + 1;
  const isMarked = prefix.endsWith('<![CDATA[');
  let isBody = false;
  let missing = Number.POSITIVE_INFINITY;
  let keepsReturns = false;
  for (; end < lines.length && missing > 0; end++) {
    const given = lines[end] ?? '';
    if (requestStart(given, lines[end + 1] ?? '', false) !== null) break;
    if (end > at + 1 && statusIn(given) !== null) break;
    if (isEnd.test(given)) {
      const [, posted] = /^\[(?:POST|BODY) data: (.*)\]$/.exec(lines[end + 1] ?? '') ?? [];
      if (posted !== undefined) own.push(...(own.at(-1)?.trim() === '' ? [] : ['']), posted);
      break;
    }
    const text = clean(given, isBody);
    if (text === null && !isBody && (quoting === 'lines' || /^[*{}]/.test(given))) continue;
    if (text === null && (!isBody || prefix.trim() === '>')) break;
    const whole = keepsReturns ? (raw[end] ?? '') : (text ?? given);
    // Burp saves requests in XML.
    const shown = isMarked ? whole.replace(/\]\]>.*/s, '') : whole;
    own.push(shown);
    if (shown !== whole) return { own, end: end + 1 };
    if (isBody) missing -= Buffer.byteLength(shown) + 1;
    else if (shown.trim() === '') {
      isBody = true;
      missing = lengthOf(own, prefix !== '' && !isMarked && !prefix.endsWith('--> '));
      // A dump of a connection has the length of each part before it.
      const next = lines[end + 1] === '' ? end + 2 : end + 1;
      if (lines[next] === `${missing}`) end = next;
      keepsReturns = prefix === '' && quoting === 'none' && endsLine(raw, end + 1, missing);
    }
  }
  // The length of the body counts the line break behind it.
  if (isBody && missing === 0) own.push('');
  else while (own.length > 1 && (own.at(-1) ?? '').trim() === '') own.pop();
  return { own, end };
}

/**
 * Whether a body of that length ends where one of the lines does; a length that is not known says
 * nothing.
 */
function endsLine(lines: readonly string[], from: number, length: number): boolean {
  const rest = Buffer.from(lines.slice(from, from + maxBodyLines).join('\n'));
  return length > rest.length || /^(?:\n|.\r?\n|.$)/.test(rest.toString('latin1', length - 1));
}

/**
 * The length of a body in bytes; unknown where a header does not say it, but a request may have
 * one.
 */
function lengthOf(head: readonly string[], isAmid: boolean): number {
  const header = (name: RegExp) => head.find((line) => name.test(line));
  const length = header(/^content-length *:/i)
    ?.split(':')[1]
    ?.trim();
  if (length !== undefined && /^\d{1,9}$/.test(length)) return Number(length);
  const isBare =
    /^(?:GET|HEAD|DELETE) /.test(head[0] ?? '') && header(/^content-type *:/i) === undefined;
  return isAmid || isBare ? 0 : Number.POSITIVE_INFINITY;
}

const isEnd = /^###|--> END\b|^---request end---|<-- \d|^=====|^Node \d: |^ {2,}<< /;

/**
 * Takes off what a tool puts before each line, and quotes around it; null where a line does not
 * have it. Times and counters in it change from line to line, its length does not.
 */
function cleaner(
  prefix: string,
  next: string,
  isQuoted: boolean,
): (line: string, isBody: boolean) => string | null {
  const shapeOf = (text: string) => text.replace(/[\da-f]/gi, '0');
  const own = [prefix, prefix.replace(/-{1,9}> $/, '')].find(
    (one) => one !== '' && shapeOf(next.slice(0, one.length)).trimEnd() === shapeOf(one).trimEnd(),
  );
  const cut = (line: string) => {
    if (own === undefined) return line;
    return shapeOf(line.slice(0, own.length)).trimEnd() === shapeOf(own).trimEnd()
      ? line.slice(own.length)
      : null;
  };
  if (!isQuoted) return cut;
  return (line, isBody) => {
    // Other lines are what a tool says of the header above them.
    if (!isBody && !/\\r\\n|\[\\n\]/.test(line.slice(-20))) return null;
    const text = (cut(line) ?? line)
      .trim()
      .replace(/[+,;)\]}]{1,3}$/, '')
      .trimEnd()
      .replace(/^["']/, '')
      .replace(/["']$/, '');
    return unescapeText(text.replace('[\\r][\\n]', '').replace(/(?:\\r\\n)$/, ''));
  };
}

/**
 * The lines of a request in one pair of quotes: `send: b'GET / HTTP/1.1\r\n…'`, with its body in
 * the next line.
 */
function quotedLines(lines: readonly string[], at: number, prefix: string, line: string) {
  const quote = /["'`]/.exec(prefix.slice(-1))?.[0] ?? '';
  const inside = (text: string) =>
    unescapeText(quote === '' ? text : text.slice(0, closing(text, quote)));
  const own = inside(line).split(/\r?\n/);
  const next = lines[at + 1] ?? '';
  const isBody =
    quote !== '' &&
    own.at(-1) === '' &&
    next.startsWith(prefix) &&
    requestStart(next, '', false) === null;
  if (!isBody) return { own, end: at + 1 };
  return { own: [...own.slice(0, -1), inside(next.slice(prefix.length))], end: at + 2 };
}

function closing(text: string, quote: string): number {
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === quote) return at;
  }
  return text.length;
}

/**
 * The text that curl --trace and --trace-ascii show as sent: lines with offsets, the bytes in hex
 * or as ASCII.
 */
function undump(text: string): string {
  let sent = '';
  let isSent = false;
  let bytes: number[] = [];
  let end = 0;
  const finish = () => {
    sent += Buffer.from(bytes).toString();
    if (end > 0) sent += '\n';
    [bytes, end] = [[], 0];
  };
  for (const line of text.split(/\r?\n/, maxLines)) {
    const [, offset, content = ''] = /^([\da-f]{4,8}): (.*)$/.exec(line) ?? [];
    if (offset === undefined) {
      finish();
      isSent = /^(?:[\d:.]{8,15} )?=> Send (?:header|data)/.test(line);
    } else if (isSent) {
      const hex = content.slice(0, 48).trimEnd();
      if (/^[\da-f]{2}(?: [\da-f]{2})*$/.test(hex) && (content.length > 48 || bytes.length > 0)) {
        bytes.push(...hex.split(' ').map((pair) => Number.parseInt(pair, 16)));
      } else {
        const at = Number.parseInt(offset, 16);
        if (at > end) sent += '\n';
        sent += content;
        end = at + content.length;
      }
    }
  }
  finish();
  return sent;
}

interface HttpOptions {
  readonly scheme?: string | undefined;
  /** Whether a target without a host is refused, not left as a path. */
  readonly needsHost?: boolean;
}

const requestLine = /^([A-Z]+) +(\S+)(?: +HTTP\/[\d.]+)?\s*$/i;

/** Files of editors have variables, whose values may be anywhere. */
const noVariables = new Variables();

/**
 * Reads the lines of an HTTP request: request line, headers, an empty line, body. A line break at
 * the end of the text belongs to the file, not the body. A target without a scheme is of `scheme`;
 * by default http for a loopback host, else https.
 *
 * @throws SampleError for an invalid header, or a target without a host
 */
function readHttpText(
  lines: readonly string[],
  { scheme, needsHost = true }: HttpOptions = {},
): CapturedRequest {
  const end = lines.findIndex((line) => line.trim() === '');
  const [first = '', ...head] = lines.slice(0, end < 0 ? lines.length : end);
  const rest = end < 0 ? '' : lines.slice(end + 1).join('\n');
  // Editors write a form on several lines.
  const isForm = /^[\w.[\]%-]{1,200}=/.test(rest);
  const given = rest.endsWith('\r') ? rest.slice(0, -1) : rest;
  const body = isForm ? given.replace(/\r?\n[ \t]{0,8}(?=&[\w.[\]%-]{1,200}=)/g, '') : given;
  const headers = head.map((line, index) => readHeader(line.trimEnd(), index + 2));
  const [, verb = '', target = ''] = requestLine.exec(first.trimEnd()) ?? [];
  const host = headerValue(headers, 'host');
  const isWhole = /^[a-z][a-z\d+.-]*:\/\//i.test(target);
  if (!isWhole && host === undefined && needsHost) {
    throw new SampleError(
      'the HTTP request has no Host header',
      'Add a line such as Host: api.example.com.',
    );
  }
  return {
    method: verb.toUpperCase(),
    url: isWhole || host === undefined ? target : originOf(host, scheme) + target,
    headers,
    body: body === '' ? null : body,
  };
}

function readHeader(line: string, number: number): Header {
  const at = line.indexOf(':');
  const name = line.slice(0, Math.max(0, at)).trimEnd();
  if (name !== '' && !/\s/.test(name)) return [name, line.slice(at + 1).trimStart()];
  throw new SampleError(
    `line ${number} of the HTTP request is not a header`,
    'Headers are name: value; an empty line ends them.',
  );
}
