import { decodePercent, encodePairs } from '../../core/support/percent-encoding.js';
import { type CapturedRequest, type Header, headerValue, SampleError } from './captured-request.js';
import {
  asNumber,
  asObject,
  asObjects,
  asText,
  namedValues,
  type UnknownObject,
} from './json-members.js';
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
      return [
        {
          location: `entry ${index + 1}`,
          status: asNumber(asObject(response)?.status),
          read: () => requestOf(sent, url),
        },
      ];
    });
  },
};

/** @throws SampleError for a body of several parts */
function requestOf(sent: UnknownObject, url: string): CapturedRequest {
  const postData = asObject(sent.postData);
  return {
    method: asText(sent.method)?.toUpperCase() ?? 'GET',
    url,
    headers: headersOf(sent, postData),
    body: bodyOf(postData),
  };
}

/** The headers of a request; the media type of its body is among them, wherever the tool has it. */
function headersOf(sent: UnknownObject, postData: UnknownObject | null): readonly Header[] {
  const headers = namedValues(sent.headers);
  const type = asText(postData?.mimeType);
  if (type === null || headerValue(headers, 'content-type') !== undefined) return headers;
  return [['Content-Type', type], ...headers];
}

/**
 * The text of a form; where a tool left that out, its fields.
 *
 * @throws SampleError for a body of several parts
 */
function bodyOf(postData: UnknownObject | null): string | null {
  if (postData === null) return null;
  if (asText(postData.mimeType)?.startsWith('multipart/')) {
    throw new SampleError(
      'a body of several parts cannot be read',
      'A passback sends a form (§4.2).',
    );
  }
  const text = asText(postData.text);
  if (text) return text;
  const fields = namedValues(postData.params);
  if (fields.length === 0) return null;
  return encodePairs(fields.map(([name, value]) => [decodeField(name), decodeField(value)]));
}

/**
 * The name or the value of a field, decoded. Chrome saves fields as they are sent, other programs
 * decoded. An encoded text has neither a space nor a character beyond ASCII.
 */
function decodeField(text: string): string {
  const isEncoded = /^[!-~]*$/.test(text) && /%[\da-f]{2}/i.test(text);
  if (!isEncoded) return text;
  return decodePercent(text.replaceAll('+', ' '));
}
