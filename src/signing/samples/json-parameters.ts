import { jsonPairs } from './json-members.js';
import { asObject, joinPairs } from './json-value.js';
import type { SampleFormat } from './sample-format.js';

/** The parameters alone, as an application has them before it sends them. */
export const jsonParameters: SampleFormat = {
  name: 'a JSON object of the parameters',
  from: '{"app_key": "…", "sign": "…"}',
  find({ text, json, signParam }) {
    if (!Object.hasOwn(asObject(json) ?? {}, signParam)) return [];
    const url = `?${joinPairs(jsonPairs(text))}`;
    const read = () => ({ method: 'GET', url, headers: [], body: null });
    return [{ place: 'without method, host and path', read }];
  },
};
