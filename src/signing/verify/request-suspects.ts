import type { Param, SignableRequest } from '../request.js';
import type { Mistake, ReceivedSignature, Suspect } from './suspect.js';
import { jsonMistakes, type ValueMistake, valueMistakes } from './value-mistakes.js';

/** Mistakes by which another request was signed than was sent. */
export function requestSuspects({ request, unsent }: ReceivedSignature): Suspect[] {
  return [
    ...valueMistakes.flatMap((mistake) => valueSuspects(request, mistake)),
    ...bodySuspects(request),
    ...leftOutSuspects(request),
    ...unsent.map((param) => suspect(request, { params: [...request.params, param] }, unsentMistake(param))),
    ...addressSuspects(request),
  ];
}

function suspect(request: SignableRequest, changed: Partial<SignableRequest>, mistake: Mistake): Suspect {
  return { ...mistake, change: { request: { ...request, ...changed } } };
}

/** Each value that may be wrong, then all of them. */
function valueSuspects(request: SignableRequest, { change, mistake }: ValueMistake): Suspect[] {
  const changed = request.params.filter(([, value]) => change(value) !== value).map(([name]) => name);
  const choices = [...changed.map((name) => [name]), ...(changed.length > 1 ? [changed] : [])];
  return choices.map((names) =>
    suspect(request, { params: mapValues(request.params, names, change) }, mistake(names.join(', '))),
  );
}

function bodySuspects(request: SignableRequest): Suspect[] {
  const { body } = request;
  if (body === null) return [];
  return jsonMistakes
    .filter(({ change }) => change(body) !== body)
    .map(({ change, mistake }) => suspect(request, { body: change(body) }, mistake('the body')));
}

function leftOutSuspects(request: SignableRequest): Suspect[] {
  const without = (mistake: Mistake, isLeftOut: (param: Param) => boolean): Suspect[] => {
    const kept = request.params.filter((param) => !isLeftOut(param));
    return kept.length === request.params.length ? [] : [suspect(request, { params: kept }, mistake)];
  };
  const form = formNames(request);
  return [
    ...without(emptyMistake, ([, value]) => value === ''),
    ...request.params.flatMap(([left]) => without(leftOutMistake(left), ([name]) => name === left)),
    ...without(formMistake, ([name]) => form.has(name)),
  ];
}

function mapValues(
  params: readonly Param[],
  names: readonly string[],
  change: (value: string) => string,
): Param[] {
  return params.map(([name, value]) => [name, names.includes(name) ? change(value) : value]);
}

const emptyMistake: Mistake = {
  id: 'empty-value',
  says: 'It was signed without the parameters that are empty.',
  advice: 'The recipe keeps empty values: sign them too, or do not send them.',
};

function leftOutMistake(name: string): Mistake {
  return {
    id: 'left-out',
    says: `It was signed without the parameter ${name}.`,
    advice: `Sign it with ${name}; where the operator leaves it out, put it into params.exclude of the recipe.`,
  };
}

/** The names of the form's fields, where the body is a form. */
function formNames({ params, body }: SignableRequest): ReadonlySet<string> {
  const names = new Set(params.map(([name]) => name));
  return new Set([...new URLSearchParams(body ?? '').keys()].filter((name) => names.has(name)));
}

const formMistake: Mistake = {
  id: 'form-left-out',
  says: 'It was signed without the fields of the form.',
  advice: 'Sign the query parameters and the fields of the body together.',
};

function unsentMistake([name, value]: Param): Mistake {
  return {
    id: 'not-sent',
    says: `It was signed with ${name}=${value}, which was not sent.`,
    advice: 'Sign the parameters that are sent, and no others.',
  };
}

/** Mistakes in the method and the address, where the recipe uses them. */
function addressSuspects(request: SignableRequest): Suspect[] {
  return addressesLike(request).map(([changed, words]) => ({
    id: 'address',
    says: `It was signed with ${words}.`,
    advice: 'Sign the method and the address exactly as the service receives them.',
    change: { request: { ...request, ...changed } },
  }));
}

/** The same address as a proxy or a careless client writes it. */
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
