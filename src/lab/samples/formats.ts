import { address } from './address.js';
import { curl } from './curl.js';
import { har } from './har.js';
import { httpText } from './http-text.js';
import { logLine } from './log-line.js';
import { postman } from './postman.js';
import { sampleFile } from './sample-file.js';
import type { SampleFormat } from './sample-format.js';

/**
 * The formats of requests, in the order in which they are tried. Hint, help and documentation
 * follow from it.
 */
export const sampleFormats: readonly SampleFormat[] = [
  address,
  har,
  postman,
  sampleFile,
  curl,
  httpText,
  logLine,
];
