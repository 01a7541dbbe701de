import type { CapturedRequest } from './captured-request.js';
import { readHttpText } from './http-text.js';
import { SampleError } from './sample-error.js';
import type { SampleFormat } from './sample-format.js';
import { Variables } from './variables.js';

/** The requests of an editor: separated by `###`, with comments, variables and scripts. */
export const httpFile: SampleFormat = {
  name: 'an .http file',
  from: 'JetBrains HTTP Client, REST Client of VS Code, Visual Studio',
  find({ text }) {
    if (!marks.test(text)) return [];
    const lines = text.split(/\r?\n/);
    const values = new Map<string, string>();
    const variables = new Variables(values);
    const requests: { readonly line: number; readonly lines: string[] }[] = [];
    let isOpen = false;
    for (const [index, line] of lines.entries()) {
      const [, name, value = ''] = /^@([\w.-]+) *=(.*)$/s.exec(line) ?? [];
      if (line.startsWith('###')) isOpen = false;
      else if (!isOpen && name !== undefined) values.set(name, value.trim());
      else if (!isOpen && requestStart.test(line)) {
        requests.push({ line: index + 1, lines: [line] });
        isOpen = true;
      } else if (isOpen) requests.at(-1)?.lines.push(line);
      else if (!/^\s*(?:$|#|\/\/|[<>] |@)/.test(line)) return [];
    }
    return requests.map(({ line, lines: own }) => ({
      place: requests.length === 1 ? null : `line ${line}`,
      read: () => readRequest(own.map((part) => variables.fill(part))),
    }));
  },
};

/** Parts that are not text of an HTTP request: separators, comments, variables, queries on lines of their own. */
const marks = /^(?:###|@[\w.-]+ *=|#|\/\/|<> |> ?\{%)|\{\{|\n[ \t]+[?&]/m;
const requestStart = /^\s*(?:[A-Z]{3,7}\s+)?(?:https?:\/\/|\{\{|\/)\S*(?:\s+HTTP\/[\d.]+)?\s*$/;
/** Lines behind a request: a script, a file for the answer, an earlier answer. */
const behind = /^(?:> |>> |>>! |<> |> ?\{%|HTTP\/[\d.]+ \d{3})/;

function readRequest(given: readonly string[]): CapturedRequest {
  const end = given.findIndex((line) => behind.test(line));
  const lines = end < 0 ? given : given.slice(0, end);
  const [first = '', ...rest] = lines;
  const more = rest.findIndex((line) => !/^\s+[?&]/.test(line));
  const continued = more < 0 ? rest : rest.slice(0, more);
  const others = more < 0 ? [] : rest.slice(more);
  const line = first.trim() + continued.map((part) => part.trim()).join('');
  const empty = others.findIndex((part) => part.trim() === '');
  const head = (empty < 0 ? others : others.slice(0, empty)).filter((part) => !/^\s*(?:#|\/\/)/.test(part));
  const body = empty < 0 ? [] : joinForm(others.slice(empty));
  while (body.at(-1) === '') body.pop();
  if (body.some((part) => /^< \S/.test(part))) {
    throw new SampleError('the body of the request is in another file', 'Put the body itself there.');
  }
  return readHttpText([/^[A-Z]{3,7}\s/.test(line) ? line : `GET ${line}`, ...head, ...body]);
}

/** A form on several lines: each begins with its `&`. */
function joinForm(lines: readonly string[]): string[] {
  const joined: string[][] = [];
  for (const line of lines) {
    const last = /^\s*&[\w.[\]%-]+=/.test(line) ? joined.at(-1) : undefined;
    if (last === undefined) joined.push([line.trimEnd()]);
    else last.push(line.trim());
  }
  return joined.map((parts) => parts.join(''));
}
