import { straightenQuotes } from './command-words.js';
import type { SampleFormat } from './sample-format.js';

/** Characters that people put around an address: quotes of any kind, angle brackets. */
const wrapped = /^(?:"(.*)"|'(.*)'|`(.*)`|<(.*)>|[“”„](.*)[“”]|[‘’](.*)[‘’]|«(.*)»)$/s;

export const address: SampleFormat = {
  name: 'a URL',
  from: 'whole, a path with its query, or the query alone',
  find({ text }) {
    const line = unwrap(straightenQuotes(text.trim()));
    const url = urlOf(line);
    if (url === null) return [];
    const read = () => ({ method: 'GET', url, headers: [], body: null });
    return [{ place: /^\w+:\/\//.test(line) ? null : 'a part of a URL', read }];
  },
};

function unwrap(text: string): string {
  const inner = wrapped
    .exec(text)
    ?.slice(1)
    .find((group) => group !== undefined);
  return inner === undefined ? text : inner.trim();
}

/** A URL, also without its scheme or its host; a query of raw text may have spaces. */
function urlOf(line: string): string | null {
  if (line.length === 0 || /[\r\n]/.test(line)) return null;
  if (/^[a-z][a-z\d+.-]*:\/\/\S+$/i.test(line) || /^\/[^\s?]*\?\S+$/.test(line)) return line;
  if (/^[\w-]+(?:\.[\w-]+)+(?::\d+)?\/[^\s?]*\?\S+$/.test(line)) return `https://${line}`;
  const query = line.replace(/^\?/, '');
  const pairs = query.split('&');
  return pairs.length > 1 && pairs.every((pair) => /^[\w.[\]%-]+=/.test(pair)) ? `?${query}` : null;
}
