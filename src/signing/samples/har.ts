import { decodePercent } from '../encodings.js';
import { type CapturedRequest, SampleError, withType } from './captured-request.js';
import { asObject, asObjects, asText, joinPairs, namedValues, type UnknownObject } from './json-value.js';
import type { SampleFormat } from './sample-format.js';

/** HTTP Archive 1.2: what browsers and debugging proxies save. */
export const har: SampleFormat = {
  name: 'a HAR file',
  from: 'Chrome, Firefox, Safari, Charles, Fiddler, Insomnia, mitmproxy',
  find({ json }) {
    const { entries } = asObject(asObject(json)?.log) ?? {};
    return asObjects(entries).flatMap((entry, index) => {
      const request = asObject(entry.request);
      return request === null ? [] : [{ place: `entry ${index + 1}`, read: () => readRequest(request) }];
    });
  },
};

function readRequest(request: UnknownObject): CapturedRequest {
  const { method, url } = request;
  if (typeof method !== 'string' || typeof url !== 'string') {
    throw new SampleError('the HAR entry has no method or no URL');
  }
  const post = asObject(request.postData);
  return {
    method: method.toUpperCase(),
    url,
    headers: withType(asText(post?.mimeType), namedValues(request.headers)),
    body: post === null ? null : bodyOf(post),
  };
}

/** The text of a body; some tools save only the fields of a form. */
function bodyOf({ text, params }: UnknownObject): string | null {
  if (typeof text === 'string' && text !== '') return text;
  const fields = namedValues(params);
  return fields.length === 0 ? null : joinPairs(fields.map(([name, value]) => [decode(name), decode(value)]));
}

/** Chrome saves fields as they are sent, others decoded. */
function decode(text: string): string {
  return /%[\da-f]{2}/i.test(text) ? decodePercent(text.replaceAll('+', ' ')) : text;
}
