import type { Param, SignableRequest } from '../request.js';
import { oddNames, reordered, tellingText } from './probes.js';
import { roleOf } from './space/parameter-role.js';

/** A change of a request that some recipes notice and others do not. */
export interface Twist {
  /** What to do, as one would ask for it: `leave "remark" empty`. */
  readonly say: string;
  readonly apply: (request: SignableRequest) => SignableRequest;
}

/** The changes that tell recipes apart, the easiest to ask for first. */
export function twistsFor(request: SignableRequest): Twist[] {
  const [first, second = first] = easiestNames(request);
  return [
    ...(first === undefined || second === undefined ? [] : valueTwists(first, second)),
    { say: 'send the parameters in another order, neither by name nor by value', apply: inOtherOrder },
    {
      say: `add parameters named ${oddNames.map(([name]) => name).join(', ')}, if it takes any`,
      apply: (changed) => ({ ...changed, params: [...changed.params, ...oddNames] }),
    },
    { say: 'call another path', apply: (changed) => ({ ...changed, url: otherPath(changed.url) }) },
    {
      say: 'use another method',
      apply: (changed) => ({ ...changed, method: changed.method === 'GET' ? 'POST' : 'GET' }),
    },
    { say: 'send a body', apply: (changed) => ({ ...changed, body: changed.body ?? '{"a":"b c"}' }) },
    {
      say: 'call another host',
      apply: (changed) => ({ ...changed, url: changed.url.replace(/^(\w+:\/\/)/, '$1other.') }),
    },
    ...request.params.map(
      ([name]): Twist => ({
        say: `give ${quote(name)} another value, with capitals and signs in it`,
        apply: (changed) => withValue(changed, name, `Aa ${tellingText}`),
      }),
    ),
  ];
}

/** What can be done with two parameters that the caller chooses the values of. */
function valueTwists(first: string, second: string): Twist[] {
  return [
    { say: `leave ${quote(first)} empty`, apply: (changed) => withValue(changed, first, '') },
    {
      say: `give ${quote(second)} the value ${quote(tellingText)}`,
      apply: (changed) => withValue(changed, second, tellingText),
    },
    {
      say: `leave ${quote(first)} out`,
      apply: (changed) => ({ ...changed, params: changed.params.filter(([name]) => name !== first) }),
    },
    {
      say: `give ${quote(second)} twice, with different values`,
      apply: (changed) => ({ ...changed, params: [...changed.params, [second, 'another']] }),
    },
  ];
}

/** The names of parameters, those first whose values a caller is free to choose; the last ones tend to matter least. */
function easiestNames({ params }: SignableRequest): string[] {
  const names = [...new Set(params.map(([name]) => name))].reverse();
  const isFree = (name: string) => roleOf(name) === 'other';
  return [...names.filter(isFree), ...names.filter((name) => !isFree(name))];
}

function withValue(request: SignableRequest, name: string, value: string): SignableRequest {
  return {
    ...request,
    params: request.params.map((param): Param => (param[0] === name ? [name, value] : param)),
  };
}

function inOtherOrder(request: SignableRequest): SignableRequest {
  return { ...request, params: reordered(request.params) };
}

function otherPath(url: string): string {
  return `${url}${url.endsWith('/') ? '' : '/'}other`;
}

function quote(text: string): string {
  return JSON.stringify(text);
}
