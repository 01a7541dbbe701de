import {
  type CapturedRequest,
  type Header,
  SampleError,
  withQuery,
  withScheme,
  withType,
} from './captured-request.js';
import { commandsIn, promptOnly, splitCommand } from './command-words.js';
import { joinPairs } from './json-value.js';
import { foundAll, type SampleFormat } from './sample-format.js';

/** HTTPie, and xh, which takes the same command line. */
export const httpie: SampleFormat = {
  name: 'an HTTPie command',
  from: 'http, https, xh',
  find: ({ text }) => foundAll('command', commandsIn(text, 'https?|xhs?', promptOnly), readHttpie),
};

/** Options whose value is the next word. */
const withValue =
  /^(?:-[apAso]|--(?:auth|auth-type|print|style|output|session|session-read-only|proxy|timeout|verify|cert|cert-key|pretty|raw|boundary))$/;

/** A backslash escapes a separator in a name. */
const item = /^((?:\\[\s\S]|[^\\])*?)(:=@|==@|=@|:=|==|:|=|@|;$)([\s\S]*)$/;

function readHttpie(command: string): CapturedRequest {
  const words = splitCommand(command);
  const options: string[] = [];
  const given: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (!word.startsWith('-')) given.push(word);
    else {
      options.push(word);
      if (withValue.test(word)) at += 1;
    }
  }
  if (options.some((option) => /^--raw\b/.test(option)) || options.includes('--multipart')) {
    throw new SampleError('the body of --raw and --multipart of HTTPie cannot be read');
  }
  const isMethod =
    /^[A-Za-z]+$/.test(given[0] ?? '') && given.length > 1 && !/^localhost$/i.test(given[0] ?? '');
  const [address, ...items] = isMethod ? given.slice(1) : given;
  if (address === undefined) throw new SampleError('the HTTPie command has no URL');
  const headers: Header[] = [];
  const query: Header[] = [];
  const data: (readonly [name: string, json: string])[] = [];
  for (const text of items) {
    const [, name = '', separator, value = ''] = item.exec(text) ?? [];
    const key = name.replace(/\\([\s\S])/g, '$1');
    if (separator === ':' && value !== '') headers.push([key, value]);
    else if (separator === '==') query.push([key, value]);
    else if (separator === '=') data.push([key, JSON.stringify(value)]);
    else if (separator === ':=') data.push([key, value]);
    else if (separator?.endsWith('@')) {
      throw new SampleError('the HTTPie command takes a value from a file', 'Put the value itself there.');
    }
  }
  const isForm = options.some((option) => option === '--form' || /^-\w*f/.test(option));
  const body = data.length === 0 ? null : isForm ? formOf(data) : jsonOf(data, command.startsWith('xh'));
  const secure = /^(?:https|xhs)(?=[\s.])/.test(command);
  const url = absolute(address, secure ? 'https' : 'http');
  const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
  return {
    method: isMethod ? (given[0] ?? '').toUpperCase() : body === null ? 'GET' : 'POST',
    url: withQuery(url, joinPairs(query)),
    headers: withType(body === null ? null : type, headers),
    body,
  };
}

/** `:8080/x` is of this machine. */
function absolute(address: string, scheme: string): string {
  return withScheme(address.replace(/^:(?=\d)/, 'localhost:').replace(/^:(?=\/|$)/, 'localhost'), scheme);
}

function formOf(data: readonly (readonly [string, string])[]): string {
  return joinPairs(data.map(([name, json]) => [name, json.startsWith('"') ? JSON.parse(json) : json]));
}

/** HTTPie writes JSON as Python does, xh without spaces and escapes. */
function jsonOf(data: readonly (readonly [string, string])[], isXh: boolean): string {
  const [comma, colon] = isXh ? [',', ':'] : [', ', ': '];
  const text = `{${data.map(([name, json]) => `${JSON.stringify(name)}${colon}${json}`).join(comma)}}`;
  if (isXh) return text;
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
