import { requestsInJson } from './json-log.js';
import { type FoundRequest, found, type SampleFormat } from './sample-format.js';
import { signedAddresses } from './signed-address.js';

/** Lines of any text that have a signed address, or the parameters of a signed request as JSON. */
export const textLog: SampleFormat = {
  name: 'lines of a log',
  from: 'nginx, Apache, mitmdump, applications; a URL in a sentence or in HTML',
  find({ text, signParam }) {
    const lines = text.split(/\r?\n/);
    return lines.flatMap((line, index): FoundRequest[] => {
      const place = `line ${index + 1}`;
      const json = jsonIn(line, signParam);
      const requests = json === null ? [] : requestsInJson(json, signParam);
      const all = requests.length > 0 ? requests : signedAddresses(line, signParam);
      return all.map((request) => found(place, signParam, () => request));
    });
  },
};

/** An object in a line, if it has the signature as a member. */
function jsonIn(line: string, signParam: string): unknown {
  if (!line.includes(`${JSON.stringify(signParam)}:`) && !/^\s*\{/.test(line)) return null;
  const json = line.slice(line.indexOf('{'), line.lastIndexOf('}') + 1);
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
