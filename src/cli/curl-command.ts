// Apart from preview.ts: loaded only for --print-curl.
import { quoteWhereNeeded } from '../support/shell.js';

/** A request in the terms of curl; query and body are encoded. */
export interface CurlRequest {
  readonly method: string;
  readonly url: string;
  readonly contentType: string | null;
  readonly body: string | null;
}

/** A request as a curl command for a POSIX shell. `caFile` is the PEM file of the certificate authorities. */
export function formatCurl({ method, url, contentType, body }: CurlRequest, caFile: string | null): string {
  const lines = [
    ['curl', '--globoff', '--request', method], // a base URL may contain brackets
    ...(caFile === null ? [] : [['--cacert', caFile]]),
    ['--header', 'Accept: application/json'],
    ...(contentType === null ? [] : [['--header', `Content-Type: ${contentType}`]]),
    ...(body === null ? [] : [['--data-raw', body]]),
    ['--url', url],
  ];
  return lines.map((words) => words.map(quoteWhereNeeded).join(' ')).join(' \\\n  ');
}
