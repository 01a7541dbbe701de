import { algorithms, digestText } from './digests.js';
import { encoders } from './encodings.js';
import type { TextChange } from './ink.js';
import { folds } from './letter-case.js';

/** The modifiers of a token, `$secret.md5`, by name. */
export const modifiers: ReadonlyMap<string, TextChange> = new Map([
  ...algorithms.flatMap((algorithm) => [
    whole(algorithm, (text) => digestText(algorithm, text, 'hex')),
    whole(`${algorithm}:hex`, (text) => digestText(algorithm, text, 'hex')),
    whole(`${algorithm}:HEX`, (text) => digestText(algorithm, text, 'HEX')),
    whole(`${algorithm}:base64`, (text) => digestText(algorithm, text, 'base64')),
  ]),
  whole('MD5', (text) => digestText('md5', text, 'HEX')),
  whole('base64', encoders.base64),
  local('upper', folds.upper),
  local('lower', folds.lower),
  local('form', encoders.form),
  local('form-dotnet', encoders['form-dotnet']),
  local('rfc3986', encoders.rfc3986),
]);

function whole(name: string, apply: TextChange['apply']): [string, TextChange] {
  return [name, { apply, local: false }];
}

function local(name: string, apply: TextChange['apply']): [string, TextChange] {
  return [name, { apply, local: true }];
}
