import { SampleError } from './sample-error.js';

/**
 * A URL in pieces: an escaped mark, an IPv6 address, alternatives, a range, any other character.
 */
const pieces =
  /\\(?<mark>[[\]{}])|(?<address>\[[\da-f]*:[\da-f.]*:[\da-f:.]*(?:%[^\]]*)?\])|\{(?<set>(?:\\[\s\S]|[^{}[\]\\])+)\}|\[(?<from>\d+|[a-z])-(?<to>\d+|[a-z])\]|(?<other>[\s\S])/gi;

/**
 * The URL that curl requests without `--globoff`: `{a,b}` and `[1-3]` are patterns there, and a
 * backslash before one of their marks takes it as it is.
 *
 * @throws SampleError for a pattern of several URLs, and for one that curl refuses
 */
export function globbedUrl(url: string): string {
  let text = '';
  for (const { groups = {} } of url.matchAll(pieces)) {
    const { mark, address, set, from, to, other } = groups;
    if (set !== undefined) text += onlyAlternative(set);
    else if (from !== undefined && to !== undefined) text += onlyInRange(from, to);
    else if (other !== undefined && /[[\]{}]/.test(other)) {
      throw new SampleError(`curl refuses the ${other} in the URL`, howToWrite);
    } else text += mark ?? address ?? other ?? '';
  }
  return text;
}

const howToWrite =
  'curl takes [ ] and { } in a URL for a pattern: use --globoff, or write \\ before each.';

function onlyAlternative(set: string): string {
  const [first = '', ...others] = set.split(/(?<!\\),/);
  if (others.length > 0) throw severalUrls();
  return first.replace(/\\([\s\S])/g, '$1');
}

function onlyInRange(from: string, to: string): string {
  if (from !== to) throw severalUrls();
  return from;
}

function severalUrls(): SampleError {
  return new SampleError('the URL of the curl command stands for several requests', howToWrite);
}
