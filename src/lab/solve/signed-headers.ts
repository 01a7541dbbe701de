import type { Sample } from '../../core/signing/request.js';
import { roleOf } from './candidates/parameter-roles.js';

/**
 * Headers that clients, browsers and proxies add by themselves. No documented rule signs them,
 * except for the host, which a rule has as `$host`.
 */
export const addedHeaders = new RegExp(
  '^(?:' +
    ':.*|accept|accept-.*|alt-used|baggage|cache-control|cdn-loop|cf-.*|connection|' +
    'content-(?:encoding|length)|dnt|expect|forwarded|host|http2-settings|if-.*|keep-alive|max-forwards|' +
    'origin|postman-token|pragma|priority|proxy-.*|purpose|range|referer|save-data|sec-.*|te|traceparent|tracestate|' +
    'trailer|transfer-encoding|true-client-ip|upgrade|upgrade-insecure-requests|user-agent|via|x-amzn-trace-id|' +
    'x-b3-.*|x-client-data|x-cloud-trace-context|x-envoy-.*|x-forwarded-.*|x-http2-.*|x-real-ip|x-requested-with' +
    ')$',
  'i',
);

/** No documented rule signs these, either. */
const credentials = /^(?:authorization|cookie2?)$/i;

/** Maximum number of headers to propose: each makes the search longer. */
const most = 8;

/** Lower for a header that is more often signed. */
function rankOf(name: string): number {
  const lower = name.toLowerCase();
  if (lower === 'content-type') return 3;
  if (
    roleOf(lower.replace(/^x-/, '')) !== 'other' ||
    roleOf(lower.split('-').at(-1) ?? '') !== 'other'
  )
    return 0;
  return lower.startsWith('x-') ? 1 : 2;
}

/**
 * The extra values that a rule may sign: those that a sample file names, and of the headers those
 * that applications set, in the order of the request. `named` are those that a document names, in
 * any letter case: they are signed.
 */
export function proposedExtra(
  { extra, headers, body }: Sample,
  named: readonly string[],
): Readonly<Record<string, string>> {
  const isNamed = (name: string) =>
    named.some((other) => other.toLowerCase() === name.toLowerCase());
  const isSent = (name: string) => body !== null || !/^content-type$/i.test(name);
  const proposed = headers
    .filter((name) => !addedHeaders.test(name) && !credentials.test(name) && isSent(name))
    .sort((a, b) => rankOf(a) - rankOf(b))
    .slice(0, most);
  return Object.fromEntries(
    Object.entries(extra).filter(
      ([name]) => !headers.includes(name) || proposed.includes(name) || isNamed(name),
    ),
  );
}
