import { type CapturedRequest, type Header, SampleError, withScheme } from './captured-request.js';
import { commandsIn, onlyUrl, optionsIn, optionsWithValue } from './command-words.js';
import { foundAll, type SampleFormat } from './sample-format.js';

/** Options with a value that may be a word of its own; `=` joins the others. */
const wgetOptions = optionsWithValue(
  'output-document:O output-file:o header post-data post-file method body-data body-file user-agent:U referer timeout:T ' +
    'tries:t wait:w user password execute:e directory-prefix:P load-cookies save-cookies ca-certificate certificate ' +
    'private-key secure-protocol bind-address limit-rate',
);

export const wget: SampleFormat = {
  name: 'a wget command',
  from: 'a shell',
  find: ({ text }) => foundAll('command', commandsIn(text, 'wget'), readWget),
};

function readWget(command: string): CapturedRequest {
  const options = optionsIn(command, wgetOptions);
  const valuesOf = (name: string) => options.flatMap(([known, value]) => (known === name ? [value] : []));
  const url = onlyUrl(options, 'wget');
  for (const name of ['post-file', 'body-file']) {
    if (valuesOf(name).length === 0) continue;
    throw new SampleError(`the body of --${name} is not in the command`, 'Put the body itself there.');
  }
  const body = valuesOf('post-data').at(-1) ?? valuesOf('body-data').at(-1) ?? null;
  return {
    method: valuesOf('method').at(-1)?.toUpperCase() ?? (body === null ? 'GET' : 'POST'),
    url: withScheme(url),
    headers: valuesOf('header').flatMap((text): Header[] => {
      const [, name, value = ''] = /^([^\s:]+):\s*(.*)$/s.exec(text) ?? [];
      return name === undefined ? [] : [[name, value]];
    }),
    body,
  };
}
