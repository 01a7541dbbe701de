import { readHttpText } from './http-text.js';
import type { SampleFormat } from './sample-format.js';

/** Lines that curl marks as sent. */
const sentByCurl = /^> ?(.*)$/;

/** The output of `curl -v`: requests after `>`, without their bodies. */
export const curlTrace: SampleFormat = {
  name: 'the output of curl -v',
  from: 'curl --verbose',
  find({ text }) {
    const lines = text.split(/\r?\n/);
    const requests: string[][] = [];
    for (const [index, line] of lines.entries()) {
      const sent = sentByCurl.exec(line)?.[1];
      if (sent === undefined) continue;
      const isFirst = /^[A-Z]+ \S+ HTTP\/[\d.]+\s*$/.test(sent);
      if (isFirst) requests.push([]);
      else if (!sentByCurl.test(lines[index - 1] ?? '')) continue;
      requests.at(-1)?.push(sent);
    }
    const scheme = /^\* .*\b(?:TLS|SSL|ALPN)\b/m.test(text) ? 'https' : 'http';
    return requests.map((request, index) => ({
      place: `request ${index + 1}`,
      read: () => readHttpText(request, scheme),
    }));
  },
};

/** The log of OkHttp: `--> GET https://…`, headers, body, `--> END GET`. Each line may have the logger's prefix. */
export const okHttpLog: SampleFormat = {
  name: 'a log of OkHttp',
  from: 'HttpLoggingInterceptor, in logcat too',
  find({ text }) {
    const requests: { readonly line: number; readonly lines: string[] }[] = [];
    let prefix: string | null = null;
    for (const [index, line] of text.split(/\r?\n/).entries()) {
      const [, before, start] = /^(.*?)--> ([A-Z]+ https?:\/\/\S+)/.exec(line) ?? [];
      if (before !== undefined && start !== undefined) {
        prefix = before;
        requests.push({ line: index + 1, lines: [start] });
      } else if (prefix !== null && (/--> END\b/.test(line) || line.includes('<-- '))) {
        prefix = null;
      } else if (prefix !== null) {
        requests.at(-1)?.lines.push(withoutPrefix(line, prefix));
      }
    }
    return requests.map(({ line, lines }) => ({
      place: requests.length === 1 ? null : `line ${line}`,
      read: () => readHttpText(lines),
    }));
  },
};

/** The time in a prefix changes from line to line, its length and its end do not. */
function withoutPrefix(line: string, prefix: string): string {
  const end = prefix.slice(-4);
  return line.slice(0, prefix.length).endsWith(end) ? line.slice(prefix.length) : line;
}
