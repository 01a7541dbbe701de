import { type Param, queryOf, type SignableRequest } from '../../core/signing/request.js';

/** Characters that encodings, replacements and case changes treat differently. */
export const probeText = 'a B+c&d=e/f~g*h:i\\j"k|é中';

/**
 * Names that name orders sort differently: mixed case, with an underscore, one the prefix of
 * another.
 */
export const probeNames: readonly Param[] = [
  ['Zb', '5'],
  ['aB', '9'],
  ['a_b', '1'],
  ['abc', '0'],
  ['ab', '7'],
];

/**
 * Requests that tell functions apart: two recipes that give the same signatures for all of them
 * count as the same function. Every parameter is empty, absent, repeated and full of special
 * characters in one of them, and every part of the request changes.
 */
export function probesFor(request: SignableRequest): SignableRequest[] {
  const { params } = request;
  const rest = otherRequest(request);
  const special = [
    ...params.map(([name], index): Param => [name, `${9 - (index % 10)}${probeText}`]),
    ...probeNames,
  ];
  const others = [
    { ...request, params: reordered(special) },
    { ...rest, params: special },
    { ...rest, params: emptied(special, 0), body: null },
    { ...request, params: emptied(reordered(special), 1) },
    { ...request, params: everySecond(special, 0) },
    { ...request, params: everySecond(special, 1) },
    { ...rest, params: [...params, ...special.slice(0, params.length)] },
  ];
  return [request, ...others.map(withOwnQuery)];
}

/** The request with a query of its parameters, where they are in it. */
export function withOwnQuery(request: SignableRequest): SignableRequest {
  if (request.query === undefined || request.body !== null) return request;
  return { ...request, query: queryOf(request.params) };
}

/** A request with these parameters and another method, host, path, body and other extra values. */
function otherRequest({
  method,
  url,
  params,
  extra,
  query,
  body,
}: SignableRequest): SignableRequest {
  return {
    method: method === 'GET' ? 'POST' : 'GET',
    url: `${url.replace(/^(\w+:\/\/)/, '$1Other.')}${url.endsWith('/') ? '' : '/'}V9/other path`,
    params,
    body: `{"Body":"${probeText}"}`,
    extra: Object.fromEntries(
      Object.entries(extra).map(([name, value]) => [name, `${value}${probeText}`]),
    ),
    ...((query !== undefined || body !== null || params.length === 0) && {
      query: `${query ?? ''}&zz=1`,
    }),
  };
}

/** Every second parameter, then the others: neither in name nor in value order. */
export function reordered(params: readonly Param[]): Param[] {
  return [...everySecond(params, 1), ...everySecond(params, 0)];
}

/** Every second parameter, beginning with the first or the second. */
function everySecond(params: readonly Param[], from: 0 | 1): Param[] {
  return params.filter((_, index) => index % 2 === from);
}

/** The parameters with every second value empty. */
function emptied(params: readonly Param[], from: 0 | 1): Param[] {
  return params.map(([name, value], index): Param => [name, index % 2 === from ? '' : value]);
}
