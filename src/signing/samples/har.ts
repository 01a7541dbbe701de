import { type CapturedRequest, SampleError } from './captured-request.js';
import { asObject, asObjects, asText, joinPairs, namedValues, type UnknownObject } from './json-value.js';
import { found, type SampleFormat } from './sample-format.js';

/** HTTP Archive 1.2: what browsers and debugging proxies save. */
export const har: SampleFormat = {
  name: 'a HAR file',
  from: 'Chrome, Firefox, Safari, Charles, Fiddler, Insomnia, mitmproxy',
  find({ json, signParam }) {
    const { entries } = asObject(asObject(json)?.log) ?? {};
    return asObjects(entries).flatMap((entry, index) => {
      const request = asObject(entry.request);
      return request === null ? [] : [found(`entry ${index + 1}`, signParam, () => readRequest(request))];
    });
  },
};

function readRequest(request: UnknownObject): CapturedRequest {
  const { method, url } = request;
  if (typeof method !== 'string' || typeof url !== 'string') {
    throw new SampleError('the HAR entry has no method or no URL');
  }
  const post = asObject(request.postData);
  const headers = namedValues(request.headers);
  const type = asText(post?.mimeType);
  const isTyped = headers.some(([name]) => name.toLowerCase() === 'content-type');
  return {
    method: method.toUpperCase(),
    url,
    headers: isTyped || !type ? headers : [...headers, ['Content-Type', type]],
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
  if (!/%[\da-f]{2}/i.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
