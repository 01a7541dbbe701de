import { type CapturedRequest, SampleError, withQuery, withType } from './captured-request.js';
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
import type { FoundRequest, SampleFormat } from './sample-format.js';

const hint = 'In Insomnia take "Generate Client Code", cURL: it has the values. Or export as HAR.';

/** An export of Insomnia, format 4: a flat list of requests and environments. */
export const insomnia: SampleFormat = {
  name: 'an Insomnia export',
  from: 'Insomnia, export as v4 (JSON)',
  find({ text, json }) {
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
      .map((request) => ({
        place: `request ${JSON.stringify(asText(request.name) ?? '')}`,
        read: () => readRequest(request, replace),
      }));
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
  const url = asText(request.url);
  if (!url) throw new SampleError('the Insomnia request has no URL');
  const { mimeType, text, params } = asObject(request.body) ?? {};
  if (mimeType === 'multipart/form-data') {
    throw new SampleError(
      'the body of the Insomnia request has several parts',
      'Write the request as a sample file, with the text of its parameters.',
    );
  }
  return {
    method: asText(request.method) ?? 'GET',
    url: withQuery(replace(url), joinPairs(namedValues(request.parameters, replace))),
    headers: withType(asText(mimeType), namedValues(request.headers, replace)),
    body: typeof text === 'string' ? replace(text) : joinPairs(namedValues(params, replace)) || null,
  };
}
