import { jsonMembers, valueText } from './json-members.js';
import { joinPairs } from './json-value.js';
import { found, type SampleFormat } from './sample-format.js';

/** The parameters alone, as an application has them before it sends them. */
export const jsonParameters: SampleFormat = {
  name: 'a JSON object of the parameters',
  from: '{"app_key": "…", "sign": "…"}',
  find({ text, json, signParam }) {
    if (typeof json !== 'object' || json === null || !Object.hasOwn(json, signParam)) return [];
    const pairs = jsonMembers(text)?.map(({ name, json: value }) => [name, valueText(value)] as const) ?? [];
    const read = () => ({ method: 'GET', url: `?${joinPairs(pairs)}`, headers: [], body: null });
    return [found('without method, host and path', signParam, read)];
  },
};
