import { requestsInJson } from './json-log.js';
import { jsonValueOf } from './json-members.js';
import type { FoundRequest, SampleFormat } from './sample-format.js';
import { signedAddresses } from './signed-address.js';

/** Lines of any text that have a signed address, or the parameters of a signed request as JSON. */
export const textLog: SampleFormat = {
  name: 'lines of a log',
  from: 'nginx, Apache, mitmdump, applications; a URL in a sentence or in HTML',
  find({ text, signParam }) {
    const lines = text.split(/\r?\n/);
    return lines.flatMap((line, index): FoundRequest[] => {
      const requests = requestsInJson(jsonIn(line, signParam), signParam);
      const all = requests.length > 0 ? requests : signedAddresses(line, signParam);
      return all.map((request) => ({ place: `line ${index + 1}`, read: () => request }));
    });
  },
};

/** An object in a line, if it has the signature as a member. */
function jsonIn(line: string, signParam: string): unknown {
  if (!line.includes(`${JSON.stringify(signParam)}:`) && !/^\s*\{/.test(line)) return undefined;
  return jsonValueOf(line.slice(line.indexOf('{'), line.lastIndexOf('}') + 1));
}
