import type { CapturedRequest } from './captured-request.js';
import { asObject, asObjects, asText, namedValues, type UnknownObject } from './json-value.js';
import type { SampleFormat } from './sample-format.js';

/** A session of the debugging proxy Charles, saved as JSON: a list of transactions. */
export const charles: SampleFormat = {
  name: 'a Charles session (.chlsj)',
  from: 'Charles, "JSON Session File"',
  find({ json }) {
    return asObjects(json).flatMap((transaction, index) => {
      const isTransaction = typeof transaction.host === 'string' && typeof transaction.scheme === 'string';
      if (!isTransaction || asObject(transaction.request) === null) return [];
      return [{ place: `entry ${index + 1}`, read: () => readTransaction(transaction) }];
    });
  },
};

function readTransaction(transaction: UnknownObject): CapturedRequest {
  const { scheme, host, port, path, query } = transaction;
  const request = asObject(transaction.request);
  const shownPort = typeof port === 'number' ? `:${port}` : '';
  return {
    method: asText(transaction.method) ?? 'GET',
    url: `${scheme}://${host}${shownPort}${asText(path) ?? '/'}${query ? `?${query}` : ''}`,
    headers: namedValues(asObject(request?.header)?.headers),
    body: asText(asObject(request?.body)?.text),
  };
}
