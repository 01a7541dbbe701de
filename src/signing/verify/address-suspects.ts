import type { SignableRequest } from '../request.js';
import type { Suspect } from './suspect.js';

/** The mistakes that are made with the method and the address, where a recipe takes them. */
export function addressSuspects(request: SignableRequest): Suspect[] {
  return addressesLike(request).map(([changed, words]) => ({
    id: 'address',
    says: `It was signed with ${words}.`,
    advice: 'Sign the method and the address exactly as the service receives them.',
    change: { request: { ...request, ...changed } },
  }));
}

/** The same address, as a proxy or a careless client writes it. */
function addressesLike({ url, method }: SignableRequest): [Partial<SignableRequest>, string][] {
  return [
    [{ url: url.replace(/^http:/, 'https:') }, 'https in the URL, which is http here'],
    [{ url: url.replace(/^https:/, 'http:') }, 'http in the URL, which is https here'],
    [{ url: url.replace(/^(\w+:\/\/[^/:]+):\d+/, '$1') }, 'the host without its port'],
    [
      { url: url.endsWith('/') ? url.replace(/\/+$/, '') : `${url}/` },
      'a slash more or less at the end of the path',
    ],
    [{ method: method.toLowerCase() }, 'the method in lower case'],
    ...['GET', 'POST', 'PUT']
      .filter((other) => other !== method)
      .map((other): [Partial<SignableRequest>, string] => [{ method: other }, `${other} as the method`]),
  ];
}
