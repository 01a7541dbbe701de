import { type CapturedRequest, type Header, withQuery } from './captured-request.js';
import { asObject, asText, joinPairs, namedValues, scalarText } from './json-requests.js';
import { LiteralReader, plainValue } from './literal.js';
import { SampleError } from './sample-error.js';
import { foundAll, partsBehind, type SampleFormat } from './sample-format.js';

export const fetchCall: SampleFormat = {
  name: 'a fetch call',
  from: '"Copy as fetch" of browsers; axios.get, axios.post with constants',
  find: ({ text }) =>
    foundAll('call', partsBehind(/\b(?:fetch|axios\.(?=get|post))[ ]?(?=\(["'`]|get|post)/g, text), readCall),
};

function readCall(text: string): CapturedRequest {
  const [verb = ''] = /^(?:get|post)?/.exec(text) ?? [];
  const reader = new LiteralReader(text, verb.length);
  reader.takes('(');
  const url = asText(plainValue(reader.value()));
  if (url === null) throw new SampleError('the fetch call has no URL');
  const args: unknown[] = [];
  while (reader.takes(',') && !reader.takes(')')) args.push(plainValue(reader.value()));
  const data = verb === 'post' ? args.shift() : undefined;
  const { method, headers, body = data, params } = asObject(args[0]) ?? {};
  const isSent = body !== undefined && body !== null;
  const given = namedValues(headers);
  return {
    method: (asText(method) ?? (verb === 'post' ? 'POST' : 'GET')).toUpperCase(),
    url: withQuery(url, joinPairs(namedValues(params))),
    headers: given.map(([name, value]): Header => [name, scalarText(value)]),
    body: isSent ? scalarText(body) : null,
  };
}
