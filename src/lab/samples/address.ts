import { methodOf, originOf } from './captured-request.js';
import type { SampleFormat } from './sample-format.js';

/** Characters that people put around an address: quotes of any kind, angle brackets. */
const marks = /^["'`<“”„‘’«]|["'`>“”‘’»]$/g;

export const address: SampleFormat = {
  name: 'a URL',
  from: 'whole, a path with its query, or the query alone',
  find({ text }) {
    const line = text.trim().replace(marks, '').trim();
    const url = urlOf(line);
    if (url === null) return [];
    const read = () => ({ method: methodOf(url), url, headers: [], body: null });
    return [{ place: /^\w+:\/\//.test(line) ? null : 'a part of a URL', read }];
  },
};

/** A URL, also without its scheme or its host; null for another text. */
function urlOf(line: string): string | null {
  if (line.length === 0 || /[\r\n]/.test(line)) return null;
  if (/^[a-z][a-z\d+.-]*:\/\/\S+$/i.test(line) || /^\/[^\s?]*\?\S+$/.test(line)) return line;
  if (/^[\w-]+\.[\w.-]+(?::\d+)?\/[^\s?]*\?\S+$/.test(line)) return originOf(line);
  const query = line.replace(/^\?/, '');
  const pairs = query.split('&');
  const isQuery = pairs.every((pair) => /^[\w.[\]%-]+=\S*$/.test(pair));
  return pairs.length > 1 && isQuery ? `?${query}` : null;
}
