import { decodePercent, encodePairs } from '../../core/support/percent-encoding.js';
import { type CapturedRequest, headerValue } from './captured-request.js';
import { asObject, asObjects, asText, namedValues, type UnknownObject } from './json-members.js';
import { SampleError } from './sample-error.js';
import type { FoundRequest, SampleFormat } from './sample-format.js';

export const har: SampleFormat = {
  name: 'a HAR file',
  from: 'the network panel of a browser, Charles, mitmproxy, Proxyman',
  find({ json }) {
    const entries = asObjects(asObject(asObject(json)?.log)?.entries);
    return entries.flatMap(({ request, response }, index): FoundRequest[] => {
      const sent = asObject(request);
      const url = asText(sent?.url);
      if (sent === null || url === null) return [];
      const status = asObject(response)?.status;
      return [
        {
          place: `entry ${index + 1}`,
          status: typeof status === 'number' ? status : undefined,
          read: () => requestOf(sent, url),
        },
      ];
    });
  },
};

function requestOf(sent: UnknownObject, url: string): CapturedRequest {
  const headers = namedValues(sent.headers);
  const form = asObject(sent.postData);
  const body = form === null ? null : bodyOf(form);
  const type = asText(form?.mimeType);
  const isTyped = headerValue(headers, 'content-type') !== undefined || type === null;
  return {
    method: asText(sent.method)?.toUpperCase() ?? 'GET',
    url,
    headers: isTyped ? headers : [['Content-Type', type], ...headers],
    body,
  };
}

/** The text of a form; where a tool left that out, its fields. */
function bodyOf(form: UnknownObject): string | null {
  if (asText(form.mimeType)?.startsWith('multipart/')) {
    throw new SampleError(
      'a body of several parts cannot be read',
      'A passback sends a form (§4.2).',
    );
  }
  const fields = namedValues(form.params);
  return (
    asText(form.text) ||
    (fields.length === 0
      ? null
      : encodePairs(fields.map((field) => field.map(decode) as [string, string])))
  );
}

/**
 * Chrome saves fields as they are sent, others decoded; an encoded text has neither a space nor one
 * beyond ASCII.
 */
function decode(text: string): string {
  const isEncoded = /^[!-~]*$/.test(text) && /%[\da-f]{2}/i.test(text);
  return isEncoded ? decodePercent(text.replaceAll('+', ' ')) : text;
}
