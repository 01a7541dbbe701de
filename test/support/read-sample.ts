import type { Sample } from '../../src/lab/samples/captured-request.js';
import { readSamples } from '../../src/lab/samples/read-sample.js';

/** The only request of a text. */
export function readSample(text: string, options?: Parameters<typeof readSamples>[1]): Sample {
  const [sample, ...others] = readSamples(text, options).samples;
  if (sample === undefined || others.length > 0) throw new Error('one request is needed');
  return sample;
}
