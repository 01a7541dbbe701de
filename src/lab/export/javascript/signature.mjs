// HEADER
import { createHash, createHmac, randomBytes } from 'node:crypto';

/**
 * Method, URL and body of an operation, `read` or `passback`, as they are sent. query: from tenant_code
 * on; random and timestamp where they are not to be new. fields: those of the form of a passback. Both
 * are objects, or [name, value] pairs.
 */
export function signedRequest({ operation, baseUrl, query, fields = [] }, secret) {
  const [method, endpoint] = {
    read: ['GET', '/api/v1/server/user/user_info_for_third'],
    passback: ['PUT', '/api/v1/server/user/passback_user_info'],
  }[operation];
  const signed = pairsOf(query);
  const lacks = (name) => signed.every(([known]) => known !== name);
  if (lacks('random')) signed.push(['random', randomBytes(8).toString('hex')]);
  if (lacks('timestamp')) signed.push(['timestamp', String(Math.floor(Date.now() / 1000))]);
  const others = pairsOf(fields);
  const body = others.length > 0 ? encodePairs(others) : null;
  for (const [name, rule] of Object.entries({ app_sign: appSign, sign })) {
    const url = `${baseUrl}${endpoint}?${encodePairs(signed)}`;
    signed.push([name, rule({ method, url, params: [...signed, ...others], body }, secret)]);
  }
  return { method, url: `${baseUrl}${endpoint}?${encodePairs(signed)}`, body };
}

/** params: an object or [name, value] pairs, decoded, in the order of the request, without sign. */
export function sign({ method, url, params, body }, secret) {
  // RULE
  const pair = (name, value) => `${name}=${value}`;
  const pairs = sortBy(pairsOf(params), pair);
  const message = method + path(url) + joinPairs(pairs, '&', pair) + textOf(body);
  return toHex(keyedDigest('sha256', utf8(secret), utf8(message)));
}

// In place of appSign where a rule has one signature.
export const appSign = sign;

function encodePairs(pairs) {
  return pairs.map((pair) => pair.map(rfc3986).join('=')).join('&');
}

function pairsOf(params) {
  const pairs = Symbol.iterator in params ? [...params] : Object.entries(params);
  return pairs.map(([name, value]) => [name, String(value)]);
}

function upperNames(pairs) {
  return pairs.map(([name, value]) => [upper(name), value]);
}

function only(pairs, names) {
  return pairs.filter(([name]) => names.includes(name));
}

function without(pairs, names) {
  return pairs.filter(([name]) => !names.includes(name));
}

/** The fields of a form; those of the query where there is no form. */
function formOrQuery(pairs, names) {
  const fields = only(pairs, names);
  return fields.length > 0 ? fields : pairs;
}

function reversedPairs(pairs) {
  return pairs.toReversed();
}

function dropEmpty(pairs) {
  return pairs.filter(([, value]) => value !== '');
}

function withPair(pairs, name, value) {
  return [...pairs, [name, value]];
}

/** The pairs of these names, in their order. */
function inOrder(pairs, names) {
  const named = pairs.filter(([name]) => names.includes(name));
  return named.sort(([a], [b]) => names.indexOf(a) - names.indexOf(b));
}

/** Sorts by UTF-16 code unit. */
function sortBy(pairs, key) {
  return [...pairs].sort((a, b) => {
    const [one, other] = [key(...a), key(...b)];
    return one < other ? -1 : Number(one > other);
  });
}

function joinPairs(pairs, separator, write) {
  return pairs.map((pair) => write(...pair)).join(separator);
}

/** The first parameter of this name. */
function param(params, wanted) {
  const found = pairsOf(params).find(([name]) => name === wanted);
  if (found === undefined) throw new Error(`the parameter ${wanted} is missing`);
  return found[1];
}

function textOf(body) {
  return body ?? '';
}

function queryOf(url) {
  return url.split('?').slice(1).join('?');
}

function withoutQuery(url) {
  return url.split('?')[0];
}

function host(url) {
  return /^[a-z][a-z\d+.-]*:\/\/([^/]*)/i.exec(url)?.[1] ?? '';
}

function path(url) {
  const found = /^[a-z][a-z\d+.-]*:\/\/[^/]*(.*)$/is.exec(url);
  return found === null ? url : found[1] || '/';
}

function fromSegment(text, segment) {
  return text.slice(Math.max(0, text.indexOf(segment)));
}

function upper(text) {
  return text.toUpperCase();
}

function lower(text) {
  return text.toLowerCase();
}

function cut(text, start, end) {
  return text.slice(start, end);
}

function percent(character) {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

function form(text) {
  const escaped = encodeURIComponent(text.toWellFormed()).replace(/[!'()~]/g, percent);
  return escaped.replaceAll('%20', '+');
}

function formPhp(text) {
  return form(text).replaceAll('*', '%2A');
}

function formPython(text) {
  return rfc3986(text).replaceAll('%20', '+');
}

function formDotnet(text) {
  const escaped = encodeURIComponent(text.toWellFormed()).replace(/['~]/g, percent);
  return escaped.replace(/%../g, (found) => found.toLowerCase()).replaceAll('%20', '+');
}

function rfc3986(text) {
  return encodeURIComponent(text.toWellFormed()).replace(/[!'()*]/g, percent);
}

function javascript(text) {
  return encodeURIComponent(text.toWellFormed());
}

function utf8(text) {
  return Buffer.from(text);
}

function concat(parts) {
  return Buffer.concat(parts);
}

function fromHex(text) {
  if (!/^(?:[\da-f]{2})*$/i.test(text)) throw new Error('the key is not hex');
  return Buffer.from(text, 'hex');
}

function fromBase64(text) {
  if (!/^(?:[\w+/-]{4})*(?:[\w+/-]{2,3})?={0,2}$/.test(text))
    throw new Error('the key is not base64');
  return Buffer.from(text, 'base64');
}

function digest(algorithm, data) {
  return createHash(algorithm).update(data).digest();
}

function keyedDigest(algorithm, key, data) {
  return createHmac(algorithm, key).update(data).digest();
}

function toHex(data) {
  return data.toString('hex');
}

function toBase64(data) {
  return data.toString('base64');
}

function toBase64url(data) {
  return data.toString('base64url');
}

// What the rule above does not use.
export const helpers = [
  upperNames,
  only,
  without,
  formOrQuery,
  reversedPairs,
  dropEmpty,
  withPair,
  inOrder,
  param,
  queryOf,
  withoutQuery,
  host,
  fromSegment,
  lower,
  cut,
  form,
  formPhp,
  formPython,
  formDotnet,
  rfc3986,
  javascript,
  concat,
  fromHex,
  fromBase64,
  digest,
  toBase64,
  toBase64url,
];
