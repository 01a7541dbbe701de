import { type CapturedRequest, type Header, SampleError, withQuery } from './captured-request.js';
import {
  asObject,
  asObjects,
  asText,
  joinPairs,
  namedValues,
  replaceVariables,
  scalarText,
  type UnknownObject,
} from './json-value.js';
import { type FoundRequest, found, type SampleFormat } from './sample-format.js';

const hint = 'In Insomnia take "Generate Client Code", cURL: it has the values. Or export as HAR.';

/** An export of Insomnia, format 4: a flat list of requests and environments. */
export const insomnia: SampleFormat = {
  name: 'an Insomnia export',
  from: 'Insomnia, export as v4 (JSON)',
  find({ text, json, signParam }) {
    if (/^type:\s*collection\.insomnia/m.test(text.slice(0, 1000))) return [unreadable];
    const resources = asObject(json)?._type === 'export' ? asObjects(asObject(json)?.resources) : [];
    const variables = new Map<string, string>();
    for (const { _type, data } of resources) {
      if (_type !== 'environment') continue;
      for (const [name, value] of Object.entries(asObject(data) ?? {}))
        variables.set(name, scalarText(value));
    }
    const replace = (text: string) => replaceVariables(text, variables, hint);
    return resources
      .filter(({ _type }) => _type === 'request')
      .map((request) =>
        found(`request ${JSON.stringify(asText(request.name) ?? '')}`, signParam, () =>
          readRequest(request, replace),
        ),
      );
  },
};

const unreadable: FoundRequest = {
  place: null,
  read() {
    throw new SampleError(
      'an Insomnia export of version 5 cannot be read',
      'Export it as v4 (JSON) or HAR, or take "Generate Client Code", cURL.',
    );
  },
};

function readRequest(request: UnknownObject, replace: (text: string) => string): CapturedRequest {
  const pairs = (value: unknown) =>
    namedValues(value).map(([name, text]): Header => [replace(name), replace(text)]);
  const url = asText(request.url);
  if (!url) throw new SampleError('the Insomnia request has no URL');
  const { mimeType, text, params } = asObject(request.body) ?? {};
  if (mimeType === 'multipart/form-data') {
    throw new SampleError(
      'the body of the Insomnia request has several parts',
      'Write the request as a sample file, with the text of its parameters.',
    );
  }
  const headers = pairs(request.headers);
  const isTyped = headers.some(([name]) => name.toLowerCase() === 'content-type');
  return {
    method: asText(request.method) ?? 'GET',
    url: withQuery(replace(url), joinPairs(pairs(request.parameters))),
    headers: typeof mimeType === 'string' && !isTyped ? [['Content-Type', mimeType], ...headers] : headers,
    body: typeof text === 'string' ? replace(text) : joinPairs(pairs(params)) || null,
  };
}
