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
    const location = /^\w+:\/\//.test(line) ? null : 'a part of a URL';
    const read = () => ({ method: methodOf(url), url, headers: [], body: null });
    return [{ location, read }];
  },
};

/** A URL, also without its scheme or its host; null for another text. */
function urlOf(line: string): string | null {
  if (line.length === 0 || /[\r\n]/.test(line)) return null;
  if (/^[a-z][a-z\d+.-]*:\/\/\S+$/i.test(line) || /^\/[^\s?]*\?\S+$/.test(line)) return line;
  if (/^[\w-]+\.[\w.-]+(?::\d+)?\/[^\s?]*\?\S+$/.test(line)) return originOf(line);
  const query = line.replace(/^\?/, '');
  if (!isQuery(query)) return null;
  return `?${query}`;
}

/** Whether a text is a query of two pairs or more; a single one may be anything. */
function isQuery(text: string): boolean {
  const pairs = text.split('&');
  return pairs.length > 1 && pairs.every((pair) => /^[\w.[\]%-]+=\S*$/.test(pair));
}
