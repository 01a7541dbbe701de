import type { Param, SignableRequest } from '../request.js';

/** Holds all that encodings, escapes and foldings treat differently. */
export const tellingText = 'a B+c&d=e/f~g*h:i\\j"k|é中';

/** Names that the orders of names put differently: in mixed case, with an underscore, one the beginning of another. */
export const oddNames: readonly Param[] = [
  ['Zb', '5'],
  ['aB', '9'],
  ['a_b', '1'],
  ['abc', '0'],
  ['ab', '7'],
];

/**
 * Requests that tell functions apart: two recipes that sign all of them alike are taken for the same function. Every
 * parameter is somewhere empty, absent, given twice and full of odd characters, and every part of the request changes.
 */
export function probesFor(request: SignableRequest): SignableRequest[] {
  const { params } = request;
  const rest = otherRequest(request);
  const odd = [
    ...params.map(([name], index): Param => [name, `${9 - (index % 10)}${tellingText}`]),
    ...oddNames,
  ];
  return [
    request,
    { ...request, params: reordered(odd) },
    { ...rest, params: odd },
    { ...rest, params: emptied(odd, 0), body: null },
    { ...request, params: emptied(reordered(odd), 1) },
    { ...request, params: odd.filter((_, index) => index % 2 === 0) },
    { ...request, params: odd.filter((_, index) => index % 2 === 1) },
    { ...rest, params: [...params, ...odd.slice(0, params.length)] },
  ];
}

/** The same parameters in another place: other method, host, path, body and extra values. */
function otherRequest({ method, url, params, extra }: SignableRequest): SignableRequest {
  return {
    method: method === 'GET' ? 'POST' : 'GET',
    url: `${url.replace(/^(\w+:\/\/)/, '$1Other.')}${url.endsWith('/') ? '' : '/'}V9/other path`,
    params,
    body: `{"Body":"${tellingText}"}`,
    extra: Object.fromEntries(Object.entries(extra).map(([name, value]) => [name, `${value}${tellingText}`])),
  };
}

/** Every second from the end, then the others from the beginning: neither by name nor by value. */
export function reordered(params: readonly Param[]): Param[] {
  const odd = params.filter((_, index) => index % 2 === 1).reverse();
  return [...odd, ...params.filter((_, index) => index % 2 === 0)];
}

function emptied(params: readonly Param[], which: 0 | 1): Param[] {
  return params.map(([name, value], index): Param => [name, index % 2 === which ? '' : value]);
}
