import { curl } from './curl.js';
import { httpText } from './http-text.js';
import { jsonRequests } from './json-requests.js';
import { address, logLines, parametersAlone } from './log-lines.js';
import { sampleFile } from './sample-file.js';
import type { SampleFormat } from './sample-format.js';

/**
 * The formats of requests, in the order in which they are tried. Hint, help and documentation
 * follow from it.
 */
export const sampleFormats: readonly SampleFormat[] = [
  sampleFile,
  parametersAlone,
  jsonRequests,
  curl,
  httpText,
  address,
  logLines,
];
