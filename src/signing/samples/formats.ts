import { address } from './address.js';
import { charles } from './charles.js';
import { curl } from './curl.js';
import { fetchCall } from './fetch.js';
import { har } from './har.js';
import { httpFile } from './http-file.js';
import { httpText } from './http-text.js';
import { httpie } from './httpie.js';
import { insomnia } from './insomnia.js';
import { jsonLog } from './json-log.js';
import { jsonParameters } from './json-parameters.js';
import { postman } from './postman.js';
import { powerShell } from './powershell.js';
import { sampleFile } from './sample-file.js';
import type { SampleFormat } from './sample-format.js';
import { textLog } from './text-log.js';
import { curlTrace, okHttpLog } from './trace.js';
import { wget } from './wget.js';

/** The formats of requests, in the order in which they are tried. Hint, help and documentation follow from it. */
export const sampleFormats: readonly SampleFormat[] = [
  har,
  charles,
  postman,
  insomnia,
  sampleFile,
  jsonParameters,
  jsonLog,
  fetchCall,
  powerShell,
  curl,
  wget,
  httpie,
  httpFile,
  httpText,
  curlTrace,
  okHttpLog,
  address,
  textLog,
];
