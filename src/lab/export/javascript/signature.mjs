// HEADER
import { createHash, createHmac, randomBytes } from 'node:crypto';

/**
 * The query with random, timestamp and both signatures; fields: those of a form, which are signed
 * too. Query and fields are objects, or [name, value] pairs.
 */
export function signedQuery({ method, url, query, fields = [], body = null, extra = {} }, secret) {
  const others = pairsOf(fields);
  const signed = pairsOf(query);
  signed.push(['random', randomBytes(8).toString('hex')]);
  signed.push(['timestamp', String(Math.floor(Date.now() / 1000))]);
  for (const [name, rule] of Object.entries({ app_sign: appSign, sign })) {
    signed.push([name, rule({ method, url, params: [...signed, ...others], body, extra }, secret)]);
  }
  return signed;
}

/** params: an object or [name, value] pairs, decoded, in the order of the request, without sign. */
export function sign({ method, url, params, body, extra }, secret) {
  // RULE
  const pair = (name, value) => `${name}=${value}`;
  const pairs = sortBy(pairsOf(params), pair);
  const message =
    method + path(url) + joinPairs(pairs, '&', pair) + textOf(body) + extraValue(extra, 'X-Nonce');
  return toHex(keyedDigest('sha256', utf8(secret), utf8(message)));
}

// In place of appSign where a rule has one signature.
export const appSign = sign;

function pairsOf(params) {
  const pairs = Symbol.iterator in params ? [...params] : Object.entries(params);
  return pairs.map(([name, value]) => [name, String(value)]);
}

function lowerNames(pairs) {
  return pairs.map(([name, value]) => [lower(name), value]);
}

function upperNames(pairs) {
  return pairs.map(([name, value]) => [upper(name), value]);
}

/** A pattern is a name, or its beginning and a star. */
function matches(name, patterns) {
  return patterns.some((pattern) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  );
}

function only(pairs, patterns) {
  return pairs.filter(([name]) => matches(name, patterns));
}

function without(pairs, patterns) {
  return pairs.filter(([name]) => !matches(name, patterns));
}

function reversedPairs(pairs) {
  return pairs.toReversed();
}

function dropEmpty(pairs) {
  return pairs.filter(([, value]) => value !== '');
}

/** Joins the values of a repeated name, at the place of the first. */
function joinRepeated(pairs, separator) {
  const values = new Map();
  for (const [name, value] of pairs) {
    values.set(name, values.has(name) ? values.get(name) + separator + value : value);
  }
  return [...values];
}

function withPair(pairs, name, value) {
  return [...pairs, [name, value]];
}

/** Adds a pair unless its value is empty. */
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

function optionalParam(params, wanted) {
  return pairsOf(params).find(([name]) => name === wanted)?.[1] ?? '';
}

/** A value of extra, in any letter case of its name. */
function extraValue(extra, wanted) {
  const found = Object.entries(extra).find(([name]) => name.toLowerCase() === wanted.toLowerCase());
  if (found === undefined) throw new Error(`${wanted} is missing in extra`);
  return found[1];
}

function optionalExtraValue(extra, wanted) {
  const found = Object.entries(extra).find(([name]) => name.toLowerCase() === wanted.toLowerCase());
  return found?.[1] ?? '';
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

function ifFilled(value, text, other) {
  return value === '' ? other : text;
}

// The pairs of a query, sorted by name, then by value.
function sortedPairs(query) {
  const pairs = query.split('&').map((pair) => [pair]);
  return sortBy(pairs, (pair) => pair.replace('=', '\0')).join('&');
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

function withoutPrefix(text, prefix) {
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}

function replaceAll(text, table) {
  const pattern = table.map(([from]) => from.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|');
  return text.replace(new RegExp(pattern, 'g'), (found) => new Map(table).get(found));
}

function upper(text) {
  return text.toUpperCase();
}

function lower(text) {
  return text.toLowerCase();
}

function reverse(text) {
  return [...text].reverse().join('');
}

function digits(text) {
  return text.replace(/[^0-9]/g, '');
}

function cut(text, start, end) {
  return text.slice(start, end);
}

function jsonString(text) {
  return JSON.stringify(text);
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

function lengthOf(data) {
  return String(data.length);
}

function toBase64(data) {
  return data.toString('base64');
}

function toBase64url(data) {
  return data.toString('base64url');
}

// What the rule above does not use.
export const helpers = [
  lowerNames,
  upperNames,
  only,
  without,
  reversedPairs,
  dropEmpty,
  joinRepeated,
  withPair,
  inOrder,
  param,
  optionalParam,
  optionalExtraValue,
  queryOf,
  withoutQuery,
  ifFilled,
  sortedPairs,
  host,
  fromSegment,
  withoutPrefix,
  replaceAll,
  reverse,
  digits,
  cut,
  jsonString,
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
  lengthOf,
  toBase64,
  toBase64url,
];
