import { type CapturedRequest, type Header, SampleError, withType } from './captured-request.js';
import { straightenQuotes, unescapePowerShell } from './command-words.js';
import { foundAll, partsBehind, type SampleFormat } from './sample-format.js';

export const powerShell: SampleFormat = {
  name: 'a PowerShell command',
  from: '"Copy as PowerShell" of browsers; Invoke-WebRequest, Invoke-RestMethod',
  find: ({ text }) =>
    foundAll('command', partsBehind(start, text), (command) => readCommand(straightenQuotes(command))),
};

const start = /\b(?:Invoke-WebRequest|Invoke-RestMethod|iwr|irm)\s+(?=["'-]|https?:)/gi;

/** A text, a backtick before a line break, the end of the command, a mark, or a word. */
const part =
  /(?:[ \t]|`\r?\n)*(?:"((?:[^"`]|`[\s\S]|"")*)"|'((?:[^']|'')*)'|(\r?\n|;)|(@\{|[{}()=,|])|([^\s"'`{}()=,;|]+|[\s\S]))/y;

type Part = { readonly kind: 'text' | 'end' | 'mark' | 'word'; readonly text: string };

function* partsOf(command: string): Generator<Part> {
  for (let at = 0; at < command.length; at = part.lastIndex) {
    part.lastIndex = at;
    const [, double, single, end, mark, word] = part.exec(command) ?? [];
    const text = unescapePowerShell(double) ?? single?.replaceAll("''", "'");
    if (text !== undefined) yield { kind: 'text', text };
    else if (end !== undefined) yield { kind: 'end', text: end };
    else if (mark !== undefined) yield { kind: 'mark', text: mark };
    else if (word === undefined) return;
    else if (word === '"' || word === "'") throw new SampleError('a quote of the command is not closed');
    else yield { kind: 'word', text: word };
  }
}

function readCommand(command: string): CapturedRequest {
  const given = new Map<string, string[]>();
  let name = 'uri';
  let table = 0;
  for (const { kind, text } of partsOf(command)) {
    if (kind === 'end' && table === 0) break;
    if (kind === 'mark') table += text.endsWith('{') ? 1 : text === '}' ? -1 : 0;
    else if (kind === 'word' && /^-[A-Za-z]/.test(text) && table === 0) name = text.slice(1).toLowerCase();
    else if (kind === 'text' || (kind === 'word' && (table > 0 || /^https?:|^[A-Za-z]+$/.test(text)))) {
      const texts = given.get(name);
      if (texts === undefined) given.set(name, [text]);
      else texts.push(text);
    }
  }
  const [url] = given.get('uri') ?? [];
  if (url === undefined) throw new SampleError('the PowerShell command has no URL');
  const body = given.get('body')?.at(-1) ?? null;
  return {
    method: given.get('method')?.[0]?.toUpperCase() ?? 'GET',
    url,
    headers: withType(given.get('contenttype')?.[0], headersOf(given.get('headers'))),
    body,
  };
}

/** Chrome lists the parts of the request line among the headers. */
const requestLineParts = ['authority', 'method', 'path', 'scheme'];

function headersOf(texts: readonly string[] = []): Header[] {
  const pairs = texts.flatMap((name, index): Header[] =>
    index % 2 === 0 ? [[name, texts[index + 1] ?? '']] : [],
  );
  const names = pairs.map(([name]) => name);
  const isChrome = requestLineParts.every((known) => names.includes(known));
  return isChrome ? pairs.filter(([name]) => !requestLineParts.includes(name)) : pairs;
}
