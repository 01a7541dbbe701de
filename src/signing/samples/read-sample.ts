import type { SignableRequest } from '../request.js';
import type { Sample } from '../sample.js';
import { toSignable } from './captured-request.js';
import { isCurl, readCurl } from './curl.js';
import { isHttpText, readHttpText } from './http-text.js';
import { SampleError } from './sample-error.js';
import { readSampleFile } from './sample-file.js';
import { defaultSignParam, takeSignature } from './take-signature.js';

export interface ReadSampleOptions {
  /** The parameter that carries the signature; the sample file's own, else `sign`, unless given. */
  readonly signParam?: string | undefined;
}

/**
 * Reads a request: a sample file (JSON), a URL, a curl command or an HTTP request as text.
 *
 * @throws SampleError for a text that is none of these, or that has a part which cannot be read
 */
export function readSample(text: string, { signParam }: ReadSampleOptions = {}): Sample {
  const given = text.replace(/^[\ufeff\s]+/, '');
  if (given.startsWith('{')) return readSampleFile(given, signParam);
  return { ...takeSignature(readRequest(given), signParam ?? defaultSignParam), secret: null };
}

function readRequest(text: string): SignableRequest {
  if (isCurl(text)) return toSignable(readCurl(text));
  if (isHttpText(text)) return toSignable(readHttpText(text));
  const url = text.trim().replace(/^(['"])(.*)\1$/s, '$2');
  if (/^[a-z][a-z\d+.-]*:\/\/\S+$/i.test(url)) {
    return toSignable({ method: 'GET', url, body: null, contentType: null });
  }
  throw new SampleError(
    text === '' ? 'the request is empty' : 'this is no request that can be read',
    'Give a URL, a curl command, an HTTP request as text, or a sample file (JSON).',
  );
}
